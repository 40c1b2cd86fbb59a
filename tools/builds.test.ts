// Tests, with sources of a few lines, that a build is repeated if and only if its sources have changed.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { bunSync } from './bun.mjs'
import { buildConsole, consoleIsStale } from './console-build.mjs'
import { serverProgram } from './server-build.mjs'

const root = resolve(import.meta.dir, '..')
let base: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'tollgate-builds-'))
  symlinkSync(join(root, 'node_modules'), join(base, 'node_modules'))
  cpSync(join(root, 'package.json'), join(base, 'package.json'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

/** Writes a file with an old modification time, as when an archive is extracted. */
function unpack(path: string, text: string, time = new Date('2020-01-01')): void {
  const file = join(base, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  utimesSync(file, time, time)
}

interface Build {
  /** A source that the build processes. */
  source: string
  textOf(version: string): string
  /** Builds if necessary. Returns the built version, and whether this call built it. */
  bringUp(): Promise<{ version: string; isNew: boolean }>
}

const server: Build = {
  source: 'server/main.ts',
  textOf: (version) => `console.log('${version}')`,
  async bringUp() {
    const program = join(base, 'dist/main.js')
    const before = statSync(program, { throwIfNoEntry: false })?.ino
    const { stdout } = bunSync([serverProgram(base)])
    return { version: stdout.trim(), isNew: statSync(program).ino !== before }
  },
}

const page: Build = {
  source: 'console/index.html',
  textOf: (version) => `<title>${version}</title>`,
  async bringUp() {
    const isNew = consoleIsStale(base)
    if (isNew) await buildConsole(base)
    const built = readFileSync(join(base, 'dist/console/index.html'), 'utf8')
    return { version: /<title>(.*)<\/title>/.exec(built)?.[1] ?? '', isNew }
  },
}

describe.each([
  ['the server', server],
  ['the console', page],
])('%s', (_name, { source, textOf, bringUp }) => {
  beforeEach(() => {
    const config = { root: join(base, 'console'), build: { emptyOutDir: true } }
    unpack(
      'vite.config.ts',
      `const config = ${JSON.stringify(config)}
config.build.outDir = process.env['CONSOLE_OUT']
export default config`,
    )
    unpack('contract/roles.ts', 'export const roles = 1')
    unpack(source, textOf('one'))
  })

  test('is built again even if its sources are older than the last build', async () => {
    expect(await bringUp()).toEqual({ version: 'one', isNew: true })
    unpack(source, textOf('two'))
    expect(await bringUp()).toEqual({ version: 'two', isNew: true })
    unpack(source, textOf('one'))
    expect(await bringUp()).toEqual({ version: 'one', isNew: true })
  })

  test('is rebuilt when a source was deleted, or when packages have changed', async () => {
    await bringUp()
    rmSync(join(base, 'contract/roles.ts'))
    expect(await bringUp()).toMatchObject({ isNew: true })
    unpack('package-lock.json', '{}')
    expect(await bringUp()).toMatchObject({ isNew: true })
  })

  test('is not rebuilt from the same sources, regardless of their modification times', async () => {
    await bringUp()
    expect(await bringUp()).toEqual({ version: 'one', isNew: false })
    unpack(source, textOf('one'), new Date(Date.now() + 60_000))
    expect(await bringUp()).toEqual({ version: 'one', isNew: false })
  })

  test('is rebuilt when the last build was deleted', async () => {
    await bringUp()
    rmSync(join(base, 'dist'), { recursive: true })
    expect(await bringUp()).toEqual({ version: 'one', isNew: true })
  })
})

test('a console that does not exist is not built', () => {
  expect(consoleIsStale(base)).toBe(false)
})
