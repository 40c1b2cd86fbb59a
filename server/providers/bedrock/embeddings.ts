import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { countAt, embeddingsOut, embeddingTexts } from '../openai-compatible/embeddings.ts'

/**
 * Converts OpenAI's embeddings request to the format of the model's vendor (Bedrock user guide, "Amazon Titan
 * Embeddings Text", "Cohere Embed"). Throws GatewayError (400) for several texts if the model accepts only one.
 */
export function embedRequest(body: JsonObject, model: string): JsonObject {
  const texts = embeddingTexts(body)
  const { dimensions } = body
  if (model.includes('cohere')) {
    const size = dimensions === undefined ? {} : { output_dimension: dimensions }
    return { texts, input_type: 'search_document', ...size }
  }
  if (texts.length > 1)
    throw new GatewayError('invalid_field_value', 'input must be a single string for this model', { param: 'input' })
  return { inputText: texts[0], ...(dimensions !== undefined && { dimensions }) }
}

/** Converts the response of a Titan or Cohere model to OpenAI's format. */
export function embedReply(answer: JsonObject, model: string, request: JsonObject): JsonObject {
  const { embeddings, embedding } = answer
  const several = isObject(embeddings) ? embeddings['float'] : embeddings
  const vectors = Array.isArray(several) ? (several as unknown[]) : [embedding]
  return embeddingsOut(vectors, model, request, countAt(answer, 'inputTextTokenCount'))
}
