// Checks that the rules for imports, types, format, lint, dead code and conventions work. For each rule, a test adds
// code that breaks it to a copy of the repository, and expects an error.
import { afterAll, describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import cruiserConfig from '../.dependency-cruiser.mjs'
import { findBun } from '../tools/bun.mjs'
import { cruise } from '../tools/imports.mjs'
import * as repo from '../tools/repo-rules.ts'
import { allowed, forbidden } from './planting/imports.ts'
import { exceptions, faults } from './planting/lint.ts'
import { root, Tree } from './planting/tree.ts'
import { typeClean, typeFaults } from './planting/types.ts'

const unused: Disposable[] = []
afterAll(() => {
  for (const tree of unused) tree[Symbol.dispose]()
})

function plant(...args: ConstructorParameters<typeof Tree>): Tree {
  const tree = new Tree(...args)
  unused.push(tree)
  return tree
}

const tool = (path: string) => resolve(root, 'node_modules', path)

describe('imports', () => {
  const isPackage = (target: string) => !target.startsWith('.') && !/^(?:node|bun)(?::|$)/.test(target)
  const packages = [...Object.values(allowed).flat(), ...forbidden.map(([, target]) => target)]
    .filter(isPackage)
    .map((target) =>
      target
        .split('/')
        .slice(0, target.startsWith('@') ? 2 : 1)
        .join('/'),
    )
    .filter((name) => name !== '' && name !== 'dev-only')
  const manifest = { dependencies: [...new Set(packages)], devDependencies: ['dev-only'] }

  const source = (targets: readonly string[]) =>
    [...targets.filter(Boolean).map((target) => `import '${target}'`), 'export const here = 1', ''].join('\n')

  const filesOf = (imports: Readonly<Record<string, readonly string[]>>) =>
    Object.fromEntries(Object.entries(imports).map(([file, targets]) => [file, source(targets)]))

  test('allowed imports pass all rules', async () => {
    const result = await cruise(plant(filesOf(allowed), manifest).base)
    expect(result.violations).toEqual([])
    expect(result.unseen).toEqual([])
    expect(result.cruised).toBeGreaterThan(Object.keys(allowed).length)
  })

  test('each forbidden import is rejected by the rule that forbids it', async () => {
    const imports: Record<string, readonly string[]> = { ...allowed }
    for (const [file, target] of forbidden) imports[file] = [...(imports[file] ?? []), target]
    const { violations } = await cruise(plant(filesOf(imports), manifest).base)
    const refused = new Set(violations.map(({ from, rule }) => `${from}: ${rule}`))
    const plans = forbidden.filter(([, , rule]) => rule !== '').map(([file, , rule]) => `${file}: ${rule}`)
    expect(plans.filter((plan) => !refused.has(plan))).toEqual([])
    expect(violations.filter(({ comment }) => comment === '')).toEqual([])
  })

  test('every rule has a forbidden import that tests it', () => {
    const planted = new Set(forbidden.map(([, , rule]) => rule))
    const rules = cruiserConfig.forbidden.map((rule: { name: string }) => rule.name)
    expect(rules.filter((name: string) => !planted.has(name))).toEqual([])
    expect(repo.repeated(rules)).toEqual([])
  })

  test('a run that reads no TypeScript files is detected', async () => {
    const tree = plant({ 'server/a.ts': source([]), 'server/b.ts': source(['./a.ts']) })
    tree.write('.dependency-cruiser.mjs', "export default { forbidden: [], options: { exclude: '[.]ts$' } }\n")
    expect((await cruise(tree.base)).unseen.sort()).toEqual(['server/a.ts', 'server/b.ts'])
  })
})

describe('types', () => {
  test('each TypeScript project rejects code that its platform does not support, and accepts all other code', async () => {
    const planted = Object.fromEntries(typeFaults.map(([, file, text]) => [file, text]))
    const tree = plant({ ...typeClean, ...planted })
    const projects = [...new Set(typeFaults.map(([project]) => project))]
    const compiler = tool('@typescript/native-preview/bin/tsgo')
    const compile = async (project: string) => {
      const args = [compiler, '-p', `tsconfig.${project}.json`, '--noEmit', '--pretty', 'false']
      const output = await tree.run(findBun(), args)
      return [...output.matchAll(/^([^\s(]+)\(\d+,\d+\): error (TS\d+)/gm)].map(
        ([, file, code]) => `${project} ${file} ${code}`,
      )
    }
    const refused = [...new Set((await Promise.all(projects.map(compile))).flat())]
    const expected = typeFaults.map(([project, file, , code]) => `${project} ${file} ${code}`)
    const others = new Set(
      projects.flatMap((project) =>
        typeFaults.filter(([of]) => of !== project).map(([, file]) => `${project} ${file}`),
      ),
    )
    // A project that includes contract/ also checks the planted files there, and can accept them.
    const own = refused.filter((line) => !others.has(line.split(' ').slice(0, 2).join(' ')))
    expect(own.sort()).toEqual(expected.sort())
  })
})

describe('format and lint', () => {
  interface Diagnostic {
    readonly category: string
    readonly severity: string
    readonly location: { readonly path: string | { readonly file: string } }
  }

  test('code that breaks a rule is reported, and code for which there is an exception passes', async () => {
    const planted = Object.fromEntries(faults.map(([file, text]) => [file, text]))
    const tree = plant({ ...exceptions, ...planted })
    const args = [tool('@biomejs/biome/bin/biome'), 'check', '--reporter=json', '--max-diagnostics=none', '.']
    const { diagnostics } = JSON.parse(await tree.run(findBun(), args)) as { diagnostics: readonly Diagnostic[] }
    const where = ({ location: { path } }: Diagnostic) => (typeof path === 'string' ? path : path.file)
    const named = new Set(
      diagnostics.filter(({ severity }) => severity === 'error').map((found) => `${where(found)}: ${found.category}`),
    )
    expect(faults.map(([file, , rule]) => `${file}: ${rule}`).filter((plan) => !named.has(plan))).toEqual([])
    expect([...named].filter((line) => line.slice(0, line.indexOf(':')) in exceptions)).toEqual([])
  })
})

describe('dead code', () => {
  test('an unused file, export or dependency is reported, and so is an undeclared dependency', async () => {
    const tree = plant(
      {
        'server/main.ts': "import { alive } from './lib/alive.ts'\nimport 'used'\nimport 'undeclared'\n\nalive()\n",
        'server/lib/alive.ts':
          'export const alive = (): number => 1\nexport const deadExport = 1\nexport type DeadType = 1\n',
        'server/lib/dead-file.ts': 'export const a = 1\n',
        'server/lib/alive.test.ts': "import './alive.ts'\n",
      },
      { dependencies: ['used', 'unused'] },
    )
    const args = ['--bun', tool('knip/bin/knip.js'), '--no-progress', '--no-config-hints', '--reporter', 'compact']
    const output = (await tree.run(findBun(), args)).split('\n')
    const says = (...words: string[]) => output.some((line) => words.every((word) => line.includes(word)))
    expect(says('dead-file.ts')).toBe(true)
    expect(says('alive.ts', 'deadExport')).toBe(true)
    expect(says('alive.ts', 'DeadType')).toBe(true)
    expect(says('package.json', 'unused')).toBe(true)
    expect(says('main.ts', 'undeclared')).toBe(true)
    expect(says('alive.test.ts')).toBe(false)
  })
})

describe('the checks of the repository’s conventions', () => {
  const long = 'x\n'.repeat(401)
  // These strings are assembled here so that this file does not break the rules itself.
  const machine = ['', 'work', 'place'].join('/')
  const registry = ['https://registry', 'npmjs', 'org'].join('.')
  const tree = plant({
    'server/long.ts': long,
    'server/long.test.ts': long,
    'server/store/migrations/0001-long.ts': long,
    'server/at-limit.ts': 'x\n'.repeat(400),
    'docs/page.md': `a\nsee ${machine}/notes\n`,
    'docs/fine.md': `${machine.slice(1)} https://example.com${machine}\n`,
    'package-lock.json': `{ "resolved": "${registry}/a.tgz" }\n`,
    'server/lib/way-around.ts': 'export const a = globalThis.Bun\n',
    'server/store/connection/process-settings.ts': 'export const a = globalThis.Bun\n',
    'docs/decisions/0001-first.md': '# First\n\n2026-01-02\n',
    'docs/decisions/0003-gap.md': '# Gap\n\n2026-01-02\n',
    'docs/decisions/0004-undated.md': '# Undated\n',
    'docs/decisions/Notes.md': '2026-01-02\n',
  })

  test('report a file that is too long', () => {
    expect(repo.longFiles(tree.base)).toEqual(['server/long.ts: 401 lines'])
  })

  test('report a path that exists only on one machine', () => {
    expect(repo.machinePaths(tree.base)).toEqual([`docs/page.md:2: ${machine}`])
  })

  test('report the host of a package registry', () => {
    expect(repo.registryHosts(tree.base).map((line) => line.split(': ')[0])).toEqual(['package-lock.json:1'])
  })

  test('report code that bypasses the runtime module', () => {
    expect(repo.hiddenBun(tree.base)).toEqual(['server/lib/way-around.ts:1: globalThis.Bun'])
  })

  test('report a decision without a number or a date', () => {
    expect(repo.decisionFaults(tree.base)).toEqual([
      '0003-gap.md: 0002 was expected',
      '0004-undated.md: 0003 was expected',
      '0004-undated.md: no date (2001-02-03) in its first lines',
      'Notes.md: not named like 0001-one-package.md',
    ])
  })

  test('report an error code that is undocumented, documented but removed, or duplicated', () => {
    const page = '| Code | Status |\n|---|---|\n| `kept` | 400 |\n| `gone` | 400 |\n| `kept` | 401 |\n'
    expect(repo.differences(['kept', 'new'], repo.documentedCodes(page))).toEqual([
      'new: not documented',
      'gone: documented, but not in the code',
      'kept: documented twice',
    ])
  })

  test('report a type number that is used twice', () => {
    expect(repo.repeated([1, 3, 1, 1, 2])).toEqual([1])
  })
})
