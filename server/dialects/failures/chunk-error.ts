import { isObject, type JsonObject } from '../../lib/json.ts'
import { flatError } from './flat-error.ts'

/**
 * The error that an event of a chat stream tells; undefined when it is a chunk like others. OpenRouter reports one beside
 * choices, where other services have an empty field in every event; some tell it as the reason to stop alone.
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
