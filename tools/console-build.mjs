// Builds console/ into dist/console when a source is newer than the last build.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnvironment, findBun, root } from './bun.mjs'

const sources = ['console', 'contract', 'vite.config.ts', 'package-lock.json']
const built = 'dist/console/index.html'

function newest(path) {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

export function consoleIsStale(base = root) {
  if (!existsSync(join(base, 'console/index.html'))) return false
  const output = join(base, built)
  if (!existsSync(output)) return true
  return Math.max(...sources.map((path) => newest(join(base, path)))) > statSync(output).mtimeMs
}

export async function buildConsoleIfStale() {
  if (!consoleIsStale()) return
  console.error('Building the console …')
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const child = spawn(findBun(), ['--bun', vite, 'build'], { cwd: root, env: bunEnvironment, stdio: 'inherit' })
  const code = await new Promise((done) => child.on('exit', done))
  if (code !== 0) throw new Error('The console build failed; its message is above.')
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await buildConsoleIfStale()
