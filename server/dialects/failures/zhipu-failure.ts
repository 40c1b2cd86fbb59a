import { isObject } from '../../lib/json.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseObject } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'
import { clockHint, serviceFailure } from './service-failure.ts'

/** Zhipu's error codes (Zhipu docs, "Error codes"). */
const kinds: Readonly<Record<string, FailureKind>> = {
  1000: 'authentication',
  1001: 'authentication',
  1002: 'authentication',
  1003: 'authentication',
  1004: 'authentication',
  1110: 'permission',
  1111: 'permission',
  1112: 'permission',
  1113: 'billing',
  1120: 'server',
  1121: 'permission',
  1210: 'invalid',
  1211: 'not-found',
  1212: 'invalid',
  1213: 'invalid',
  1214: 'invalid',
  1215: 'invalid',
  1220: 'permission',
  1221: 'permission',
  1222: 'not-found',
  1230: 'server',
  1231: 'invalid',
  1234: 'server',
  1261: 'context-length',
  1301: 'invalid',
  1302: 'rate-limit',
  1303: 'rate-limit',
  1304: 'rate-limit',
  1305: 'overloaded',
  1308: 'rate-limit',
  1309: 'billing',
}

/** A Zhipu error. Its code is more specific than the status, which is 200 in the old format. */
export function zhipuFailure(status: number, body: unknown): Failure {
  const object = looseObject(Array.isArray(body) ? body[0] : body)
  const error = isObject(object['error']) ? object['error'] : object
  const code = String(error['code'] ?? '')
  const message = messageOf(isObject(object['error']) ? object : error, status)
  const kind = kinds[code] ?? kindOfStatus(status)
  const isClock = code === '1003'
  return serviceFailure(status, kind, isClock ? `${message} (${clockHint})` : message, code)
}
