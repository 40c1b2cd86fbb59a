import type { Selectable } from 'kysely'
import type { AuditEventsTable } from '../schema/tables.ts'
import { idOf, startsWith } from '../statements/conditions.ts'
import { type Listed, listPage, mostCounted, type Page } from '../statements/page.ts'
import type { Db, Store, Trx } from '../store.ts'

/** A record of something that a person did in the installation. `detail` never contains secrets. */
export type AuditEvent = Omit<Selectable<AuditEventsTable>, 'id'>

const maxDetail = 1000

/** Writes an audit event in the transaction of the change itself, so that no change lacks its record. */
export async function recordAudit(trx: Trx, event: AuditEvent): Promise<void> {
  await trx
    .insertInto('audit_events')
    .values({ ...event, detail: event.detail.slice(0, maxDetail) })
    .execute()
}

/** Filters the listed events. 0 and '' mean any. Times are inclusive. */
export interface AuditFilter {
  /** A user name or a user's id. */
  actor: string
  /** Prefix of the action. */
  action: string
  start_timestamp: number
  end_timestamp: number
}

function matching(db: Db, filter: AuditFilter) {
  let query = db.selectFrom('audit_events')
  if (filter.actor !== '') {
    query = query.where((eb) =>
      eb.or([eb('actor_name', '=', filter.actor), eb('actor_id', '=', actorId(filter.actor))]),
    )
  }
  if (filter.action !== '') query = query.where((eb) => startsWith(eb.ref('action'), filter.action))
  if (filter.start_timestamp) query = query.where('created_at', '>=', filter.start_timestamp)
  if (filter.end_timestamp) query = query.where('created_at', '<=', filter.end_timestamp)
  return query
}

/**
 * The id to search for. Events of people who were not logged in have the id 0, so a search for user 0 must find none.
 */
function actorId(actor: string): number {
  return idOf(actor) || -1
}

export function listAudit(
  db: Db,
  filter: AuditFilter,
  page: Page<'id' | 'created_at'>,
): Promise<Listed<Selectable<AuditEventsTable>>> {
  return listPage(db, matching(db, filter), (query) => query.selectAll(), page, mostCounted)
}

/**
 * The event from which the balance check learns that balances may be negative. Without it, correct balances would be
 * reported as faults.
 */
export const policyChange = { action: 'option.update', target: 'QuotaPolicy' }

const purgedPerStep = 500

/**
 * Deletes the events older than `before` (epoch seconds) in batches, and waits for `pause` between them. Changes of the
 * quota policy are rare and are kept forever.
 */
export async function purgeAudit(store: Store, before: number, pause: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const result = await store.write((trx) =>
      trx
        .deleteFrom('audit_events')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('audit_events')
            .select('id')
            .where('created_at', '<', before)
            .where((event) => event.not(event.and(policyChange)))
            .orderBy('created_at')
            .limit(purgedPerStep),
        )
        .executeTakeFirst(),
    )
    if (result.numDeletedRows < BigInt(purgedPerStep)) return
    await pause()
  }
}
