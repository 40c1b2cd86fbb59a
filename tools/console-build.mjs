// Builds console/ into dist/console when a source is newer than the last build; with --force in any case.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnvironment, findBun, root } from './bun.mjs'
import { ensureInstalled } from './install.mjs'
import { newest } from './newest.mjs'

const sources = [
  'console',
  'contract',
  'vite.config.ts',
  'tools/vite-plugins.ts',
  'tools/first-script.ts',
  'tools/first-parts.ts',
  'tools/load-fresh.ts',
  'server/version.ts',
  'package-lock.json',
]
const built = 'dist/console/index.html'

export function consoleIsStale(base = root) {
  if (!existsSync(join(base, 'console/index.html'))) return false
  const output = join(base, built)
  if (!existsSync(output)) return true
  return Math.max(...sources.map((path) => newest(join(base, path)))) > statSync(output).mtimeMs
}

/** Builds beside the last build and then takes its place, so that nobody sees half of one. */
export async function buildConsole(base = root) {
  const target = join(base, 'dist/console')
  mkdirSync(dirname(target), { recursive: true })
  const startedAt = new Date()
  const folder = mkdtempSync(join(dirname(target), '.console-'))
  const vite = join(base, 'node_modules/vite/bin/vite.js')
  const child = spawn(findBun(base), ['--bun', vite, 'build', '--logLevel', 'warn'], {
    cwd: base,
    env: { ...bunEnvironment, CONSOLE_OUT: folder, NODE_ENV: 'production' },
    stdio: 'inherit',
  })
  const code = await new Promise((done) => child.on('exit', done))
  if (code !== 0) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error('The console build failed; its message is above.')
  }
  // What was changed while it was built counts as newer.
  utimesSync(join(folder, 'index.html'), startedAt, startedAt)
  takePlace(folder, target)
}

/** Two builds may end at the same moment; the later one stays. */
function takePlace(folder, target) {
  for (let tries = 1; ; tries++) {
    const before = `${folder}-before-${tries}`
    try {
      if (existsSync(target)) renameSync(target, before)
      renameSync(folder, target)
      return
    } catch (error) {
      if (tries === 5) throw error
    } finally {
      rmSync(before, { recursive: true, force: true })
    }
  }
}

export async function buildConsoleIfStale() {
  if (!consoleIsStale()) return
  console.error('Building the console …')
  await buildConsole()
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--force')) {
    ensureInstalled()
    await buildConsole()
  } else await buildConsoleIfStale()
}
