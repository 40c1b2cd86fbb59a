// Runs every test, or those that the arguments name. The last line is always "N passed, N failed".
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bunEnvironment, endWithParent, findBun, root } from './bun.mjs'
import { ensureChromium, howToInstall } from './chromium.mjs'
import { buildConsoleIfStale } from './console-build.mjs'
import { ensureInstalled } from './install.mjs'
import { skippedTests, tally } from './test-summary.mjs'

ensureInstalled()

const folders = ['contract', 'server', 'console', 'tools', 'test'].filter((folder) => existsSync(join(root, folder)))
const given = process.argv.slice(2)
const takesValue = new Set(['-t', '--test-name-pattern', '--seed', '--timeout', '--retry', '--rerun-each', '--preload'])
const filters = given.filter((argument, at) => !argument.startsWith('-') && !takesValue.has(given[at - 1]))
const where = filters.length > 0 ? [] : folders.map((folder) => `./${folder}/`)
// Ends what hangs. A slow machine makes a run longer, and nothing else.
const patience = given.some((argument) => argument.startsWith('--timeout')) ? [] : ['--timeout=120000']

const scratch = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
const report = join(scratch, 'junit.xml')

/** Ends the tests when this program is told to end, or ends. Ctrl-C in a terminal reaches them by itself. */
function endTogether(child) {
  // The browser library of the tests takes the other signals for itself; SIGINT ends them as Ctrl-C does.
  const end = () => {
    child.kill('SIGINT')
    // A program that a test started may live on and hold the pipes open.
    child.once('exit', () => {
      child.stdout.destroy()
      child.stderr.destroy()
    })
  }
  process.on('SIGTERM', end).on('SIGHUP', end)
  process.on('exit', () => child.kill('SIGINT'))
  endWithParent(end)
}

function runBunTest() {
  const args = ['test', ...patience, '--reporter=junit', `--reporter-outfile=${report}`, ...given, ...where]
  const child = spawn(findBun(), args, {
    cwd: root,
    env: { ...bunEnvironment, ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Bun reports on stderr; what the tests print themselves goes to stdout and is no part of the report.
  let output = ''
  child.stdout.pipe(process.stdout)
  child.stderr.on('data', (chunk) => {
    output += chunk
    process.stderr.write(chunk)
  })
  endTogether(child)
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code, signal) => done({ code, signal, output }))
  })
}

if (filters.length === 0 || filters.some((filter) => /e2e|^(?:\.\/)?test\/?$/.test(filter))) {
  if (!ensureChromium()) console.error(howToInstall)
  await buildConsoleIfStale()
}
const { code, signal, output } = await runBunTest()
const { passed, failed, note } = tally(output, code)
const skipped = existsSync(report) ? skippedTests(readFileSync(report, 'utf8')) : []
rmSync(scratch, { recursive: true, force: true })

if (note) console.log(signal ? `${note} (${signal})` : note)
// With a pattern for names, bun reports every test that does not match as skipped.
const byName = given.some((argument) => argument === '-t' || argument.startsWith('--test-name-pattern'))
if (skipped.length > 0 && !byName) console.log(`${skipped.length} skipped: ${skipped.join('; ')}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
