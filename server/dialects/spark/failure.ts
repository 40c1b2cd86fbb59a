import { isObject, type JsonObject } from '../../lib/json.ts'
import { decodeFailure } from '../failures/openai-failure.ts'
import { clockHint, serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseObject, looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/** Spark's error codes (Spark docs, "Error codes"). */
const kinds: Readonly<Record<number, FailureKind>> = {
  10000: 'server',
  10001: 'server',
  10002: 'server',
  10003: 'invalid',
  10004: 'invalid',
  10005: 'invalid',
  10006: 'rate-limit',
  10007: 'rate-limit',
  10008: 'overloaded',
  10009: 'server',
  10010: 'overloaded',
  10011: 'server',
  10012: 'server',
  10013: 'invalid',
  10014: 'invalid',
  10015: 'permission',
  10016: 'permission',
  10019: 'invalid',
  10110: 'overloaded',
  10163: 'invalid',
  10222: 'server',
  10907: 'context-length',
  11200: 'permission',
  11201: 'billing',
  11202: 'rate-limit',
  11203: 'rate-limit',
  11210: 'billing',
}

/** The error in a frame, or in an HTTP response with status 200; undefined if it contains none. */
export function failureWithin(wire: JsonObject): Failure | undefined {
  const header = isObject(wire['header']) ? wire['header'] : isObject(wire['error']) ? wire['error'] : wire
  const code = Number(header['code'] ?? 0)
  if (!Number.isInteger(code) || code === 0) return undefined
  const message = looseText(header['message']) || looseText(header['msg'])
  return serviceFailure(0, kinds[code] ?? 'server', message, String(code))
}

/** An error body from the service, or from the API gateway in front of it, which checks signatures. */
export function failureIn(status: number, body: unknown): Failure {
  const object = looseObject(body)
  const within = failureWithin(object)
  if (within) return { ...within, status: status >= 400 ? status : within.status }
  if (isObject(object['error'])) return decodeFailure(status, body)
  const message = messageOf(body, status)
  if (status !== 401 && status !== 403) return serviceFailure(status, kindOfStatus(status), message, '')
  const isClock = /\bdate\b|clock|expire/i.test(message)
  return serviceFailure(status, 'authentication', isClock ? `${message} (${clockHint})` : message, '')
}
