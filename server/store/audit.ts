import type { Selectable } from 'kysely'
import type { Listed, Page } from './page.ts'
import { idOf, startsWith } from './search.ts'
import type { Db, Trx } from './store.ts'
import type { AuditEventsTable } from './tables.ts'

/** Something that a person did to the installation. Secrets never stand in `detail`. */
export interface AuditEvent {
  created_at: number
  /** 0 when nobody is logged in. */
  actor_id: number
  actor_name: string
  /** What was done, as `object.verb`: `channel.update`. */
  action: string
  /** To what: `channel 7`. */
  target: string
  detail: string
  ip: string
}

const maxDetail = 1000

/** Writes the trail in the transaction of the change itself, so that there is no change without its record. */
export async function recordAudit(trx: Trx, event: AuditEvent): Promise<void> {
  await trx
    .insertInto('audit_events')
    .values({ ...event, detail: event.detail.slice(0, maxDetail) })
    .execute()
}

/** Which events; 0 and '' mean any. Times are inclusive. */
export interface AuditFilter {
  /** A user name or the number of a user. */
  actor: string
  /** How the action begins. */
  action: string
  start_timestamp: number
  end_timestamp: number
}

/** Counting stops here, as for logs. */
const maxCount = 100_000

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

/** Number 0 stands for everybody who was not logged in, so it is nobody's. */
function actorId(actor: string): number {
  return idOf(actor) || -1
}

export async function listAudit(
  db: Db,
  filter: AuditFilter,
  page: Page<'id' | 'created_at'>,
): Promise<Listed<Selectable<AuditEventsTable>>> {
  const direction = page.descending ? 'desc' : 'asc'
  const rows = await matching(db, filter)
    .selectAll()
    .orderBy(page.sort, direction)
    .orderBy('id', direction)
    .offset(page.offset)
    .limit(page.limit)
    .execute()
  const counted = await db
    .selectFrom(matching(db, filter).select('id').limit(maxCount).as('found'))
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { rows, total: Number(counted.total) }
}
