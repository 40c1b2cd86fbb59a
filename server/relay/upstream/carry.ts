import type { ParameterOperation } from '../../../contract/api/channel-carries.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { Target } from '../../providers/provider.ts'
import type { Carries } from '../routing/carries.ts'
import { jsonTextOf, type Prepared, written } from './prepare.ts'

/**
 * Applies the channel's parameters to a prepared request. Forms, and bodies that are not JSON objects, are not changed.
 */
export function withParameters(prepared: Prepared, { parameters }: Carries): Prepared {
  const text = parameters && jsonTextOf(prepared.body)
  if (!parameters || text === undefined) return prepared
  const body = tryParse(text)
  if (!isObject(body)) return prepared
  for (const operation of parameters) apply(body, operation)
  return { ...prepared, body: written(body) }
}

/** Applies one operation to a body. If the path contains a value that is not an object, nothing is changed. */
function apply(body: JsonObject, { op, path, value }: ParameterOperation): void {
  const names = path.split('.')
  const last = names.pop() ?? ''
  let owner = body
  for (const name of names) {
    const next = Object.hasOwn(owner, name) ? owner[name] : undefined
    if (isObject(next)) owner = next
    else if (next === undefined && (op === 'set' || op === 'default')) {
      const made: JsonObject = {}
      owner[name] = made
      owner = made
    } else return
  }
  const has = Object.hasOwn(owner, last)
  const present = has ? owner[last] : undefined
  if (op === 'drop') {
    if (has) delete owner[last]
  } else if (op === 'set' || (op === 'default' && (present === undefined || present === null))) {
    // The value is copied, because a later operation may change its content, and the change must not affect the next
    // call.
    owner[last] = structuredClone(value)
  } else if (op !== 'cap') return
  else if (typeof present === 'number' && present > Number(value)) owner[last] = value
}

/** Adds the channel's headers to a target. They replace headers of the target that have the same name. */
export function withHeaders(target: Target, { headers }: Carries): Target {
  if (!headers) return target
  const kept = Object.entries(target.headers).filter(([name]) => !Object.hasOwn(headers, name.toLowerCase()))
  return { url: target.url, headers: { ...Object.fromEntries(kept), ...headers } }
}

/** Replaces the error status of a response if the channel's settings map it to another status. */
export function withStatus(response: Response, { statuses }: Carries): Response {
  const status = response.ok ? undefined : statuses?.get(response.status)
  if (status === undefined) return response
  return new Response(response.body, { status, headers: response.headers })
}
