import { sql } from 'kysely'
import type { Store, Trx } from '../../store.ts'
import { addMonthsAhead, lockDivision } from './add-months.ts'
import { lockSoon } from './lock-soon.ts'
import { isWhole, type LogPartition, logPartitions, monthAt } from './log-partitions.ts'

/**
 * A store with an optional `writeUnlimited`, whose statements have no time limit. Some statements read the whole log.
 */
export type PatientStore = Store & { writeUnlimited?: Store['write'] }

const daySeconds = 86_400
/**
 * The cut is the time at which the partition of the old rows ends. It is the start of a month, and lies more than this
 * many seconds after the current time and after the newest row. From the start of the takeover to its end, rows with a
 * time after the cut cannot be written. An interrupted takeover must therefore be finished or undone before the cut.
 */
const leastAheadSeconds = 14 * daySeconds
/** An interrupted takeover is undone if the time until its cut is shorter than this. */
const leastLeftSeconds = 2 * daySeconds
/**
 * If the newest row is further in the future than this, it was written with a wrong clock, and the takeover is
 * impossible.
 */
const mostAheadSeconds = 366 * daySeconds

const constraint = 'logs_cut'

/** The result of a takeover: `none` if there was nothing to do. */
export interface Takeover {
  state: 'none' | 'done' | 'impossible'
  /** For `done`: the cut in epoch seconds. From this time on, each month has its own partition. */
  cut?: number
  /** For `impossible`: the time of the newest row (epoch seconds). */
  newest?: number
}

/**
 * Turns a log table that was not partitioned into the partition of all rows before a coming month (the cut). Locks are
 * held only for moments. PostgreSQL reads the whole table to check that it has no rows after the cut, but rows can be
 * read and written in the meantime. If the takeover is interrupted, the next call continues it. Throws
 * `lock_not_available` if the table is being read for too long.
 */
export async function takeOver(store: PatientStore, now: number): Promise<Takeover> {
  const whole = (await logPartitions(store.read)).find(isWhole)
  if (!whole) return { state: 'none' }
  const write = store.writeUnlimited ?? store.write
  const begun = await cutOf(store, whole)
  if (begun !== undefined && begun < now + leastLeftSeconds) await write((trx) => dropConstraint(trx, whole))
  let cut = begun !== undefined && begun >= now + leastLeftSeconds ? begun : undefined
  if (cut === undefined) {
    const newest = await write((trx) => newestTime(trx, whole))
    if (newest > now + mostAheadSeconds) return { state: 'impossible', newest }
    cut = monthAt(Math.max(now, newest) + leastAheadSeconds, 1).from
    await write((trx) => addConstraint(trx, whole, cut as number))
  }
  await write((trx) => sql.raw(`alter table ${whole.name} validate constraint ${constraint}`).execute(trx))
  const at = cut
  await write((trx) => cutOff(trx, whole, { cut: at, now }))
  return { state: 'done', cut }
}

async function cutOf({ read }: Store, { name }: LogPartition): Promise<number | undefined> {
  const { rows } = await sql<{ text: string }>`
    select pg_get_constraintdef(oid) as text from pg_constraint
    where conrelid = to_regclass(${name}) and conname = ${constraint}`.execute(read)
  const digits = /\d{6,}/.exec(rows[0]?.text ?? '')?.[0]
  return digits === undefined ? undefined : Number(digits)
}

async function newestTime(trx: Trx, { name }: LogPartition): Promise<number> {
  const { rows } = await sql<{ newest: number | null }>`
    select max(created_at) as newest from ${sql.table(name)}`.execute(trx)
  return Number(rows[0]?.newest ?? 0)
}

async function dropConstraint(trx: Trx, { name }: LogPartition): Promise<void> {
  await lockSoon(trx, name, 'access exclusive')
  await sql.raw(`alter table ${name} drop constraint if exists ${constraint}`).execute(trx)
}

async function addConstraint(trx: Trx, { name }: LogPartition, cut: number): Promise<void> {
  await lockDivision(trx)
  await dropConstraint(trx, { name, from: undefined, until: undefined, isDefault: false })
  await sql.raw(`alter table ${name} add constraint ${constraint} check (created_at < ${cut}) not valid`).execute(trx)
}

/**
 * Sets the upper bound of the partition. PostgreSQL has already validated a constraint that every row is before the
 * cut, so it does not read the table while the table is locked.
 */
async function cutOff(trx: Trx, { name }: LogPartition, { cut, now }: { cut: number; now: number }): Promise<void> {
  await lockDivision(trx)
  // Another node may have set the bound in the meantime.
  if (!(await logPartitions(trx)).some(isWhole)) return
  await lockSoon(trx, 'logs', 'access exclusive')
  await sql.raw(`alter table logs detach partition ${name}`).execute(trx)
  await sql.raw(`alter table logs attach partition ${name} for values from (minvalue) to (${cut})`).execute(trx)
  await sql.raw(`alter table ${name} drop constraint ${constraint}`).execute(trx)
  await addMonthsAhead(trx, now)
}
