// Runs all tests, or the tests in the arguments. Without arguments and outside CI, only a tenth of each long sweep and
// a third of the files with long tests are run; "--full" runs everything. The last line is always "N passed, N failed".
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bunEnvironment, endWithParent, findBun, root } from './bun.mjs'
import { ensureChromium, howToInstall } from './chromium.mjs'
import { buildConsoleIfStale } from './console-build.mjs'
import { InTurn } from './in-turn.mjs'
import { ensureInstalled } from './install.mjs'
import {
  balance,
  deal,
  fileSeconds,
  filesWithoutTime,
  keepTimes,
  readTimes,
  sampledFiles,
  sampledSeconds,
  slowest,
  testFiles,
  writeTimes,
} from './test-shares.mjs'
import { failures, skippedTests, tallyAll } from './test-summary.mjs'

ensureInstalled()

const folders = ['contract', 'server', 'console', 'tools', 'test', 'bench'].map((folder) => `./${folder}/`)
/**
 * The times of the files on the machine on which this list was made. Used on machines that have not run the tests yet.
 */
const usualTimes = join(root, 'tools/test-times.json')
/**
 * With `--update-times`, the times of a complete run are saved in this list, as a starting point for other machines.
 */
const updatesTimes = process.argv.includes('--update-times')
const own = new Set(['--update-times', '--full'])
const given = process.argv.slice(2).filter((argument) => !own.has(argument))
/** The seed that selects parts of the sweeps and of the long tests; undefined = everything is run. */
const sweepSeed =
  process.env.CI === 'true' || updatesTimes || given.length > 0 || process.argv.includes('--full')
    ? undefined
    : (process.env.SWEEP_SEED ?? String(Math.floor(Math.random() * 1_000_000)))
const takesValue = new Set(['-t', '--test-name-pattern', '--seed', '--timeout', '--retry', '--rerun-each', '--preload'])
const filters = given.filter((argument, at) => !argument.startsWith('-') && !takesValue.has(given[at - 1]))
const byName = given.some((argument) => argument === '-t' || argument.startsWith('--test-name-pattern'))
// The time limit ends tests that hang. It is long, so that tests do not fail on a slow machine.
const patience = given.some((argument) => argument.startsWith('--timeout')) ? [] : ['--timeout=120000']

/** The times of the files in earlier runs on this machine. Runs of a part of the tests have a separate file. */
const ownTimes = join(root, `node_modules/.cache/tollgate-test-times${sweepSeed === undefined ? '' : '-desk'}.json`)

/**
 * The arguments of each process. There is one process per core, but at least four, because tests spend much of their
 * time waiting. If there is any flag, only one process is used, because the flag may refer to the whole run. Bun's own
 * --parallel is not used, because it can miss the exit of a program that a test has started (oven-sh/bun#43697), and
 * these tests start many.
 */
function shares() {
  if (filters.length > 0) return [given]
  if (given.length > 0) return [[...given, ...folders]]
  const usual = readTimes(usualTimes)
  const times = { ...(sweepSeed === undefined ? usual : sampledSeconds(usual)), ...readTimes(ownTimes) }
  const files = testFiles(root, folders)
  return deal(
    sweepSeed === undefined ? files : sampledFiles(files, sweepSeed),
    times,
    Math.max(4, availableParallelism()),
  )
}

const scratch = mkdtempSync(join(tmpdir(), 'tollgate-test-'))

/**
 * Ends the tests when this program receives a signal, when it exits, or when its parent process ends. The output so far
 * is still printed.
 */
function endTogether(child) {
  // The tests' browser library handles the other signals itself. SIGINT ends the tests like Ctrl-C.
  const end = (signal) => {
    // A terminal sends Ctrl-C to the whole process group. If it were also passed on here, it would reach the tests
    // twice.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill('SIGINT')
    // A program that a test has started may survive and keep the pipes open.
    child.once('exit', () => {
      child.stdout.destroy()
      child.stderr.destroy()
    })
  }
  process.on('SIGINT', end).on('SIGTERM', end).on('SIGHUP', end)
  process.on('exit', () => child.kill('SIGINT'))
  endWithParent(end)
}

const printed = new InTurn()

const { SWEEP_SEED: _seed, ...environment } = bunEnvironment
const sweep = sweepSeed === undefined ? {} : { SWEEP_SEED: sweepSeed }

function runBunTest(share, at) {
  const report = join(scratch, `${at}.xml`)
  const args = ['test', ...patience, '--reporter=junit', `--reporter-outfile=${report}`, ...share]
  const started = performance.now()
  const child = spawn(findBun(), args, {
    cwd: root,
    env: { ...environment, ...sweep, ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Bun writes its report to stderr. The tests' own output goes to stdout and is not part of the report.
  let output = ''
  child.stdout.on('data', (chunk) => printed.print(at, process.stdout, chunk))
  child.stderr.on('data', (chunk) => {
    output += chunk
    printed.print(at, process.stderr, chunk)
  })
  endTogether(child)
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code, signal) => {
      printed.end(at)
      const junit = existsSync(report) ? readFileSync(report, 'utf8') : ''
      const tookSeconds = (performance.now() - started) / 1000
      done({ code, signal, output, tookSeconds, skipped: skippedTests(junit), seconds: fileSeconds(junit) })
    })
  })
}

if (filters.length === 0 || filters.some((filter) => /e2e|^(?:\.\/)?test\/?$/.test(filter))) {
  if (!ensureChromium()) console.error(howToInstall)
  await buildConsoleIfStale()
}
const runs = await Promise.all(shares().map(runBunTest))
rmSync(scratch, { recursive: true, force: true })

const seconds = Object.assign({}, ...runs.map((run) => run.seconds))
if (!byName) keepTimes(ownTimes, seconds)
if (updatesTimes && given.length === 0) writeTimes(usualTimes, seconds)
if (given.length === 0) {
  console.log(`The slowest files:\n${slowest(seconds, 25).join('\n')}`)
  console.log(balance(runs.map(({ tookSeconds }) => tookSeconds)))
  const untimed = filesWithoutTime(seconds, readTimes(usualTimes))
  if (untimed.length > 0)
    console.log(
      `These files have no time in tools/test-times.json, so other machines distribute them badly ("npm test -- --update-times" adds them): ${untimed.join(', ')}`,
    )
}

// A complete run prints thousands of lines, so the failures are repeated at the end, where they are noticed.
const failing = runs.flatMap((run) => failures(run.output))
if (given.length === 0 && failing.length > 0) console.log(`What failed:\n\n${failing.join('\n\n')}\n`)

const { passed, failed, notes } = tallyAll(runs)
for (const note of notes) console.log(note)
const skipped = runs.flatMap((run) => run.skipped)
// With a name pattern, bun reports every test that does not match as skipped.
if (skipped.length > 0 && !byName) console.log(`${skipped.length} skipped: ${skipped.join('; ')}`)
if (sweepSeed !== undefined)
  console.log(
    `Only a tenth of the screens, recordings and invalid requests, a fifth of the kills, and a third of the files of browser tests and of tests of imports, backups, exports and other whole installations were run, chosen by SWEEP_SEED=${sweepSeed}. "npm run test:full" runs all of them.`,
  )
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || notes.length > 0 ? 1 : 0
