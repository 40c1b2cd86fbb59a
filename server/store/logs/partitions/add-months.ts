import { sql } from 'kysely'
import { needsRowLocks } from '../../statements/conditions.ts'
import type { Store, Trx } from '../../store.ts'
import { lockSoon } from './lock-soon.ts'
import { covers, defaultPartition, isWhole, logPartitions, type Month, monthAt } from './log-partitions.ts'

/** The lock that is held while the partitions of the log are changed. The number is arbitrary. */
const divisionLock = 7_041_981

/** The number of months after the current one for which partitions are created in advance. */
const monthsAhead = 3

/**
 * No row can be older than this. An earlier time is an error of the program that wrote the row, and needs no partition.
 */
const firstSecond = Date.UTC(2015, 0) / 1000

/**
 * Waits until no other transaction is changing the partitions of the log, and prevents others from changing them until
 * this transaction ends.
 */
export async function lockDivision(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${divisionLock})`.execute(trx)
}

/** Creates the partitions of this month and of the next months, if they are missing. */
export async function addMonthsAhead(trx: Trx, now: number): Promise<void> {
  await addMonths(
    trx,
    Array.from({ length: monthsAhead + 1 }, (_, later) => monthAt(now, later)),
    now,
  )
}

/**
 * Moves rows of the default partition into partitions of their months. Each month is moved in one transaction, so every
 * reader sees each row once.
 */
export async function emptyDefault(store: Store, now: number): Promise<void> {
  const { rows } = await sql<{ seconds: number }>`
    select distinct cast(extract(epoch from date_trunc('month', to_timestamp(created_at) at time zone 'UTC')) as bigint) as seconds
    from ${sql.table(defaultPartition)} where created_at >= ${firstSecond} and created_at < ${lastSecond(now)}`.execute(
    store.read,
  )
  for (const { seconds } of rows) await store.write((trx) => addMonths(trx, [monthAt(seconds)], now))
}

/** Creates partitions for rows that an import is about to write. Runs in the transaction that writes the rows. */
export type CoverTimes = (trx: Trx, createdAt: Iterable<number>) => Promise<void>

/**
 * Returns a function that creates partitions for the months of the given times. Without it, old rows would be written
 * to the default partition and would have to be moved later. On SQLite the function does nothing.
 */
export function createCoverTimes(now: number): CoverTimes {
  const known = new Set<string>()
  return async (trx, createdAt) => {
    if (!needsRowLocks(trx)) return
    const months = new Map<string, Month>()
    for (const seconds of createdAt) {
      if (!(seconds >= firstSecond && seconds < lastSecond(now))) continue
      const month = monthAt(seconds)
      if (!known.has(month.name)) months.set(month.name, month)
    }
    if (months.size === 0) return
    await addMonths(trx, [...months.values()], now)
    for (const name of months.keys()) known.add(name)
  }
}

const lastSecond = (now: number) => monthAt(now, monthsAhead).until

async function addMonths(trx: Trx, months: readonly Month[], now: number): Promise<void> {
  await lockDivision(trx)
  const partitions = await logPartitions(trx)
  if (partitions.length === 0 || partitions.some(isWhole)) return
  for (const month of months) if (!partitions.some((each) => covers(each, month.from))) await addMonth(trx, month, now)
}

/** Calls write no rows that are older than this. */
const longestWriteSeconds = 86_400

/**
 * Creates the partition of a month, and moves the month's rows from the default partition into it. The first move runs
 * while calls can add rows. The second moves the remaining rows while no other transaction can write.
 *
 * Calls have to wait during the second move. Otherwise a statement that has already chosen the default partition for
 * its row would fail when the new partition is attached. For a month in the past, calls need not wait, because only
 * imports write rows of that month, and only one import runs at a time.
 */
async function addMonth(trx: Trx, { name, from, until }: Month, now: number): Promise<void> {
  const isOfMonth = `created_at >= ${from} and created_at < ${until}`
  const run = (statement: string) => sql.raw(statement).execute(trx)
  const move = `with moved as (delete from ${defaultPartition} where ${isOfMonth} returning *)
    insert into ${name} select * from moved`
  // Because of this check constraint, PostgreSQL does not scan the new table when it is attached.
  await run(
    `create table ${name} (like ${defaultPartition} including indexes, constraint ${name}_month check (${isOfMonth}))`,
  )
  await run(move)
  const isPast = until <= now - longestWriteSeconds
  await lockSoon(trx, isPast ? defaultPartition : `only logs, ${defaultPartition}`, 'access exclusive')
  await run(move)
  await run(`alter table logs attach partition ${name} for values from (${from}) to (${until})`)
  await run(`alter table ${name} drop constraint ${name}_month`)
}
