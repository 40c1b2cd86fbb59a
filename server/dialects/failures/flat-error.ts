import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * Returns the error if the body is itself an error object, without a field `error` around it; otherwise undefined. Some
 * services (for example Spark) respond with status 200 and a message and code of their own instead of an answer. vLLM
 * sends `"object": "error"`, and MiniMax adds a `base_resp` to every body.
 */
export function flatError(body: JsonObject): JsonObject | undefined {
  const status = body['base_resp']
  if (isObject(status) && Number(status['status_code']))
    return flatError({ code: status['status_code'], message: status['status_msg'] })
  const code = body['code'] ?? body['error_code']
  const message = [body['message'], body['msg'], body['error_msg']].find((text) => typeof text === 'string')
  if (!message) return undefined
  if (body['object'] === 'error') return { message, code: code ?? null, type: body['type'] ?? null }
  return code && !meansSuccess(code) ? { message, code } : undefined
}

function meansSuccess(code: unknown): boolean {
  return /^(?:0|200|ok|success)$/i.test(String(code))
}

/**
 * The error in an event of a chat stream; undefined if it is an ordinary chunk. OpenRouter reports an error next to
 * `choices`, while other services include an empty `error` field in every event. Some services report an error only as
 * the finish reason.
 */
export function errorInChunk(chunk: JsonObject): JsonObject | undefined {
  const { error, choices } = chunk
  if (error !== undefined && error !== null) {
    if (isObject(error)) return choices === undefined || error['message'] ? error : undefined
    if (choices === undefined || (typeof error === 'string' && error !== ''))
      return { message: typeof error === 'string' ? error : '' }
  }
  if (!Array.isArray(choices)) return flatError(chunk)
  const hasFailed = (choices as unknown[]).some((choice) => isObject(choice) && choice['finish_reason'] === 'error')
  return hasFailed ? { message: 'the upstream ended its answer with an error' } : undefined
}
