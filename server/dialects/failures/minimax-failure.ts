import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'
import { decodeFailure } from './openai-failure.ts'
import { serviceFailure } from './service-failure.ts'

/** MiniMax's error codes, which arrive with status 200 (MiniMax docs, "Error codes"). */
const kinds: Readonly<Record<number, FailureKind>> = {
  1001: 'timeout',
  1002: 'rate-limit',
  1004: 'authentication',
  1008: 'billing',
  1026: 'invalid',
  1027: 'invalid',
  1039: 'invalid',
  2013: 'invalid',
  2049: 'authentication',
}

/** The error in a response with status 200; undefined if it contains none. */
export function minimaxFailureWithin(wire: JsonObject): Failure | undefined {
  const baseResponse = wire['base_resp']
  const code = isObject(baseResponse) ? Number(baseResponse['status_code'] ?? 0) : 0
  if (!isObject(baseResponse) || !code) return undefined
  return serviceFailure(0, kinds[code] ?? 'server', looseText(baseResponse['status_msg']), String(code))
}

/** A MiniMax error body. */
export function minimaxFailure(status: number, body: unknown): Failure {
  const within = isObject(body) ? minimaxFailureWithin(body) : undefined
  return within ? { ...within, status: status >= 400 ? status : within.status } : decodeFailure(status, body)
}
