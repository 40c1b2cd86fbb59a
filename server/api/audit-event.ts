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

type Values = Readonly<Record<string, unknown>>

/** Names the fields that are written first, with the values of those in `shown`. */
export function describeFields(fields: Values, shown: readonly string[]): string {
  return Object.entries(fields)
    .map(([name, value]) => (shown.includes(name) ? `${name}=${short(value)}` : name))
    .join(' ')
}

/** Names the fields that a change makes different from `before`, with old and new value of those in `shown`. */
export function describeChange(before: Values, fields: Values, shown: readonly string[]): string {
  return Object.entries(fields)
    .map(([name, value]) => ({ name, old: typeof value === 'boolean' ? Boolean(before[name]) : before[name], value }))
    .filter(({ old, value }) => old !== value)
    .map(({ name, old, value }) => (shown.includes(name) ? `${name}=${short(old)} → ${short(value)}` : name))
    .join(' ')
}

const longestValue = 200

/** A value as the trail shows it; the rest of a long text says nothing more. */
function short(value: unknown): string {
  const text = typeof value === 'string' && value.length > longestValue ? `${value.slice(0, longestValue)}…` : value
  return JSON.stringify(text ?? null)
}
