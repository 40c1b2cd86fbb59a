// Builds the container image and starts its file system as a container runtime does: as the image's user, with
// everything read-only except the data. This needs podman and root and takes minutes, so it runs only with CI=true.
import { afterAll, expect, test } from 'bun:test'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { GatewayProcess } from '../helpers/gateway-process.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from '../money/installed.ts'

const root = resolve(import.meta.dir, '../..')
const base = mkdtempSync(join(tmpdir(), 'tollgate-image-'))
const minutes = 60_000
const tag = `localhost/tollgate-test:${process.pid}`

const missing = [
  ...['podman', 'unshare'].filter((program) => !Bun.which(program)).map((program) => `no ${program}`),
  ...(process.getuid?.() === 0 ? [] : ['no root']),
  ...(process.env['CI'] === 'true' ? [] : ['no CI=true']),
]
const why = missing.length > 0 ? ` (skipped: ${missing.join(', ')})` : ''

function podman(...args: string[]): string {
  const result = spawnSync('podman', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (result.status !== 0) throw new Error(`podman ${args.join(' ')}: ${result.stderr}`)
  return result.stdout.trim()
}

const has = (image: string) => spawnSync('podman', ['image', 'exists', image]).status === 0
const pulls = (image: string) => spawnSync('podman', ['pull', '--quiet', image], { timeout: minutes }).status === 0

/** If an image cannot be pulled, makes one of the same name from Debian's packages. */
function provideDebian(image: string): void {
  if (has(image) || pulls(image)) return
  const archive = join(base, 'debian.tar')
  const made = spawnSync('mmdebstrap', ['--variant=minbase', 'bookworm', archive], { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`mmdebstrap: ${made.stderr ?? 'is not installed'}`)
  podman('import', archive, image)
}

/**
 * If Node's image cannot be pulled, makes one of the same name with the Node and the certificates of this machine.
 */
function provideNode(image: string, debian: string): void {
  if (has(image) || pulls(image)) return
  provideDebian(debian)
  const folder = join(base, 'node')
  mkdirSync(folder)
  const node = realpathSync(Bun.which('node') ?? '')
  cpSync(node, join(folder, 'node'))
  const modules = spawnSync('npm', ['root', '--global'], { encoding: 'utf8' }).stdout.trim()
  cpSync(join(modules, 'npm'), join(folder, 'npm'), { recursive: true })
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  writeFileSync(join(folder, 'extra.pem'), certificates && existsSync(certificates) ? readFileSync(certificates) : '')
  const lines = [
    `FROM ${debian}`,
    'COPY extra.pem /etc/extra.pem',
    'ENV NODE_EXTRA_CA_CERTS=/etc/extra.pem',
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
  ]
  writeFileSync(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`)
  podman('build', '--isolation=chroot', '--pull=never', '--tag', image, folder)
}

/** Copies the files of the working tree that are, or would be, in the repository. */
function sources(): string {
  const folder = join(base, 'context')
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const name of listed.stdout.split('\0').filter((each) => each !== '' && existsSync(join(root, each)))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    cpSync(join(root, name), join(folder, name))
  }
  return folder
}

interface ImageConfig {
  Env: string[]
  Cmd: string[]
  User: string
  Volumes: Record<string, object>
}

/**
 * Starts a command in the file system of the image: mounted read-only, with a folder at /data and memory at /tmp, as the
 * image's user, with nothing but the image's environment and `env`.
 */
function startIn(image: string, data: string, config: ImageConfig, env: string[], command: string[]): ChildProcess {
  const script = [
    'set -e',
    'mount --bind "$1" "$1"',
    'mount -o remount,ro,bind "$1"',
    'mount --bind "$2" "$1/data"',
    'mount -t tmpfs tmpfs "$1/tmp"',
    'mount -t proc proc "$1/proc"',
    'mount --bind /dev "$1/dev"',
    'image="$1"; user="$3"; shift 3; cd /',
    'exec chroot --userspec="$user:$user" "$image" /usr/bin/env -i "$@"',
  ].join('\n')
  const args = ['--mount', 'sh', '-c', script, 'sh', image, data, config.User, ...config.Env, ...env, ...command]
  return spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] })
}

const mounted: string[] = []

afterAll(() => {
  for (const image of mounted) {
    spawnSync('podman', ['image', 'unmount', image])
    spawnSync('podman', ['image', 'rm', '--force', image])
  }
  rmSync(base, { recursive: true, force: true })
})

test.skipIf(missing.length > 0)(
  `the image is built, and serves as its own user on a read-only file system${why}`,
  async () => {
    provideNode('docker.io/library/node:24-slim', 'docker.io/library/debian:bookworm-slim')
    provideDebian('docker.io/library/debian:bookworm-slim')
    podman('build', '--isolation=chroot', '--pull=never', '--format=docker', '--tag', tag, sources())
    mounted.push(tag)
    const [inspected] = JSON.parse(podman('image', 'inspect', tag)) as [{ Config: ImageConfig; Size: number }]
    const config = inspected.Config
    expect(config).toMatchObject({ User: 'tollgate', Cmd: ['tollgate'], Volumes: { '/data': {} } })
    expect(inspected.Size).toBeLessThan(400_000_000)

    const image = podman('image', 'mount', tag)
    const data = join(base, 'data')
    mkdirSync(data)
    const [, uid = ''] = /^tollgate:x:(\d+):/m.exec(readFileSync(join(image, 'etc/passwd'), 'utf8')) ?? []
    await chown(data, Number(uid), Number(uid))
    expect(Number(uid)).toBe(1000)

    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    const env = ['PORT=0', 'INITIAL_ROOT_ACCESS_TOKEN=gatewayprocessaccesstoken']
    const child = startIn(image, data, config, env, config.Cmd)
    const url = await new Promise<string>((resolve, reject) => {
      let said = ''
      for (const stream of [child.stdout, child.stderr]) {
        if (!stream) continue
        createInterface({ input: stream }).on('line', (line) => {
          said += `${line}\n`
          const [, found] = /Tollgate listens on (http:\S+:\d+)/.exec(line) ?? []
          if (found !== undefined) resolve(found)
        })
      }
      child.once('exit', () => reject(new Error(`the server ended: ${said}`)))
    })
    const gateway = new GatewayProcess(child, url.replace('localhost', '127.0.0.1'), () => '')
    try {
      expect(existsSync(join(data, 'secret.key'))).toBe(true)
      const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'))

      await installFor(gateway, upstream.url)
      const token = await newToken(gateway, 1000)
      const response = await gateway.post('/v1/chat/completions', { model, messages }, token.key)
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: answer } }] })
      expect(await gateway.api('GET', `/api/token/${token.id}`)).toMatchObject({ remain_quota: 1000 - pricePerCall })
      const page = await fetch(gateway.url, { headers: { accept: 'text/html' } })
      expect(await page.text()).toContain('/assets/')

      const port = new URL(gateway.url).port
      const check = startIn(image, data, config, [`PORT=${port}`], ['tollgate', 'healthcheck'])
      expect(await new Promise((done) => check.once('exit', done))).toBe(0)
      expect(await gateway.stop()).toBe(0)
    } finally {
      await gateway.kill()
    }
  },
  20 * minutes,
)
