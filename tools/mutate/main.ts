// Plants faults in the server, one at a time, and reports the faults that no test notices. If a run was interrupted,
// the next run continues where it stopped.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { testFiles } from '../test-shares.mjs'
import { chosen, type Fault, faultsIn, planted } from './faults.ts'
import { type Reach, reachOf } from './reach.ts'
import { runTests } from './run-tests.ts'

const root = resolve(import.meta.dir, '../..')
// The folder is not below node_modules, because Bun's coverage omits files there.
const cache = join(root, 'dist/mutate')
const tree = join(cache, 'tree')

/** Faults without an effect that a test could notice, each with the reason. */
const equivalent = JSON.parse(readFileSync(join(import.meta.dir, 'equivalent.json'), 'utf8')) as (Pick<
  Fault,
  'file' | 'text' | 'before' | 'after'
> & { why: string })[]

/** The folders in which faults are planted. */
const folders = ['server/relay', 'server/billing', 'server/store', 'server/dialects']
/**
 * The folders whose tests are run, except test/e2e. The browser tests run the server as another process, so its lines
 * are not counted.
 */
const testFolders = ['./contract/', './server/', './test/']
const usage = `Usage: npm run mutate -- [--count 200] [--seed 1] [--only server/billing] [--patience 4] [--fresh]

Plants faults into ${folders.join(', ')} and runs the tests that reach them, in a checkout
of its own of the last commit. A run that was stopped continues with the next fault; --fresh starts over.
Tests that take more than --patience times as long as without a fault are ended, and have noticed it; on a
busy machine allow more.`

/** The result for one fault. */
interface Result {
  readonly fault: Fault
  /** The test files that noticed the fault; empty if none did. */
  readonly noticedBy: readonly string[]
  /** The number of test files that run the fault's line. */
  readonly reachedBy: number
}

interface State {
  readonly commit: string
  readonly reach: Record<string, Reach | null>
  readonly results: Record<string, Result>
}

/** Test files are run in one process if they take at most this many seconds together. */
const batchSeconds = 40
const leastLimitMs = 60_000

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '200' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      patience: { type: 'string', default: '4' },
      fresh: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [count, seed, patience] = [Number(values.count), Number(values.seed), Number(values.patience)]
  if (values.help || !Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed) || !(patience >= 1)) {
    console.log(usage)
    process.exitCode = values.help ? 0 : 2
    return
  }
  const commit = git(root, 'rev-parse', 'HEAD')
  prepareTree(commit)
  const state = (values.fresh ? undefined : readState(commit)) ?? { commit, reach: {}, results: {} }
  await learnReach(state)
  if (!Object.values(state.reach).some((reach) => reach && Object.keys(reach.lines).length > 0))
    throw new Error('no coverage was read, so no fault could be noticed')
  const faults = chosen(allFaults(values.only), count, seed)
  for (const [at, fault] of faults.entries()) {
    const key = keyOf(fault)
    if (state.results[key] === undefined) {
      state.results[key] = await tryFault(state, fault, patience)
      writeState(state)
    }
    console.log(`${String(at + 1).padStart(4)} of ${faults.length}  ${lineOf(state.results[key])}`)
  }
  report(faults.flatMap((fault) => state.results[keyOf(fault)] ?? []))
}

