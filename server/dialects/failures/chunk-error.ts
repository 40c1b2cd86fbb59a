import { isObject, type JsonObject } from '../../lib/json.ts'
import { flatError } from './flat-error.ts'

/**
 * The error in an event of a chat stream; undefined if it is an ordinary chunk. OpenRouter reports an error next to
 * choices, where other services have an empty field in every event; some only report it as the finish reason.
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
