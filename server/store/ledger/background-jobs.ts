import type { Selectable } from 'kysely'
import { addStoredResponses, type StoredResponse } from '../accounts/stored-responses.ts'
import { backgroundNode } from '../installation/nodes.ts'
import type { BackgroundJobsTable } from '../schema/background-job-tables.ts'
import type { HoldsTable } from '../schema/tables.ts'
import type { Db, Trx } from '../store.ts'

export type BackgroundJob = Selectable<BackgroundJobsTable>

/** A job, and the hold that pays for it. */
export interface HeldJob extends BackgroundJob {
  amount: number
  token_id: number
  /** The channel whose caps count the call; 0 = no channel. */
  placed_on: number
}

/** The bit of `holds.counted` which says that the caps of a channel count the call. */
const hasPlace = 8

/**
 * Adds a job, and a record of who may use its response. From now on, the hold belongs to the job instead of the process
 * `nodeId`. False if the hold is already closed; nothing is added then.
 */
export async function addJob(trx: Trx, nodeId: string, job: BackgroundJob, owned: StoredResponse): Promise<boolean> {
  const moved = await trx
    .updateTable('holds')
    .set({ node_id: backgroundNode })
    .where('id', '=', job.hold_id)
    .where('node_id', '=', nodeId)
    .executeTakeFirst()
  if (Number(moved.numUpdatedRows) === 0) return false
  await trx.insertInto('background_jobs').values(job).execute()
  await addStoredResponses(trx, [owned])
  return true
}

/** The user's open jobs for a response. There is only one, unless the service used the same id twice. */
export async function jobsOf(db: Db, userId: number, responseId: string): Promise<HeldJob[]> {
  const rows = await heldJobs(db).where('j.user_id', '=', userId).where('j.response_id', '=', responseId).execute()
  return rows.map(heldJob)
}

/** Jobs whose responses must be polled now. The jobs that have been due longest come first. */
export async function dueJobs(db: Db, now: number, limit: number): Promise<HeldJob[]> {
  const rows = await heldJobs(db).where('j.poll_at', '<=', now).orderBy('j.poll_at').limit(limit).execute()
  return rows.map(heldJob)
}

function heldJobs(db: Db) {
  return db
    .selectFrom('background_jobs as j')
    .leftJoin('holds as h', 'h.id', 'j.hold_id')
    .selectAll('j')
    .select(['h.amount', 'h.token_id', 'h.channel_id as hold_channel', 'h.counted'])
}

type HeldRow = BackgroundJob &
  Record<'hold_channel', number | null> & {
    [Name in keyof Pick<Selectable<HoldsTable>, 'amount' | 'token_id' | 'counted'>]: number | null
  }

/** Converts a row. A job whose hold is gone gets an amount of -1. */
function heldJob({ hold_channel, counted, amount, token_id, ...job }: HeldRow): HeldJob {
  const isPlaced = ((counted ?? 0) & hasPlace) !== 0
  return { ...job, amount: amount ?? -1, token_id: token_id ?? 0, placed_on: isPlaced ? (hold_channel ?? 0) : 0 }
}

/**
 * Claims a job for the next poll. No other node can claim it before `until`. If several nodes try at once, only one
 * succeeds.
 */
export async function takeTurn(trx: Trx, { hold_id, poll_at }: BackgroundJob, until: number): Promise<boolean> {
  const taken = await trx
    .updateTable('background_jobs')
    .set({ poll_at: until })
    .where('hold_id', '=', hold_id)
    .where('poll_at', '=', poll_at)
    .executeTakeFirst()
  return Number(taken.numUpdatedRows) > 0
}

/** Records when to poll the service next, and how often the service responded that it has no such response. */
export async function askAgain(
  trx: Trx,
  holdId: string,
  { poll_at, missing }: Pick<BackgroundJob, 'poll_at' | 'missing'>,
): Promise<void> {
  await trx.updateTable('background_jobs').set({ poll_at, missing }).where('hold_id', '=', holdId).execute()
}

/**
 * Claims a job in order to charge it. No other node can do so before `until`. If several nodes try at once, only one
 * succeeds.
 */
export async function takeSettling(trx: Trx, holdId: string, now: number, until: number): Promise<boolean> {
  const taken = await trx
    .updateTable('background_jobs')
    .set({ settle_until: until })
    .where('hold_id', '=', holdId)
    .where('settle_until', '<=', now)
    .executeTakeFirst()
  return Number(taken.numUpdatedRows) > 0
}

/** Deletes a job. Its hold must be closed. */
export async function removeJob(trx: Trx, holdId: string): Promise<void> {
  await trx.deleteFrom('background_jobs').where('hold_id', '=', holdId).execute()
}
