import { isObject, type JsonObject } from '../../lib/json.ts'
import { decodeFailure } from '../failures/openai-failure.ts'
import { clockHint, serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseObject, looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/** Prefixes of Tencent's error codes, with longer prefixes first (Hunyuan API reference, "Error codes"). */
const kinds: readonly (readonly [prefix: string, kind: FailureKind])[] = [
  ['AuthFailure.UnauthorizedOperation', 'permission'],
  ['AuthFailure', 'authentication'],
  ['UnauthorizedOperation', 'permission'],
  ['RequestLimitExceeded', 'rate-limit'],
  ['LimitExceeded', 'rate-limit'],
  ['FailedOperation.EngineServerLimitExceeded', 'rate-limit'],
  ['FailedOperation.EngineRequestTimeout', 'timeout'],
  ['FailedOperation.FreeResourcePackExhausted', 'billing'],
  ['FailedOperation.ResourcePackExhausted', 'billing'],
  ['FailedOperation.ServiceNotActivated', 'billing'],
  ['FailedOperation.ServiceStop', 'billing'],
  ['ResourceInsufficient', 'billing'],
  ['ResourceUnavailable', 'overloaded'],
  ['ResourceNotFound', 'not-found'],
  ['InvalidParameter', 'invalid'],
  ['MissingParameter', 'invalid'],
  ['UnknownParameter', 'invalid'],
  ['UnsupportedOperation', 'invalid'],
  ['OperationDenied', 'permission'],
]

/** The error in a response or event with status 200; undefined if it contains none. */
export function failureWithin(wire: JsonObject): Failure | undefined {
  const answer = isObject(wire['Response']) ? wire['Response'] : wire
  const error = answer['Error']
  if (isObject(error)) return failureOf(looseText(error['Code']), looseText(error['Message']))
  const late = answer['ErrorMsg']
  if (!isObject(late) || (!late['Code'] && !late['Msg'])) return undefined
  return serviceFailure(0, 'server', looseText(late['Msg']), String(late['Code'] ?? ''))
}

function failureOf(code: string, message: string): Failure {
  const kind = kinds.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'server'
  const isClock = code === 'AuthFailure.SignatureExpire' || /timestamp/i.test(message)
  return serviceFailure(0, kind, isClock && kind === 'authentication' ? `${message} (${clockHint})` : message, code)
}

/** A Tencent error body. */
export function failureIn(status: number, body: unknown): Failure {
  const object = looseObject(body)
  const within = failureWithin(object)
  if (within) return { ...within, status: status >= 400 ? status : within.status }
  return isObject(object['error'])
    ? decodeFailure(status, body)
    : serviceFailure(status, kindOfStatus(status), messageOf(body, status), '')
}
