import { isObject, type JsonObject } from '../../lib/json.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'
import { contextCode, openAiWords } from './context-length.ts'

/** OpenAI's error codes and types that are more specific than the status (OpenAI docs, "Error codes"). */
const kinds: Readonly<Record<string, FailureKind>> = {
  insufficient_quota: 'billing',
  permission_denied: 'permission',
  request_too_large: 'too-large',
  invalid_api_key: 'authentication',
  authentication_error: 'authentication',
  permission_error: 'permission',
  model_not_found: 'not-found',
  rate_limit_exceeded: 'rate-limit',
  context_length_exceeded: 'context-length',
  invalid_request_error: 'invalid',
  invalid_prompt: 'invalid',
  server_error: 'server',
  overloaded: 'overloaded',
  timeout: 'timeout',
}

/** The status for a kind of failure. */
export const statusOfKind: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  authentication: 401,
  billing: 429,
  permission: 403,
  'not-found': 404,
  'too-large': 413,
  'context-length': 400,
  'rate-limit': 429,
  quota: 403,
  timeout: 504,
  overloaded: 503,
  server: 500,
}

/** Decodes an OpenAI error body, or the error object of a stream event. Status 0 means that the status is unknown. */
export function decodeFailure(status: number, body: unknown): Failure {
  const object: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(object) ? (isObject(object['error']) ? object['error'] : object) : {}
  const code = typeof error['code'] === 'number' ? String(error['code']) : looseText(error['code'])
  const type = looseText(error['type'])
  const param = looseText(error['param'])
  // Some services with this format put the status into `code`, which is a word in OpenAI's errors.
  const named = Number(code)
  const meant = status || (named >= 400 && named <= 599 ? named : 0)
  const byStatus = meant === 0 || meant === 400 || meant === 429 ? undefined : kindOfStatus(meant)
  const kind = byStatus ?? kinds[code] ?? kinds[type] ?? kindOfStatus(meant)
  return {
    status: meant || statusOfKind[kind],
    kind,
    message: messageOf(isObject(object) && !isObject(object['error']) ? error : body, status),
    ...(code && { code }),
    ...(type && { type }),
    ...(param && { param }),
    dialect: 'openai-chat',
  }
}

/** OpenAI's `type` for a kind of failure. */
export const typeOfKind: Readonly<Record<FailureKind, string>> = {
  invalid: 'invalid_request_error',
  authentication: 'invalid_request_error',
  billing: 'insufficient_quota',
  permission: 'invalid_request_error',
  'not-found': 'invalid_request_error',
  'too-large': 'invalid_request_error',
  'context-length': 'invalid_request_error',
  'rate-limit': 'rate_limit_error',
  quota: 'insufficient_quota',
  timeout: 'server_error',
  overloaded: 'server_error',
  server: 'server_error',
}

/** OpenAI's `code` for a kind of failure. */
export const codeOfKind: Readonly<Record<FailureKind, string>> = {
  invalid: 'invalid_request',
  authentication: 'invalid_api_key',
  billing: 'insufficient_quota',
  permission: 'permission_denied',
  'not-found': 'model_not_found',
  'too-large': 'request_too_large',
  'context-length': contextCode,
  'rate-limit': 'rate_limit_exceeded',
  quota: 'insufficient_quota',
  timeout: 'timeout',
  overloaded: 'overloaded',
  server: 'server_error',
}

/**
 * The error object for an OpenAI caller. The message contains the request id, so that the call can be found in the
 * logs.
 */
export function errorOut(
  failure: Failure,
  requestId: string,
): { message: string; type: string; param: string | null; code: string } {
  const { kind, param = null, dialect } = failure
  const message = kind === 'context-length' ? openAiWords(failure) : failure.message
  // The code of another service is useless to a client program that handles only OpenAI's codes.
  const own = dialect === undefined || dialect === 'openai-chat' ? failure : undefined
  return {
    message: `${message} (request id: ${requestId})`,
    type: own?.type ?? typeOfKind[kind],
    param,
    code: own?.code ?? codeOfKind[kind],
  }
}

/** An error body for an OpenAI caller. */
export function encodeFailure(failure: Failure, requestId: string): JsonObject {
  return { error: errorOut(failure, requestId) }
}
