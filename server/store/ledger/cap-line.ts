import { sql } from 'kysely'
import type { Db, Store } from '../store.ts'

/** For this many milliseconds after the last report of its process, a call counts as waiting for a channel. */
const waitLeaseMs = 3000

/**
 * The current time in epoch milliseconds. On PostgreSQL it is the database's time, which all nodes share. On SQLite it
 * is the given time.
 */
function nowOf({ dialect }: Pick<Store, 'dialect'>, nowMs: number) {
  return dialect === 'postgres'
    ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`${nowMs}`
}

/** Records that the calls of a process are still waiting. */
export async function sayWaiting(store: Store, nodeId: string, nowMs: number): Promise<void> {
  await store.writeSoon((db) =>
    db
      .updateTable('cap_waits')
      .set({ seen_ms: nowOf(store, nowMs) })
      .where('node_id', '=', nodeId),
  )
}

/** Removes a call from the queue. */
export async function leaveLine(store: Store, ticket: number): Promise<void> {
  await store.writeSoon((db) => db.deleteFrom('cap_waits').where('ticket', '=', ticket))
}

/** Removes the calls of processes that no longer report that they wait. */
export async function forgetWaiting(store: Store, nowMs: number): Promise<void> {
  await store.writeSoon((db) =>
    db.deleteFrom('cap_waits').where('seen_ms', '<', sql<number>`${nowOf(store, nowMs)} - ${10 * waitLeaseMs}`),
  )
}

/** The number of calls that wait for each channel. A call that could use several channels waits for each of them. */
export async function waitingByChannel(
  store: Pick<Store, 'dialect'> & { read: Db },
  nowMs: number,
): Promise<Map<number, number>> {
  const rows = await store.read
    .selectFrom('cap_waits')
    .select((eb) => ['channel_id', eb.fn.countAll<number>().as('calls')])
    .where('seen_ms', '>', sql<number>`${nowOf(store, nowMs)} - ${waitLeaseMs}`)
    .groupBy('channel_id')
    .execute()
  return new Map(rows.map(({ channel_id, calls }) => [channel_id, Number(calls)]))
}
