import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { isObject } from '../../lib/json.ts'

/**
 * The texts in OpenAI's `input`. Throws GatewayError (400) for token ids, because a model with another tokenizer cannot
 * use them.
 */
export function embeddingTexts(body: JsonObject): string[] {
  const { input } = body
  const list: readonly unknown[] = Array.isArray(input) ? input : [input]
  return list.map((each) => {
    if (typeof each === 'string') return each
    const message = 'input must be a text or a list of texts: this channel takes no tokens'
    throw new GatewayError('invalid_field_value', message, { param: 'input' })
  })
}

/**
 * An embeddings response in OpenAI's format, with the vectors in the requested encoding. `promptTokens` is undefined if
 * it is not known.
 */
export function embeddingsOut(
  vectors: readonly unknown[],
  model: string,
  request: JsonObject,
  promptTokens: number | undefined,
): JsonObject {
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, request) })),
    model,
    ...(promptTokens !== undefined && { usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } }),
  }
}

function encoded(vector: unknown, request: JsonObject): unknown {
  const numbers = Array.isArray(vector) ? (vector as unknown[]).map(Number) : []
  if (numbers.length === 0) throw new GatewayError('bad_response_body', 'the upstream returned no embedding')
  if (request['encoding_format'] !== 'base64') return numbers
  return Buffer.from(new Float32Array(numbers).buffer).toString('base64')
}

/** The count at a path of field names. Undefined if the value cannot be a count. */
export function countAt(value: unknown, ...path: readonly string[]): number | undefined {
  const member = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), value)
  return typeof member === 'number' && Number.isSafeInteger(member) && member >= 0 ? member : undefined
}
