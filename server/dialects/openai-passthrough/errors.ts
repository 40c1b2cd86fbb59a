import type { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'

/** The error object of a body in OpenAI's format. */
export interface OpenAiError {
  message: string
  type: string
  param: string | null
  code: string | number | null
}

/**
 * GatewayError → the caller's error object. The message contains the request id, so that the call can be found in the
 * logs.
 */
export function errorObject(error: GatewayError, requestId: string): OpenAiError {
  return {
    message: `${error.message} (request id: ${requestId})`,
    type: error.type,
    param: error.param,
    code: error.code,
  }
}

/** The event that tells an OpenAI client that the stream failed. */
export function errorEvent(error: GatewayError, requestId: string): string {
  return `data: ${JSON.stringify({ error: errorObject(error, requestId) })}\n\n`
}

/** The content of an upstream's error body. `shaped` is the upstream's error object if it has OpenAI's format. */
export interface UpstreamErrorBody {
  message: string
  shaped: JsonObject | undefined
}

/**
 * Finds the message in an upstream's error body, trying the fields in one-api's order. Text that is not JSON (for
 * example an HTML page from a proxy) is not passed on, because it helps nobody and may reveal internals.
 */
export function readErrorBody(text: string, status: number): UpstreamErrorBody {
  const fallback = `bad response status code ${status}`
  const body = tryParse(text)
  const object = Array.isArray(body) ? body[0] : body
  if (!isObject(object)) return { message: fallback, shaped: undefined }
  const error = object['error']
  if (isObject(error) && typeof error['message'] === 'string') return { message: error['message'], shaped: error }
  const header = object['header']
  const candidates = [
    object['message'],
    object['msg'],
    object['err'],
    object['error_msg'],
    isObject(header) ? header['message'] : undefined,
    typeof error === 'string' ? error : undefined,
    object['detail'],
  ]
  const message = candidates.find((value): value is string => typeof value === 'string' && value !== '')
  return { message: message ?? fallback, shaped: undefined }
}
