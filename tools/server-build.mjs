// Bundles server/ and its packages into one file per program in dist/, if the sources have changed since the last
// build. A process that runs a bundle uses 15 MB less memory than a process that loads a thousand modules
// (docs/decisions/0032).
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnvironment, findBun, root } from './bun.mjs'
import { fingerprint } from './fingerprint.mjs'

const sources = ['server', 'contract', 'package.json', 'package-lock.json', 'tools/server-build.mjs']
const entries = [
  'server/main.ts',
  'server/serve.ts',
  'server/commands/run-command.ts',
  'server/import/engine.ts',
  'server/relay/counting/tokenizer-worker.ts',
  'server/relay/request/reader-worker.ts',
]

/**
 * The last line of a build, which contains the fingerprint. It is part of the program, so it cannot be lost or confused
 * with that of another build.
 */
const lastLine = (base) => `// Built from ${fingerprint(base, sources)}`

function endsWith(file, line) {
  return existsSync(file) && readFileSync(file, 'utf8').trimEnd().endsWith(line)
}

/** Builds in a separate folder. Each new file then replaces the old one in one step. */
function build(base, footer) {
  mkdirSync(join(base, 'dist'), { recursive: true })
  const folder = mkdtempSync(join(base, 'dist/.server-'))
  try {
    const present = entries.filter((file) => existsSync(join(base, file)))
    const names = ['--root', 'server', '--entry-naming', '[name].[ext]', '--outdir', folder, '--footer', footer]
    // Names and lines are kept for stack traces, because a source map would take 8 MB of memory.
    const result = spawnSync(findBun(base), ['build', ...present, '--target=bun', ...names], {
      cwd: base,
      env: bunEnvironment,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (result.status !== 0) throw new Error('The server build failed; its message is above.')
    // The main program is moved last, so that everything that it loads is already in place.
    const files = readdirSync(folder).toSorted((a, b) => Number(a === 'main.js') - Number(b === 'main.js'))
    for (const name of files) renameSync(join(folder, name), join(base, 'dist', name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The path of the program to run with Bun. Builds it first if a source has changed. */
export function serverProgram(base = root) {
  const program = join(base, 'dist/main.js')
  // The fingerprint is taken before the build. If a source changes during the build, the next call builds again.
  const line = lastLine(base)
  if (!endsWith(program, line)) build(base, line)
  return program
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) serverProgram()
