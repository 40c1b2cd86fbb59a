import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { allCases, type Case, slowChunks, warmUps } from './cases.ts'
import { postgresCases } from './cases-postgres.ts'
import { type DatabaseCost, type Measurement, measure } from './measure.ts'
import { type Options, readOptions } from './options.ts'
import { ROOT } from './processes.ts'
import { type Circumstances, machine, markdown, summarise, writePage } from './report.ts'
import type { ShapeFigures } from './shapes/measure-shapes.ts'
import { runShapes } from './shapes/run-shapes.ts'
import { direct, type Mock, startBare, startGateway, startMock, startPeer, type Target } from './targets.ts'

/**
 * Measures the mock called directly, the bare proxy, the gateway and another product's gateway (`peer`) on one machine,
 * in alternating rounds.
 */
async function run(options: Options): Promise<void> {
  const loadAverage = loadavg()[0] ?? 0
  refuseWhenBusy(options, loadAverage)
  const known = options.database === 'postgres' ? postgresCases(options.quick) : allCases(options.quick)
  const cases = known.filter(({ id }) => isChosen(options, id))
  const withShapes = options.database === 'sqlite' && isChosen(options, 'shapes')
  if (cases.length === 0 && !withShapes) throw new Error(`no case is called ${options.only.join(' or ')}`)
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const targets = new Map<Target['name'], Target>()
  let mock: Mock | undefined
  try {
    mock = await startMock(folder, slowChunks(options.quick))
    const measured = await measureAll(cases, targets, starters(mock, folder, options), mock, options)
    const shapes = withShapes ? await runShapes(folder, shapesOf(options)) : []
    report(cases, { measured, shapes }, options, circumstances([...targets.values()], loadAverage))
  } finally {
    for (const target of targets.values()) {
      await target.running?.stop()
      await target.database?.close()
    }
    await mock?.running.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function shapesOf({ quick, rounds }: Options): { sizes: readonly number[]; rounds: number } {
  return quick ? { sizes: [1], rounds: 3 } : { sizes: [1, 16], rounds: rounds ?? 7 }
}

type Starters = ReadonlyMap<Target['name'], () => Promise<Target>>

function starters(mock: Mock, folder: string, options: Options): Starters {
  const all = new Map<Target['name'], () => Promise<Target>>([['direct', async () => direct(mock)]])
  if (options.gateway) all.set('bare', () => startBare(mock))
  if (options.gateway) for (const [name, start] of gateways(mock, folder, options)) all.set(name, start)
  if (options.peer) all.set('peer', () => startPeer(mock))
  return all
}

/**
 * The gateways to measure: this checkout's gateway and, if `before` is set, the gateway of that checkout. On
 * PostgreSQL, this checkout's gateway is also measured with several processes and with leases, if the options say so.
 */
function gateways(mock: Mock, folder: string, { database, processes, before, calls, leases }: Options): Starters {
  const plan =
    (name: Target['name'], count: number, checkout?: string, share = 0) =>
    () =>
      startGateway(mock, {
        name,
        folder: mkdtempSync(join(folder, 'gateway-')),
        calls: database === 'postgres' ? calls : undefined,
        processes: count,
        checkout,
        leases: share,
      })
  const all = new Map<Target['name'], () => Promise<Target>>()
  if (processes.includes(1)) all.set('gateway', plan('gateway', 1))
  if (before !== undefined) all.set('before', plan('before', 1, before))
  if (database === 'sqlite') return all
  if (leases > 0) all.set('leases', plan('leases', 1, undefined, leases))
  if (processes.includes(2)) all.set('gateway-2', plan('gateway-2', 2))
  if (processes.includes(4)) all.set('gateway-4', plan('gateway-4', 4))
  return all
}

async function measureAll(
  cases: readonly Case[],
  targets: Map<Target['name'], Target>,
  start: Starters,
  mock: Mock,
  options: Options,
): Promise<Measurement[]> {
  const measured: Measurement[] = []
  for (const one of cases) {
    const names = one.targets.filter((name) => start.has(name))
    const rounds = one.rounds ?? roundsOf(one, options)
    for (let round = 0; round < rounds; round++) {
      // The order alternates, so that a drift in the machine's speed does not favour the first target.
      for (const name of round % 2 === 0 ? names : [...names].reverse()) {
        const target = await running(name, targets, start, mock, one.fresh === true, options.quick)
        const result = await measure(one, target, mock)
        measured.push(result)
        console.log(lineOf(one, round, result))
      }
    }
  }
  return measured
}

const usualRounds = 3

function roundsOf(one: Case, { quick, rounds }: Options): number {
  if (quick) return Math.min(rounds ?? 2, 2)
  return rounds ?? usualRounds + (one.moreRounds ?? 0)
}

/**
 * Returns the running target, or restarts it if `fresh` is set. A target that keeps running is warmed up, so that
 * nothing is measured while its code is still being compiled.
 */
async function running(
  name: Target['name'],
  targets: Map<Target['name'], Target>,
  start: Starters,
  mock: Mock,
  fresh: boolean,
  quick: boolean,
): Promise<Target> {
  const known = targets.get(name)
  if (known && !fresh) return known
  await known?.running?.stop()
  targets.delete(name)
  const target = await start.get(name)?.()
  if (!target) throw new Error(`nothing starts ${name}`)
  targets.set(name, target)
  if (!fresh && target.running) await warmUp(target, mock, quick)
  return target
}

async function warmUp(target: Target, mock: Mock, quick: boolean): Promise<void> {
  for (const one of warmUps(quick)) {
    const { failed, failures } = await measure(one, target, mock)
    if (failed > 0) throw new Error(`${target.name} fails: ${failures.join(' | ')}`)
  }
}

function lineOf(one: Case, round: number, m: Measurement): string {
  const cells = [
    `${one.id} ${round + 1} ${m.target}`.padEnd(28),
    `${m.perSecond.toFixed(0)}/s`.padStart(9),
    `cpu ${m.cpuMicros.toFixed(0)} µs`.padStart(13),
    `p50 ${m.latencyMs.p50.toFixed(2)} p99 ${m.latencyMs.p99.toFixed(2)} ms`.padEnd(26),
    `first byte ${m.firstByteMs.p50.toFixed(2)} ms`.padEnd(20),
    `rss ${m.residentMb.toFixed(0)} MB`.padEnd(11),
    `mock ${m.mockCpuMicros.toFixed(0)} load ${m.loadCpuMicros.toFixed(0)} µs`,
  ]
  if (m.database) cells.push(databaseLine(m.database))
  if (one.mode === 'streams') cells.push(`longest silence ${m.maxGapMs.toFixed(0)} ms, stalls ${m.stalls}`)
  if (m.failed > 0) cells.push(`FAILED ${m.failed}: ${m.failures.join(' | ')}`)
  return cells.join(' ')
}

function databaseLine({ cpuMicros, walBytes, updates, hotShare, hotMb }: DatabaseCost): string {
  const cpu = cpuMicros === undefined ? '' : ` cpu ${cpuMicros.toFixed(0)} µs`
  return `database${cpu} wal ${walBytes.toFixed(0)} B, ${updates.toFixed(2)} versions (${(hotShare * 100).toFixed(0)} % HOT), ${hotMb.toFixed(1)} MB`
}

function report(
  cases: readonly Case[],
  { measured, shapes }: { measured: readonly Measurement[]; shapes: readonly ShapeFigures[] },
  options: Options,
  about: Circumstances,
): void {
  const summaries = summarise(cases, measured)
  const text = markdown(summaries, shapes, about)
  console.log(`\n${text}`)
  if (!options.write) return
  writePage(join(ROOT, 'docs/performance.md'), text)
  writeFileSync(join(ROOT, 'bench/results.json'), `${JSON.stringify({ ...about, summaries, shapes }, null, 2)}\n`)
}

function circumstances(targets: readonly Target[], loadAverage: number): Circumstances {
  const named = targets.filter(({ running }) => running !== undefined)
  const versions = Object.fromEntries(named.map(({ name, version }) => [name, version]))
  const args = process.argv.slice(2)
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: machine(),
    versions: { ...versions, Bun: Bun.version },
    command,
    loadAverage,
  }
}

function isChosen(options: Options, id: string): boolean {
  return options.only.length === 0 || options.only.some((wanted) => id === wanted || id.startsWith(`${wanted}-`))
}

function refuseWhenBusy(options: Options, loadAverage: number): void {
  const limit = cpus().length / 2
  if (loadAverage <= limit) return
  const message = `The load average is ${loadAverage.toFixed(2)} on ${cpus().length} cores: numbers taken now would say little.`
  if (!options.force) {
    console.error(`${message} Wait, or use --force.`)
    process.exit(3)
  }
  console.error(`WARNING: ${message}`)
}

await run(readOptions(process.argv.slice(2)))
