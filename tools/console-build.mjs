// Builds console/ into dist/console if the sources have changed since the last build. With --force, it always builds.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnvironment, findBun, root } from './bun.mjs'
import { fingerprint } from './fingerprint.mjs'
import { ensureInstalled } from './install.mjs'

/** Everything that a build depends on. */
export const sources = [
  'console',
  'contract',
  'vite.config.ts',
  'tools/console-build.mjs',
  'tools/vite-plugins.ts',
  'tools/first-script.ts',
  'tools/first-parts.ts',
  'tools/load-fresh.ts',
  'server/version.ts',
  'package-lock.json',
  'tsconfig.base.json',
  'tsconfig.console.json',
]
const output = 'dist/console'
/**
 * The name of the file with the fingerprint of the sources. It is part of the build, so that both are replaced
 * together.
 */
const mark = 'built-from'

export function consoleIsStale(base = root) {
  if (!existsSync(join(base, 'console/index.html'))) return false
  const built = join(base, output, mark)
  return !existsSync(built) || readFileSync(built, 'utf8') !== fingerprint(base, sources)
}

/** Builds in a separate folder and then replaces the previous build, so that an incomplete build is never used. */
export async function buildConsole(base = root) {
  const target = join(base, output)
  mkdirSync(dirname(target), { recursive: true })
  // The fingerprint is taken before the build. If a source changes during the build, the next call builds again.
  const made = fingerprint(base, sources)
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
  writeFileSync(join(folder, mark), made)
  replaceFolder(folder, target)
}

/** Replaces a folder. If two builds finish at the same time, the later one is kept. */
function replaceFolder(folder, target) {
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
