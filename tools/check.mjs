// Runs all checks that do not need a running product: types, format and lint, imports, and dead code.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bunEnvironment, findBun, root } from './bun.mjs'
import { ensureInstalled } from './install.mjs'

ensureInstalled()

const packages = join(root, 'node_modules')

/**
 * Whether the native compiler is available, which is ten times as fast. On other platforms, the JavaScript compiler
 * gives the same results.
 */
const native = existsSync(join(packages, `@typescript/native-preview-${process.platform}-${process.arch}`))
const compiler = join(packages, native ? '@typescript/native-preview/bin/tsgo' : 'typescript/bin/tsc')

const types = (name, folder) => ({
  name: `types: ${name}`,
  command: [process.execPath, compiler, '-p', `tsconfig.${name}.json`, '--noEmit', '--pretty', 'false'],
  skip: !existsSync(join(root, folder)),
})

const tools = [
  types('contract', 'contract'),
  types('server', 'server'),
  types('console', 'console'),
  types('e2e', 'test/e2e'),
  {
    name: 'format and lint (biome)',
    command: [process.execPath, join(packages, '@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.'],
  },
  { name: 'words (docs/words.md)', command: [findBun(), join(root, 'tools/words.ts')] },
  { name: 'imports (dependency-cruiser)', command: [process.execPath, join(root, 'tools/imports.mjs')] },
  {
    name: 'dead code (knip)',
    command: [findBun(), '--bun', join(packages, 'knip/bin/knip.js'), '--no-progress', '--no-config-hints'],
  },
]

function run({ name, command, skip }) {
  if (skip) return Promise.resolve(true)
  const started = performance.now()
  return new Promise((done) => {
    const [program, ...args] = command
    const child = spawn(program, args, { cwd: root, env: bunEnvironment, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (chunk) => {
      output += chunk
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', keep)
    child.on('close', (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} ${seconds} s`)
      if (code !== 0) console.log(output.trimEnd().replace(/^/gm, '     '))
      done(code === 0)
    })
  })
}

const results = await Promise.all(tools.map(run))
process.exit(results.every(Boolean) ? 0 : 1)
