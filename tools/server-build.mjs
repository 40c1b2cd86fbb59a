// Puts server/ and its packages into two files under dist/ when a source is newer than the last build: the process that
// runs them takes 15 MB less than one that loads a thousand modules (docs/decisions/0032).
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnvironment, findBun, root } from './bun.mjs'
import { newest } from './newest.mjs'

const sources = ['server', 'contract', 'package.json', 'package-lock.json', 'tsconfig.base.json']
const entries = ['server/main.ts', 'server/relay/tokenizer-worker.ts']

function isStale(base) {
  const built = newest(join(base, 'dist/main.js'))
  return sources.some((path) => newest(join(base, path)) > built)
}

/** Builds beside the last build; each file then takes its place at once. */
function build(base) {
  mkdirSync(join(base, 'dist'), { recursive: true })
  const startedAt = new Date()
  const folder = mkdtempSync(join(base, 'dist/.server-'))
  try {
    const present = entries.filter((file) => existsSync(join(base, file)))
    const names = ['--root', 'server', '--entry-naming', '[name].[ext]', '--outdir', folder]
    // Names and lines stay as they are, for the sake of stack traces; a source map would take 8 MB of memory.
    const result = spawnSync(findBun(base), ['build', ...present, '--target=bun', ...names], {
      cwd: base,
      env: bunEnvironment,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (result.status !== 0) throw new Error('The server build failed; its message is above.')
    // What was changed while it was built counts as newer.
    utimesSync(join(folder, 'main.js'), startedAt, startedAt)
    // The program comes last: what it loads is there before it.
    const files = readdirSync(folder).toSorted((a, b) => Number(a === 'main.js') - Number(b === 'main.js'))
    for (const name of files) renameSync(join(folder, name), join(base, 'dist', name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The program to run with Bun; builds it first when a source is newer. */
export function serverProgram(base = root) {
  if (isStale(base)) build(base)
  return join(base, 'dist/main.js')
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) serverProgram()
