import { isObject, type JsonObject } from '../../lib/json.ts'
import { decodeFailure } from '../failures/openai-failure.ts'
import { serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseObject, looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/** Prefixes of DashScope's error codes (Model Studio docs, "Error codes"). */
const kinds: readonly (readonly [prefix: string, kind: FailureKind])[] = [
  ['InvalidApiKey', 'authentication'],
  ['Arrearage', 'billing'],
  ['Throttling', 'rate-limit'],
  ['LimitRequests', 'rate-limit'],
  ['PrepaidBillOverdue', 'billing'],
  ['PostpaidBillOverdue', 'billing'],
  ['CommodityNotPurchased', 'billing'],
  ['AccessDenied', 'permission'],
  ['Model.AccessDenied', 'permission'],
  ['Workspace.AccessDenied', 'permission'],
  ['ModelNotFound', 'not-found'],
  ['model_not_found', 'not-found'],
  ['InvalidParameter', 'invalid'],
  ['InvalidURL', 'invalid'],
  ['BadRequest', 'invalid'],
  ['DataInspectionFailed', 'invalid'],
  ['ModelServingError', 'overloaded'],
  ['ModelUnavailable', 'overloaded'],
  ['RequestTimeOut', 'timeout'],
  ['ResponseTimeout', 'timeout'],
]

/** The error in a response or event with status 200; undefined if it contains none. */
export function failureWithin(wire: JsonObject): Failure | undefined {
  const code = looseText(wire['code'])
  if (code === '' || isObject(wire['output'])) return undefined
  const kind = kinds.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'server'
  return serviceFailure(0, kind, looseText(wire['message']), code)
}

/** An error body from DashScope or from its OpenAI-compatible API. */
export function failureIn(status: number, body: unknown): Failure {
  const object = looseObject(body)
  if (isObject(object['error'])) return decodeFailure(status, body)
  const code = looseText(object['code'])
  const kind = kinds.find(([prefix]) => code.startsWith(prefix))?.[1] ?? kindOfStatus(status)
  return serviceFailure(status, kind, messageOf(body, status), code)
}
