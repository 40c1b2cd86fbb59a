import type { Trx } from './store.ts'

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
