import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseList, looseObject, wrongField } from '../neutral/fields.ts'

/**
 * Converts the caller's embedContent request, or batchEmbedContents request if `isBatch` (Gemini API, "Embeddings"), to
 * OpenAI's format. Throws GatewayError (400).
 */
export function embedRequestIn(body: JsonObject, model: string, isBatch: boolean): JsonObject {
  const requests: unknown = isBatch ? body['requests'] : [body]
  if (!Array.isArray(requests) || requests.length === 0) throw wrongField('requests', 'a list of requests')
  const each = (requests as unknown[]).map((request) => {
    if (!isObject(request)) throw wrongField('requests', 'a list of objects')
    return request
  })
  const [first] = each
  const dimensions = settingOf(first, 'outputDimensionality', 'output_dimensionality')
  const task = settingOf(first, 'taskType', 'task_type')
  return {
    model,
    input: each.map(textOf),
    ...(typeof dimensions === 'number' && { dimensions }),
    ...(typeof task === 'string' && { task_type: task }),
  }
}

function settingOf(request: JsonObject | undefined, name: string, otherName: string): unknown {
  const config = request?.['embedContentConfig'] ?? request?.['config']
  return request?.[name] ?? request?.[otherName] ?? (isObject(config) ? config[name] : undefined)
}

function textOf(request: JsonObject): string {
  const content = request['content']
  const parts: unknown = isObject(content) ? content['parts'] : undefined
  if (!Array.isArray(parts)) throw wrongField('content.parts', 'a list of parts')
  const texts = (parts as unknown[]).map((part) => (isObject(part) ? part['text'] : undefined))
  if (texts.some((text) => typeof text !== 'string')) throw wrongField('content.parts', 'a list of texts')
  return texts.join('')
}

/** Converts OpenAI's response to the format of embedContent, or of batchEmbedContents if `isBatch`. */
export function embedResponseOut(answer: JsonObject, isBatch: boolean): JsonObject {
  const list = Array.isArray(answer['data']) ? (answer['data'] as unknown[]) : []
  const embeddings = list.map((each) => ({ values: isObject(each) ? each['embedding'] : [] }))
  return isBatch ? { embeddings } : { embedding: embeddings[0] ?? { values: [] } }
}

/** The options in a request in OpenAI's format: the size of the vectors, and Google's task type. */
type EmbedWishes = Readonly<{ dimensions?: unknown; task_type?: unknown }>

/** A batchEmbedContents request (Gemini API, "Embeddings"). It repeats the model's name for each text. */
export function batchEmbedRequest(model: string, texts: readonly string[], wishes: EmbedWishes): JsonObject {
  return { requests: texts.map((text) => ({ model: `models/${model}`, ...embedRequest(text, wishes) })) }
}

/** An embedContent request, without the model. */
export function embedRequest(text: string, { dimensions, task_type: taskType }: EmbedWishes): JsonObject {
  return {
    content: { parts: [{ text }] },
    ...(typeof taskType === 'string' && { taskType }),
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
  }
}

/** A predict request of Vertex AI's embedding models ("Text embeddings API"). */
export function predictEmbedRequest(
  texts: readonly string[],
  { dimensions, task_type: taskType }: EmbedWishes,
): JsonObject {
  const task = typeof taskType === 'string' ? { task_type: taskType } : {}
  const parameters = dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }
  return { instances: texts.map((content) => ({ content, ...task })), ...parameters }
}

/** The vectors in any of Google's responses: batchEmbedContents, embedContent, predict. */
export function vectorsIn(answer: JsonObject): unknown[] {
  const batch = looseList(answer['embeddings']).map(({ values }) => values)
  if (batch.length > 0) return batch
  const predicted = looseList(answer['predictions']).map(({ embeddings }) => looseObject(embeddings)['values'])
  return predicted.length > 0 ? predicted : [looseObject(answer['embedding'])['values']]
}

/** The number of prompt tokens, if the response reports it. */
export function embeddedTokens(answer: JsonObject): number | undefined {
  const total = looseObject(answer['usageMetadata'])['promptTokenCount']
  if (typeof total === 'number' && Number.isSafeInteger(total) && total >= 0) return total
  const counts = looseList(answer['predictions']).map(
    ({ embeddings }) => looseObject(looseObject(embeddings)['statistics'])['token_count'],
  )
  if (counts.length === 0 || !counts.every((count) => typeof count === 'number' && count >= 0)) return undefined
  return Math.ceil(counts.reduce<number>((sum, count) => sum + Number(count), 0))
}
