import { isObject, type JsonObject } from '../../lib/json.ts'
import { decodeFailure } from '../failures/openai-failure.ts'
import { serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/** Baidu's error codes, which arrive with status 200 (Qianfan docs, "Error codes"). */
const kinds: Readonly<Record<number, FailureKind>> = {
  1: 'server',
  2: 'overloaded',
  3: 'not-found',
  4: 'rate-limit',
  6: 'permission',
  13: 'authentication',
  14: 'authentication',
  15: 'authentication',
  17: 'rate-limit',
  18: 'rate-limit',
  19: 'billing',
  110: 'authentication',
  111: 'authentication',
  336000: 'server',
  336004: 'permission',
  336005: 'billing',
  336100: 'overloaded',
  336117: 'server',
  336501: 'rate-limit',
  336502: 'rate-limit',
}

/** The error in a response with status 200; undefined if it contains none. */
export function failureWithin(wire: JsonObject): Failure | undefined {
  const code = Number(wire['error_code'] ?? 0)
  if (!code) return undefined
  // Most other codes of the model service describe a problem with the request.
  const kind = kinds[code] ?? (code >= 336_001 && code < 337_000 ? 'invalid' : 'server')
  return serviceFailure(0, kind, looseText(wire['error_msg']), String(code))
}

/** A Baidu error body, from the model service or the token service. */
export function failureIn(status: number, body: unknown): Failure {
  const within = isObject(body) ? failureWithin(body) : undefined
  if (within) return { ...within, status: status >= 400 ? status : within.status }
  const description = isObject(body) ? looseText(body['error_description']) : ''
  if (description)
    return serviceFailure(status, kindOfStatus(status), description, looseText((body as JsonObject)['error']))
  return isObject(body) && isObject(body['error'])
    ? decodeFailure(status, body)
    : serviceFailure(status, kindOfStatus(status), messageOf(body, status), '')
}
