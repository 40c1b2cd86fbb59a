/**
 * Times requests to the log and usage endpoints of a gateway with many log rows, on SQLite and on PostgreSQL:
 * `npm run bench:logs -- [--rows n] [--rounds n] [--only sqlite|postgres] [--database postgres://…] [--write]`. The
 * database in `--database` is kept, and a later run with the same database does not fill it again.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openStore } from '../../server/store/connection/open.ts'
import { migrate } from '../../server/store/migrations/migrate.ts'
import type { Store } from '../../server/store/store.ts'
import { rollUpUsage } from '../../server/store/usage/usage-rollup.ts'
import { newPostgresDatabase } from '../../test/helpers/postgres.ts'
import { cpuSeconds, residentMb, watchResident } from '../proc.ts'
import { answers, freePort, ROOT, type Running, start } from '../processes.ts'
import { type LogCase, logCases } from './cases.ts'
import { plansOf } from './explain.ts'
import { type DatabaseReport, type Timing, writeReport } from './report.ts'
import { type Population, populationOf, rootAccess, secretKey, seed } from './seed.ts'

const days = 90
/**
 * The number of log rows that the usage rollups do not contain when the requests are made. This is close to the maximum
 * in practice: a gateway leaves at most 2,000 rows out of its rollups.
 */
const uncounted = 1900

/** The export is timed only up to this number of rows. A larger export has the same speed but takes minutes. */
const mostExported = 2_000_000

interface Options {
  rows: number
  rounds: number
  only: string | undefined
  database: string | undefined
  write: boolean
}

function readOptions(args: readonly string[]): Options {
  const after = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
  return {
    rows: Number(after('--rows') ?? 1_000_000),
    rounds: Number(after('--rounds') ?? 30),
    only: after('--only'),
    database: after('--database'),
    write: args.includes('--write'),
  }
}

async function measureDatabase(
  kind: DatabaseReport['kind'],
  { url, folder }: { url: string; folder: string },
  options: Options,
): Promise<DatabaseReport> {
  const store = openStore({ url })
  try {
    await migrate(store)
    const databasePid = await postmasterOf(store)
    const filled = await store.read.selectFrom('logs').select('id').limit(1).executeTakeFirst()
    const { population, counted } = filled
      ? { population: await populationOf(store), counted: { ms: 0, cpuMicrosPerRow: 0 } }
      : await fill(kind, store, options, databasePid)
    const port = await freePort()
    const gateway = startGateway(url, folder, port)
    try {
      await answers(`http://127.0.0.1:${port}/readyz`, gateway, 60_000)
      const timings: Timing[] = []
      for (const one of logCases(population)) {
        const timing = await timeCase(one, port, population, options.rounds, [gateway.pid, ...databasePid])
        console.log(
          `${one.name.padEnd(48)} ${timing.median.toFixed(1).padStart(7)} ${timing.p95.toFixed(1).padStart(7)} ms, cpu ${timing.cpuMs.toFixed(1).padStart(6)} ms`,
        )
        timings.push(timing)
      }
      const exported = options.rows > mostExported ? undefined : await timeExport(port, gateway)
      return { kind, rows: options.rows, counted, timings, exported, plans: await plansOf(store, population) }
    } finally {
      await gateway.stop()
    }
  } finally {
    await store.close()
  }
}

async function fill(kind: string, store: Store, { rows }: Options, databasePid: number[]) {
  const end = Math.floor(Date.now() / 1000)
  let counted = { ms: 0, cpuMicrosPerRow: 0 }
  const started = performance.now()
  const count = async () => {
    const [from, cpu] = [performance.now(), cpuOf([process.pid, ...databasePid])]
    console.log(`${kind}: filled in ${seconds(from - started)}`)
    await rollUpUsage(store, end, Math.max(5000, Math.floor(rows / 100)))
    const used = cpuOf([process.pid, ...databasePid]) - cpu
    counted = { ms: performance.now() - from, cpuMicrosPerRow: (used / (rows - uncounted)) * 1e6 }
  }
  const population = await seed(store, { rows, days, end, countAt: rows - uncounted, count })
  if (store.dialect === 'postgres') await vacuumTables(store)
  console.log(`${kind}: ${rows} rows in ${seconds(performance.now() - started)}, counted in ${seconds(counted.ms)}`)
  return { population, counted }
}

