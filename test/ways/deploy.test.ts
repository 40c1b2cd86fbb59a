// The files with which Tollgate is deployed: the Helm chart, the systemd unit, the Compose files and the workflows.
// Each is checked by its own program. If this program is not installed, the test is skipped, and its title says how to
// install the program.
import { afterAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { version } from '../../server/version.ts'

const root = resolve(import.meta.dir, '../..')
const base = mkdtempSync(join(tmpdir(), 'tollgate-deploy-'))
const minutes = 60_000

afterAll(() => rmSync(base, { recursive: true, force: true }))

/** A test that needs a program on this machine. If the program is missing, the title says how to install it. */
function testWith(program: string, source: string, name: string, body: () => void | Promise<void>): void {
  const isMissing = !Bun.which(program)
  test.skipIf(isMissing)(`${name}${isMissing ? ` (skipped: no ${program}; ${source})` : ''}`, body, 5 * minutes)
}

function run(program: string, args: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { status, stdout, stderr }
}

interface Resource {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: Record<string, unknown>
}

const chart = join(root, 'packaging/helm/tollgate')

function template(values: readonly string[]): { resources: Resource[]; error: string } {
  const set = values.flatMap((value) => ['--set', value])
  const { stdout, stderr } = run('helm', ['template', 'gate', chart, '--kube-version', '1.31.0', ...set])
  return { resources: parseAllDocuments(stdout).map((each) => each.toJS() as Resource), error: stderr }
}

const postgres = ['database.existingSecret=database', 'secretKey.existingSecret=key']

/** Checks resources against the published schemas of Kubernetes, which are installed for this test alone. */
async function validate(resources: readonly Resource[]): Promise<void> {
  const packages = ['kubernetes-models@5.1.0', '@kubernetes-models/prometheus-operator@6.0.0']
  const installed = run('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--prefix',
    base,
    ...packages,
  ])
  expect(installed.stderr).not.toContain('npm error')
  for (const resource of resources) {
    const name = resource.kind === 'ServiceMonitor' ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'
    const path = `${resource.apiVersion}/${resource.kind}`
    const file = join(base, 'node_modules', name, `${path}.js`)
    const models = (await import(file)) as Record<string, new (data: object) => { validate(): void }>
    const Model = models[resource.kind]
    if (!Model) throw new Error(`There is no schema for ${path}`)
    expect(() => new Model(resource).validate()).not.toThrow()
  }
}

