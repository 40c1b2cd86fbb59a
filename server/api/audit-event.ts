import type { Person } from '../http/app-env.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { AuditEvent } from '../store/audit.ts'

/** The record of what the caller does; `detail` must not hold secrets. */
export function auditEvent(
  clock: Clock,
  call: { person: Pick<Person, 'id' | 'username'>; clientAddress: string },
  action: string,
  target: string,
  detail = '',
): AuditEvent {
  return {
    created_at: epochSeconds(clock),
    actor_id: call.person.id,
    actor_name: call.person.username,
    action,
    target,
    detail,
    ip: call.clientAddress,
  }
}

/** Names the fields that a change writes, with the values of those in `shown`. */
export function describeChange(fields: Readonly<Record<string, unknown>>, shown: readonly string[]): string {
  return Object.entries(fields)
    .map(([name, value]) => (shown.includes(name) ? `${name}=${JSON.stringify(value)}` : name))
    .join(' ')
}
