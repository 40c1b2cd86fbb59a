import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { LogSinksTable } from '../schema/log-sink-tables.ts'
import type { Db, Store } from '../store.ts'
import type { LogRow } from './log-pages.ts'

export type LogSinkState = Selectable<LogSinksTable>

/**
 * If no process has copied rows to a sink for this long, the sink counts as no longer in use. Rows that it has not
 * received are then deleted without being counted as lost.
 */
const forgottenSeconds = 7 * 86_400

/**
 * Takes or extends the right to copy the log to a sink until `until` (epoch seconds). Returns the state of the sink;
 * undefined if another process has the right.
 */
export async function holdSink(
  store: Store,
  { name, holder, now, until }: { name: string; holder: string; now: number; until: number },
): Promise<LogSinkState | undefined> {
  return store.write((trx) =>
    trx
      .insertInto('log_sinks')
      .values({ name, holder, held_until: until, ...newSink })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ holder, held_until: until })
          .where((eb) =>
            eb.or([
              eb('log_sinks.holder', '=', holder),
              eb('log_sinks.held_until', '<', now),
              eb('log_sinks.holder', '=', ''),
            ]),
          ),
      )
      .returningAll()
      .executeTakeFirst(),
  )
}

const newSink = {
  sent_to: 0,
  sending_to: 0,
  sent_rows: 0,
  sent_at: 0,
  lost_rows: 0,
  lost_at: 0,
  error: '',
  failed_at: 0,
}

/** The rows with ids above `after` and up to `upTo`, in id order. */
export function unsentRows(
  store: Store,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<LogRow[]> {
  return store.read
    .selectFrom('logs')
    .selectAll()
    .where('id', '>', after)
    .where('id', '<=', upTo)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Records that the sink has the rows up to `to`. False if another process now has the right to copy. */
export async function advanceSink(
  store: Store,
  {
    name,
    holder,
    to,
    rows,
    now,
    until,
  }: { name: string; holder: string; to: number; rows: number; now: number; until: number },
): Promise<boolean> {
  const changed = await store.write((trx) =>
    trx
      .updateTable('log_sinks')
      .set((eb) => ({
        sent_to: to,
        sent_rows: eb('sent_rows', '+', rows),
        sent_at: now,
        held_until: until,
        error: '',
      }))
      .where('name', '=', name)
      .where('holder', '=', holder)
      .returning('name')
      .executeTakeFirst(),
  )
  return changed !== undefined
}

/** Records the start of an attempt to send the rows up to `to`. False if another process now has the right to copy. */
export async function beginSending(
  store: Store,
  { name, holder, to }: { name: string; holder: string; to: number },
): Promise<boolean> {
  const changed = await store.write((trx) =>
    trx
      .updateTable('log_sinks')
      .set({ sending_to: to })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .returning('name')
      .executeTakeFirst(),
  )
  return changed !== undefined
}

/** Records why the last attempt to copy to the sink failed. */
export async function failSink(store: Store, name: string, error: string, now: number): Promise<void> {
  await store.write((trx) =>
    trx.updateTable('log_sinks').set({ error, failed_at: now }).where('name', '=', name).execute(),
  )
}

/** Gives up the right to copy, so that another process can continue at once. */
export async function releaseSink(store: Store, name: string, holder: string): Promise<void> {
  await store.write((trx) =>
    trx
      .updateTable('log_sinks')
      .set({ holder: '', held_until: 0 })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .execute(),
  )
}

export function sinkState(db: Db, name: string): Promise<LogSinkState | undefined> {
  return db.selectFrom('log_sinks').selectAll().where('name', '=', name).executeTakeFirst()
}

/** The approximate number of rows that have not been copied to a sink yet. */
export async function sinkBacklog(db: Db, { sent_to }: Pick<LogSinkState, 'sent_to'>): Promise<number> {
  const { rows } = await sql<{ rows: number }>`
    select coalesce((select max(id) from logs), 0) - ${sent_to} as rows`.execute(db)
  return Math.max(0, Number(rows[0]?.rows ?? 0))
}

/**
 * Counts lost rows for each sink in use. Lost rows are those that are about to be deleted and have not yet been copied
 * to the sink.
 */
export async function countUnsent(store: Store, which: RawBuilder<SqlBool>, now: number): Promise<void> {
  const sinks = await store.read
    .selectFrom('log_sinks')
    .select(['name', 'sent_to'])
    .where('held_until', '>', now - forgottenSeconds)
    .execute()
  for (const { name, sent_to } of sinks) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from logs where id > ${sent_to} and ${which}`.execute(store.read)
    const count = Number(rows[0]?.count ?? 0)
    if (count === 0) continue
    await store.write((trx) =>
      trx
        .updateTable('log_sinks')
        .set((eb) => ({ lost_rows: eb('lost_rows', '+', count), lost_at: now }))
        .where('name', '=', name)
        .execute(),
    )
  }
}
