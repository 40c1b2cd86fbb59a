import type { JsonObject } from '../../lib/json.ts'
import { looseList, looseObject } from '../neutral/fields.ts'

/** A batchEmbedContents request (Gemini API, "Embeddings"). Each text repeats the model's name. */
export function batchEmbedRequest(model: string, texts: readonly string[], dimensions: unknown): JsonObject {
  const size = dimensions === undefined ? {} : { outputDimensionality: dimensions }
  return { requests: texts.map((text) => ({ model: `models/${model}`, content: { parts: [{ text }] }, ...size })) }
}

/** A predict request of Vertex AI's embedding models ("Text embeddings API"). */
export function predictEmbedRequest(texts: readonly string[], dimensions: unknown): JsonObject {
  const parameters = dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }
  return { instances: texts.map((content) => ({ content })), ...parameters }
}

/** The vectors in any of Google's responses: batchEmbedContents, embedContent, predict. */
export function vectorsIn(answer: JsonObject): unknown[] {
  const batch = looseList(answer['embeddings']).map(({ values }) => values)
  if (batch.length > 0) return batch
  const predicted = looseList(answer['predictions']).map(({ embeddings }) => looseObject(embeddings)['values'])
  return predicted.length > 0 ? predicted : [looseObject(answer['embedding'])['values']]
}

/** The tokens of the prompt, if the response reports them. */
export function embeddedTokens(answer: JsonObject): number | undefined {
  const total = looseObject(answer['usageMetadata'])['promptTokenCount']
  if (typeof total === 'number' && Number.isSafeInteger(total) && total >= 0) return total
  const counts = looseList(answer['predictions']).map(
    ({ embeddings }) => looseObject(looseObject(embeddings)['statistics'])['token_count'],
  )
  if (counts.length === 0 || !counts.every((count) => typeof count === 'number' && count >= 0)) return undefined
  return Math.ceil(counts.reduce<number>((sum, count) => sum + Number(count), 0))
}
