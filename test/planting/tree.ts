import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { bunEnvironment } from '../../tools/bun.mjs'

export const root = resolve(import.meta.dir, '../..')

const configs = [
  'tsconfig.base.json',
  'tsconfig.contract.json',
  'tsconfig.server.json',
  'tsconfig.console.json',
  'tsconfig.e2e.json',
  'biome.json',
  'knip.json',
  'bunfig.toml',
  '.gitignore',
  '.dependency-cruiser.mjs',
  'tools/import-rules.mjs',
  'tools/rooms.mjs',
]

/**
 * The typings that the TypeScript projects use. All other packages in node_modules are stubs, so that a test file can
 * import packages that are not installed.
 */
const linked = ['@types/node', '@types/bun', 'bun-types', 'undici-types']

interface TreeOptions {
  readonly dependencies?: readonly string[]
  readonly devDependencies?: readonly string[]
}

const versions = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']))

export class Tree implements Disposable {
  readonly base: string

  /** A small repository with the real configuration, in a folder outside the working tree. */
  constructor(files: Readonly<Record<string, string>>, { dependencies = [], devDependencies = [] }: TreeOptions = {}) {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), 'tollgate-planting-')))
    mkdirSync(join(this.base, 'tools'))
    for (const name of configs) cpSync(join(root, name), join(this.base, name))
    const manifest = {
      name: 'planted',
      type: 'module',
      dependencies: versions(dependencies),
      devDependencies: versions(devDependencies),
    }
    this.write('package.json', JSON.stringify(manifest))
    for (const name of linked) {
      mkdirSync(dirname(join(this.base, 'node_modules', name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(this.base, 'node_modules', name))
    }
    for (const name of [...dependencies, ...devDependencies]) this.#stub(name)
    for (const [path, text] of Object.entries(files)) this.write(path, text)
  }

  #stub(name: string): void {
    const folder = `node_modules/${name}`
    const exports = { '.': './index.js', './mini': './mini/index.js', './*': './index.js' }
    this.write(`${folder}/package.json`, JSON.stringify({ name, version: '1.0.0', type: 'module', exports }))
    this.write(`${folder}/index.js`, 'export const stub = 1\n')
    if (name === 'zod') this.write(`${folder}/mini/index.js`, 'export const stub = 1\n')
  }

  write(path: string, text: string): void {
    const file = join(this.base, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  async run(program: string, args: readonly string[]): Promise<string> {
    const child = spawn(program, args, { cwd: this.base, env: bunEnvironment, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: string[] = []
    child.stdout.on('data', (chunk) => chunks.push(String(chunk)))
    child.stderr.resume()
    await new Promise((done) => child.on('close', done))
    return chunks.join('')
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true })
  }
}
