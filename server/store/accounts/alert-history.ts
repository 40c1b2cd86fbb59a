import type { Insertable, Selectable, Updateable } from 'kysely'
import type { AlertLanguage } from '../../../contract/alert-text.ts'
import type { AlertDeliveriesTable, AlertEventsTable } from '../schema/alert-tables.ts'
import { type Listed, listPage, type Page } from '../statements/page.ts'
import type { Db, Store, Trx } from '../store.ts'

export type AlertEventRow = Selectable<AlertEventsTable>
export type AlertDeliveryRow = Selectable<AlertDeliveriesTable>

/** An event with its deliveries. */
export interface AlertHistoryRow extends AlertEventRow {
  deliveries: AlertDeliveryRow[]
}

/** Records a message, and a delivery of it for each destination. */
export async function addAlertEvent(
  trx: Trx,
  event: Insertable<AlertEventsTable>,
  deliveries: readonly Omit<Insertable<AlertDeliveriesTable>, 'event_id'>[],
): Promise<void> {
  const { id } = await trx.insertInto('alert_events').values(event).returning('id').executeTakeFirstOrThrow()
  if (deliveries.length === 0) return
  await trx
    .insertInto('alert_deliveries')
    .values(deliveries.map((delivery) => ({ ...delivery, event_id: id })))
    .execute()
}

/** The number of messages that an owner's rules have made since a time. Counting stops at `most`. */
export async function countAlertEvents(db: Db, ownerId: number, since: number, most: number): Promise<number> {
  const rows = await db
    .selectFrom('alert_events')
    .select('created_at')
    .where('owner_id', '=', ownerId)
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  return rows.filter(({ created_at }) => created_at >= since).length
}

/** The messages of an owner's rules, with their deliveries. */
export async function listAlertHistory(db: Db, ownerId: number, page: Page<'id'>): Promise<Listed<AlertHistoryRow>> {
  const matching = db.selectFrom('alert_events').where('owner_id', '=', ownerId)
  const { rows, total } = await listPage(db, matching, (query) => query.selectAll(), page)
  const deliveries =
    rows.length === 0
      ? []
      : await db
          .selectFrom('alert_deliveries')
          .selectAll()
          .where(
            'event_id',
            'in',
            rows.map(({ id }) => id),
          )
          .orderBy('id')
          .execute()
  const byEvent = Map.groupBy(deliveries, ({ event_id }) => event_id)
  return { rows: rows.map((row) => ({ ...row, deliveries: byEvent.get(row.id) ?? [] })), total }
}

/** A delivery that is due, with its message. */
export type DueDelivery = AlertDeliveryRow &
  Pick<AlertEventRow, 'owner_id' | 'event' | 'title' | 'text' | 'rule_name' | 'target' | 'created_at'> & {
    /** The language of the rule; null if the rule was deleted. */
    language: AlertLanguage | null
  }

/** Deliveries that are due. The ones that have waited longest come first. */
export function dueDeliveries(db: Db, now: number, limit: number): Promise<DueDelivery[]> {
  return db
    .selectFrom('alert_deliveries')
    .innerJoin('alert_events', 'alert_events.id', 'alert_deliveries.event_id')
    .leftJoin('alert_rules', 'alert_rules.id', 'alert_events.rule_id')
    .selectAll('alert_deliveries')
    .select([
      'alert_events.owner_id',
      'alert_events.event',
      'alert_events.title',
      'alert_events.text',
      'alert_events.rule_name',
      'alert_events.target',
      'alert_events.created_at',
      'alert_rules.language',
    ])
    .where('alert_deliveries.status', 'in', ['waiting', 'held'])
    .where('alert_deliveries.next_at', '<=', now)
    .orderBy('alert_deliveries.next_at')
    .orderBy('alert_deliveries.id')
    .limit(limit)
    .execute()
}

/**
 * Claims deliveries for one attempt. Until `nextAt`, no other process finds them due. Returns the ids that no other
 * process had claimed.
 */
export async function claimDeliveries(
  trx: Trx,
  deliveries: readonly Pick<AlertDeliveryRow, 'id' | 'next_at'>[],
  nextAt: number,
): Promise<number[]> {
  const claimed: number[] = []
  for (const { id, next_at } of [...deliveries].sort((a, b) => a.id - b.id)) {
    const row = await trx
      .updateTable('alert_deliveries')
      .set((eb) => ({ next_at: nextAt, attempts: eb('attempts', '+', 1) }))
      .where('id', '=', id)
      .where('next_at', '=', next_at)
      .where('status', 'in', ['waiting', 'held'])
      .returning('id')
      .executeTakeFirst()
    if (row) claimed.push(row.id)
  }
  return claimed
}

/** Records the result of an attempt to send a message, both in the given deliveries and in their destination. */
export async function recordAttempt(
  trx: Trx,
  ids: readonly number[],
  destinationId: number,
  result: Updateable<Pick<AlertDeliveriesTable, 'status' | 'next_at' | 'error'>> & { last_time: number; error: string },
): Promise<void> {
  await trx
    .updateTable('alert_deliveries')
    .set(result)
    .where('id', 'in', [...ids])
    .execute()
  await trx
    .updateTable('alert_destinations')
    .set({ last_time: result.last_time, last_error: result.error })
    .where('id', '=', destinationId)
    .execute()
}

const deletedAtOnce = 500

/**
 * Deletes messages from before a time, in small steps. `pause` is called between the steps so that other work can run.
 */
export async function purgeAlertHistory(store: Store, before: number, pause: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const deleted = await store.write(async (trx) => {
      const old = await trx
        .selectFrom('alert_events')
        .select('id')
        .where('created_at', '<', before)
        .orderBy('id')
        .limit(deletedAtOnce)
        .execute()
      if (old.length > 0)
        await trx
          .deleteFrom('alert_events')
          .where(
            'id',
            'in',
            old.map(({ id }) => id),
          )
          .execute()
      return old.length
    })
    if (deleted < deletedAtOnce) return
    await pause()
  }
}