describe('the Helm chart', () => {
  const source = 'go install helm.sh/helm/v3/cmd/helm@v3.17.3'

  test('has the version of the program', () => {
    const facts = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as { version: string; appVersion: string }
    expect(facts).toMatchObject({ version, appVersion: version })
  })

  testWith('helm', source, 'passes the linter', () => {
    expect(run('helm', ['lint', '--strict', chart])).toMatchObject({ status: 0 })
  })

  testWith('helm', source, 'renders one pod with SQLite on a volume', async () => {
    const { resources } = template([])
    expect(resources.map(({ kind }) => kind).sort()).toEqual([
      'Deployment',
      'PersistentVolumeClaim',
      'Service',
      'ServiceAccount',
    ])
    const deployment = resources.find(({ kind }) => kind === 'Deployment')
    expect(deployment?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
    await validate(resources)
  })

  testWith('helm', source, 'renders several pods with PostgreSQL, and everything that belongs to them', async () => {
    const { resources } = template([
      ...postgres,
      'autoscaling.enabled=true',
      'metrics.existingSecret=metrics',
      'metrics.serviceMonitor.enabled=true',
      'ingress.enabled=true',
      'ingress.hosts={gateway.example.com}',
    ])
    expect(resources.map(({ kind }) => kind).sort()).toEqual([
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
      'ServiceMonitor',
    ])
    const deployment = resources.find(({ kind }) => kind === 'Deployment')
    expect(deployment?.spec).toMatchObject({
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } },
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true },
          containers: [
            {
              image: `ghcr.io/tollgate/tollgate:${version}`,
              securityContext: {
                readOnlyRootFilesystem: true,
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    })
    await validate(resources)
  })

  testWith('helm', source, 'refuses what would fail later', () => {
    expect(template(['replicaCount=2']).error).toContain('Several pods need PostgreSQL: set database.existingSecret')
    expect(template(['database.existingSecret=database']).error).toContain('set secretKey.existingSecret')
    expect(template(['metrics.serviceMonitor.enabled=true']).error).toContain('needs metrics.existingSecret')
    expect(template(['replicaCount=many']).error).toContain('replicaCount')
    expect(template(['database.secretName=typo']).error).toContain('secretName')
  })
})

describe('the systemd unit', () => {
  testWith('systemd-analyze', 'apt-get install systemd', 'is accepted by systemd, and is well confined', () => {
    // systemd-analyze checks that the unit's program exists. So the test uses a copy of the unit with a program that
    // exists on every machine.
    const unit = readFileSync(join(root, 'packaging/systemd/tollgate.service'), 'utf8')
    const file = join(base, 'tollgate.service')
    writeFileSync(file, unit.replace('ExecStart=/usr/local/bin/tollgate', 'ExecStart=/bin/true'))
    expect(run('systemd-analyze', ['verify', file])).toEqual({ status: 0, stdout: '', stderr: '' })
    // A higher score is worse. systemd itself describes scores below 5 as "OK".
    const safety = run('systemd-analyze', ['security', '--offline=true', '--threshold=25', file])
    expect({ status: safety.status, stderr: safety.stderr }).toEqual({ status: 0, stderr: '' })
  })
})

describe('the Compose files', () => {
  const needs = 'apt-get install podman-compose'
  const folder = join(base, 'compose')
  mkdirSync(folder)
  for (const name of ['compose.yaml', 'compose.postgres.yaml', 'Dockerfile'])
    copyFileSync(join(root, name), join(folder, name))
  const create = (args: readonly string[], env: Record<string, string> = {}) => {
    const result = spawnSync('podman-compose', ['--dry-run', ...args, 'up'], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: base, ...env },
    })
    const said = `${result.stdout}${result.stderr}`
    return { said, created: said.split('\n').filter((line) => line.startsWith('podman create')) }
  }

  testWith('podman-compose', needs, 'run one service with its data in a volume', () => {
    const { created } = create([])
    expect(created).toHaveLength(1)
    expect(created[0]).toContain('-v compose_data:/data')
    expect(created[0]).toContain('--read-only')
    expect(created[0]).toMatch(/-e SECRET_KEY -e /)
  })

  testWith('podman-compose', needs, 'run PostgreSQL beside it with the second file, which demands a password', () => {
    const both = ['-f', 'compose.yaml', '-f', 'compose.postgres.yaml']
    const { created } = create(both, { POSTGRES_PASSWORD: 'secret7' })
    expect(created).toHaveLength(2)
    expect(created.join('\n')).toContain('DATABASE_URL=postgres://tollgate:secret7@postgres:5432/tollgate')
    expect(create(both).said).toContain('set it to a password of your choice')
  })
})

describe('the workflows', () => {
  const folder = join(root, '.github/workflows')

  testWith('actionlint', 'go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7', 'pass the linter', () => {
    expect(run('actionlint', ['-shellcheck=', '-pyflakes='])).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  test('run only scripts and files of the repository that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
    const text = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n')
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(0)
    for (const name of named) expect(Object.keys(scripts)).toContain(name ?? '')
    for (const [, path = ''] of text.matchAll(/ ((?:tools|packaging)\/[\w./-]+)/g))
      expect(run('test', ['-e', path]).status).toBe(0)
  })

  test('take the notes of a release from the changelog', () => {
    const notes = run('node', ['tools/changes-of.mjs', version])
    expect(notes.status).toBe(0)
    expect(notes.stdout).toStartWith('### ')
    expect(run('node', ['tools/changes-of.mjs', '99.0.0'])).toMatchObject({
      status: 1,
      stderr: 'CHANGELOG.md says nothing about version 99.0.0.\n',
    })
  })
})