/**
 * Vacuums the tables, as PostgreSQL does on its own after some time. PostgreSQL never collects statistics of a
 * partitioned table as a whole, so the measurement must not have them either.
 */
async function vacuumTables(store: Store): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(
    store.read,
  )
  for (const { name } of rows) await sql`vacuum analyze ${sql.table(name)}`.execute(store.read)
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

function startGateway(url: string, folder: string, port: number): Running {
  return start('gateway', join(ROOT, 'node_modules/.bin/bun'), ['server/main.ts'], {
    PORT: String(port),
    HOST: '127.0.0.1',
    WORKERS: '1',
    DATA_DIR: folder,
    SECRET_KEY: secretKey,
    INITIAL_ROOT_PASSWORD: 'bench-root-password',
    GLOBAL_API_RATE_LIMIT: '0',
    ...(url.startsWith('postgres') && { DATABASE_URL: url }),
  })
}

/** The PostgreSQL server process, whose child processes do the work. SQLite has none. */
async function postmasterOf(store: Store): Promise<number[]> {
  if (store.dialect === 'sqlite') return []
  const { rows } = await sql<{ data_directory: string }>`show data_directory`.execute(store.read)
  return [Number(readFileSync(join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8').split('\n')[0])]
}

const cpuOf = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)

async function timeCase(
  one: LogCase,
  port: number,
  population: Population,
  rounds: number,
  pids: readonly number[],
): Promise<Timing> {
  const headers = { authorization: one.as === 'root' ? rootAccess : population.busyAccess }
  const times: number[] = []
  let cpu = 0
  for (let round = 0; round < rounds + 2; round++) {
    if (round === 2) cpu = cpuOf(pids)
    const from = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}${one.path}`, { headers })
    const text = await response.text()
    // The first two rounds warm the caches.
    if (round > 1) times.push(performance.now() - from)
    if (!response.ok || !text.startsWith('{"success":true'))
      throw new Error(`${one.path}: ${response.status} ${text.slice(0, 300)}`)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  const cpuMs = ((cpuOf(pids) - cpu) / rounds) * 1000
  return { name: one.name, path: one.path, median: at(0.5), p95: at(0.95), cpuMs }
}

/** Exports the whole log as CSV and reads it as fast as it arrives. */
async function timeExport(port: number, gateway: Running): Promise<NonNullable<DatabaseReport['exported']>> {
  const beforeMb = residentMb(gateway.pid)
  const watch = watchResident(gateway.pid)
  const from = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}/api/log/export`, { headers: { authorization: rootAccess } })
  let bytes = 0
  let lines = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    for (const byte of chunk) if (byte === 10) lines++
  }
  return { rows: lines - 1, megabytes: bytes / 1e6, ms: performance.now() - from, beforeMb, mostMb: watch.stop() }
}

async function run(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const load = loadavg()[0] ?? 0
  const reports: DatabaseReport[] = []
  try {
    if (options.only !== 'postgres') {
      reports.push(await measureDatabase('SQLite', { url: join(folder, 'tollgate.db'), folder }, options))
    }
    if (options.only !== 'sqlite') {
      await using database = options.database === undefined ? await newPostgresDatabase() : undefined
      const url = database?.url ?? String(options.database)
      reports.push(await measureDatabase('PostgreSQL', { url, folder }, options))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  writeReport(reports, {
    load,
    command: ['npm run bench:logs --', ...process.argv.slice(2)].join(' '),
    write: options.write,
  })
}

await run(readOptions(process.argv.slice(2)))
process.exit(0)
