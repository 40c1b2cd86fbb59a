import { isObject, type JsonObject } from '../../lib/json.ts'
import { anthropicWords } from '../failures/context-length.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/** Error types of Anthropic's API (docs, "Errors"). */
const kinds: Readonly<Record<string, FailureKind>> = {
  invalid_request_error: 'invalid',
  authentication_error: 'authentication',
  billing_error: 'billing',
  permission_error: 'permission',
  not_found_error: 'not-found',
  request_too_large: 'too-large',
  rate_limit_error: 'rate-limit',
  timeout_error: 'timeout',
  overloaded_error: 'overloaded',
  api_error: 'server',
}

const statuses: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  authentication: 401,
  billing: 402,
  permission: 403,
  'not-found': 404,
  'too-large': 413,
  'context-length': 400,
  'rate-limit': 429,
  quota: 403,
  timeout: 504,
  overloaded: 529,
  server: 500,
}

/** An Anthropic error body or error event. Status 0 means that the status is unknown. */
export function decodeFailure(status: number, body: unknown): Failure {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : undefined
  const type = looseText(error?.['type'])
  const kind = kinds[type] ?? kindOfStatus(status)
  return {
    status: status || statuses[kind],
    kind,
    message: messageOf(body, status),
    ...(type && { type, code: type }),
    ...(isObject(error?.['details']) && { details: error['details'] }),
    dialect: 'anthropic-messages',
  }
}

const types: Readonly<Record<FailureKind, string>> = {
  invalid: 'invalid_request_error',
  authentication: 'authentication_error',
  billing: 'billing_error',
  permission: 'permission_error',
  'not-found': 'not_found_error',
  'too-large': 'request_too_large',
  'context-length': 'invalid_request_error',
  'rate-limit': 'rate_limit_error',
  quota: 'permission_error',
  timeout: 'timeout_error',
  overloaded: 'overloaded_error',
  server: 'api_error',
}

/** An error in the form that an Anthropic caller expects. */
export function encodeFailure(failure: Failure, requestId: string): JsonObject {
  return {
    type: 'error',
    error: {
      type: types[failure.kind],
      message: failure.kind === 'context-length' ? anthropicWords(failure) : failure.message,
      ...(failure.details && { details: failure.details }),
    },
    request_id: requestId,
  }
}
