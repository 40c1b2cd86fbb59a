// Puts server/ and its packages into two files under dist/ when the sources are others than those of the last build: the
// process that runs them takes 15 MB less than one that loads a thousand modules (docs/decisions/0032).
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunEnvironment, findBun, root } from './bun.mjs'
import { fingerprint } from './fingerprint.mjs'

const sources = ['server', 'contract', 'package.json', 'package-lock.json', 'tools/server-build.mjs']
const entries = ['server/main.ts', 'server/relay/counting/tokenizer-worker.ts', 'server/relay/request/reader-worker.ts']

/** The last line of a build: in the program itself it can be neither lost nor taken for that of another build. */
const lastLine = (base) => `// Built from ${fingerprint(base, sources)}`

function endsWith(file, line) {
  return existsSync(file) && readFileSync(file, 'utf8').trimEnd().endsWith(line)
}

/** Builds beside the last build; each file then takes its place at once. */
function build(base, footer) {
  mkdirSync(join(base, 'dist'), { recursive: true })
  const folder = mkdtempSync(join(base, 'dist/.server-'))
  try {
    const present = entries.filter((file) => existsSync(join(base, file)))
    const names = ['--root', 'server', '--entry-naming', '[name].[ext]', '--outdir', folder, '--footer', footer]
    // Names and lines stay as they are, for the sake of stack traces; a source map would take 8 MB of memory.
    const result = spawnSync(findBun(base), ['build', ...present, '--target=bun', ...names], {
      cwd: base,
      env: bunEnvironment,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (result.status !== 0) throw new Error('The server build failed; its message is above.')
    // The program comes last: what it loads is there before it.
    const files = readdirSync(folder).toSorted((a, b) => Number(a === 'main.js') - Number(b === 'main.js'))
    for (const name of files) renameSync(join(folder, name), join(base, 'dist', name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The program to run with Bun; builds it first when a source has changed. */
export function serverProgram(base = root) {
  const program = join(base, 'dist/main.js')
  // Made before the build, so that what is changed meanwhile is built the next time.
  const line = lastLine(base)
  if (!endsWith(program, line)) build(base, line)
  return program
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) serverProgram()
