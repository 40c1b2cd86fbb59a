import { APIError as AnthropicError } from '@anthropic-ai/sdk'
import { ApiError as GoogleError } from '@google/genai'
import { APIError as OpenAiError } from 'openai'
import { isObject, type JsonObject, tryParse } from '../../../server/lib/json.ts'

/** What a client can read about a failed call through an official SDK. */
export interface LearnedFailure {
  status: number | undefined
  message: string
  /** The dialect's own name for the kind of failure: `error.type` of Anthropic, `error.status` of Google. */
  kind: string | undefined
  /** In seconds. */
  retryAfter: string | null
}

/** Reads an error that an SDK threw. Rethrows other errors. */
export function failureIn(error: unknown): LearnedFailure {
  if (error instanceof OpenAiError) {
    const { status, message, type, headers } = error
    return { status, message, kind: type ?? undefined, retryAfter: headers?.get('retry-after') ?? null }
  }
  if (error instanceof AnthropicError) {
    const told = errorWithin(error.error)
    return {
      status: error.status,
      message: String(told['message'] ?? error.message),
      kind: textOrNothing(told['type']),
      retryAfter: error.headers?.get('retry-after') ?? null,
    }
  }
  if (error instanceof Error) {
    // Google's SDK throws the body as the message. In a stream, the message has a few words before the body.
    const body = tryParse(error.message.slice(Math.max(0, error.message.indexOf('{'))))
    const told = errorWithin(body)
    return {
      status: error instanceof GoogleError ? error.status : undefined,
      message: String(told['message'] ?? error.message),
      kind: textOrNothing(told['status'] ?? told['type']),
      retryAfter: retryDelay(told),
    }
  }
  throw error
}

/** Google's retry advice is in the error itself, which is all that its SDK shows. */
function retryDelay(error: JsonObject): string | null {
  const details = Array.isArray(error['details']) ? (error['details'] as unknown[]).filter(isObject) : []
  const delay = details.find((detail) => String(detail['@type']).endsWith('google.rpc.RetryInfo'))?.['retryDelay']
  return typeof delay === 'string' ? String(Math.ceil(Number.parseFloat(delay))) : null
}

function errorWithin(body: unknown): JsonObject {
  return isObject(body) && isObject(body['error']) ? body['error'] : {}
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