function git(folder: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** Creates a separate checkout of the commit, so that nobody's work is disturbed. */
function prepareTree(commit: string): void {
  mkdirSync(cache, { recursive: true })
  if (!existsSync(join(tree, '.git'))) {
    git(root, 'worktree', 'prune')
    git(root, 'worktree', 'add', '--detach', '--force', tree, commit)
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  }
  git(tree, 'checkout', '--force', '--detach', commit)
}

const stateFile = join(cache, 'state.json')

/** The results of an earlier run for this commit. */
function readState(commit: string): State | undefined {
  if (!existsSync(stateFile)) return undefined
  const state = JSON.parse(readFileSync(stateFile, 'utf8')) as State
  return state.commit === commit ? state : undefined
}

function writeState(state: State): void {
  writeFileSync(stateFile, JSON.stringify(state))
}

async function learnReach(state: State): Promise<void> {
  const files = testFiles(tree, testFolders).filter((file: string) => !file.startsWith('./test/e2e/'))
  for (const [at, file] of files.entries()) {
    if (state.reach[file] !== undefined) continue
    const reach = await reachOf(tree, file)
    if (!reach) console.log(`${file} fails without any fault and is skipped`)
    state.reach[file] = reach ?? null
    writeState(state)
    console.log(`${String(at + 1).padStart(4)} of ${files.length} test files: coverage read`)
  }
}

function allFaults(only: string | undefined): Fault[] {
  const files = git(tree, 'ls-files', ...folders).split('\n')
  return files
    .filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && (only === undefined || file.startsWith(only)),
    )
    .flatMap((file) => faultsIn(file, readFileSync(join(tree, file), 'utf8')))
    .filter((fault) => !isEquivalent(fault))
}

function isEquivalent({ file, text, before, after }: Fault): boolean {
  return equivalent.some(
    (each) => each.file === file && each.text === text && each.before === before && each.after === after,
  )
}

function keyOf({ file, from, after }: Fault): string {
  return `${file}:${from}:${after}`
}

async function tryFault(state: State, fault: Fault, patience: number): Promise<Result> {
  const reaching = Object.entries(state.reach)
    .flatMap(([file, reach]) =>
      reach?.lines[fault.file]?.includes(fault.line) ? [{ file, seconds: reach.seconds }] : [],
    )
    .toSorted((one, other) => nearness(fault, other.file) - nearness(fault, one.file) || one.seconds - other.seconds)
  const path = join(tree, fault.file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, planted(text, fault))
  try {
    for (const batch of batches(reaching)) {
      const seconds = batch.reduce((sum, each) => sum + each.seconds, 0)
      const limitMs = Math.max(leastLimitMs, seconds * patience * 1000)
      const files = batch.map((each) => each.file)
      // A test may fail only because the machine is busy, so a failure counts only if it happens again.
      const fails = async () => (await runTests(tree, ['--bail=1', ...files], limitMs)) !== 'passed'
      if ((await fails()) && (await fails())) return { fault, noticedBy: files, reachedBy: reaching.length }
    }
    return { fault, noticedBy: [], reachedBy: reaching.length }
  } finally {
    writeFileSync(path, text)
  }
}

/** The order in which tests are tried: tests of the file itself come first, then tests in its folder. */
function nearness({ file }: Fault, testFile: string): number {
  if (testFile === `./${file.replace(/\.ts$/, '.test.ts')}`) return 2
  return testFile.startsWith(`./${file.slice(0, file.lastIndexOf('/') + 1)}`) ? 1 : 0
}

function* batches<T extends { seconds: number }>(files: readonly T[]): Generator<T[]> {
  let batch: T[] = []
  let seconds = 0
  for (const file of files) {
    if (batch.length > 0 && seconds + file.seconds > batchSeconds) {
      yield batch
      batch = []
      seconds = 0
    }
    batch.push(file)
    seconds += file.seconds
  }
  if (batch.length > 0) yield batch
}

function lineOf({ fault, noticedBy, reachedBy }: Result): string {
  const { kind, file, line, before, after } = fault
  const verdict = noticedBy.length > 0 ? 'noticed' : reachedBy > 0 ? 'NOT NOTICED' : 'NOT REACHED'
  return `${verdict}  ${kind}  ${file}:${line}  ${before.slice(0, 60)} → ${after || '(nothing)'}`
}

function report(results: readonly Result[]): void {
  const missed = results.filter(({ noticedBy }) => noticedBy.length === 0)
  const share = results.length === 0 ? 0 : ((results.length - missed.length) / results.length) * 100
  if (missed.length > 0) console.log(`\nFaults that no test notices:\n${missed.map(lineOf).join('\n')}`)
  console.log(`\n${results.length - missed.length} of ${results.length} faults are noticed (${share.toFixed(1)} %)`)
}

await main()
