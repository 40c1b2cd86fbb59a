import { isDeepStrictEqual } from 'node:util'
import type { AuditAction } from '../../contract/audit-actions.ts'
import type { Person } from '../http/app-env.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { isObject, tryParse } from '../lib/json.ts'
import type { AuditEvent } from '../store/installation/audit.ts'

/** The person who makes a change, and their IP address. */
export interface Actor {
  person: Pick<Person, 'id' | 'username' | 'role'>
  clientAddress: string
}

/** The record of the caller's action; `detail` must not contain secrets. */
export function auditEvent(
  clock: Clock,
  call: { person: Pick<Person, 'id' | 'username'>; clientAddress: string },
  action: AuditAction,
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

/** Lists the fields of a new object by name, with values for the fields in `shown`. */
export function describeFields(fields: Values, shown: readonly string[]): string {
  return Object.entries(fields)
    .map(([name, value]) => (shown.includes(name) ? `${name}=${short(value)}` : name))
    .join(' ')
}

/**
 * Lists the names of the fields whose values in `fields` differ from those in `before`. For the fields in `shown`, the
 * old and the new value are added.
 */
export function describeChange(before: Values, fields: Values, shown: readonly string[]): string {
  return Object.entries(fields)
    .map(([name, value]) => ({ name, old: typeof value === 'boolean' ? Boolean(before[name]) : before[name], value }))
    .filter(({ name, old, value }) => old !== value && !(jsonFields.has(name) && meansTheSame(old, value)))
    .map(({ name, old, value }) => (shown.includes(name) ? `${name}=${short(old)} → ${short(value)}` : name))
    .join(' ')
}

/** Fields whose text is a JSON object. */
const jsonFields = new Set(['model_mapping', 'config'])

/** Whether two JSON texts are objects with the same entries. An empty text counts as an object without entries. */
function meansTheSame(one: unknown, other: unknown): boolean {
  const objects = [objectOf(one), objectOf(other)]
  return objects.every((each) => each !== undefined) && isDeepStrictEqual(objects[0], objects[1])
}

function objectOf(value: unknown): object | undefined {
  if (value === '') return {}
  const object = typeof value === 'string' && value.trimStart().startsWith('{') ? tryParse(value) : undefined
  return isObject(object) ? object : undefined
}

const longestValue = 200

/** A value as the audit log shows it. A long text is truncated, because the rest adds no information. */
function short(value: unknown): string {
  const text = typeof value === 'string' && value.length > longestValue ? `${value.slice(0, longestValue)}…` : value
  return JSON.stringify(text ?? null)
}
