import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/** The documents of a reranking call as texts. Throws GatewayError (400) for a document that is not text. */
export function rerankTexts(body: JsonObject): string[] {
  const { documents } = body
  const list: readonly unknown[] = Array.isArray(documents) ? documents : []
  return list.map((each) => {
    const text = isObject(each) ? each['text'] : each
    if (typeof text === 'string') return text
    const message = 'documents must be texts, or objects with a text'
    throw new GatewayError('invalid_field_value', message, { param: 'documents' })
  })
}

/** The response to a reranking call: the service's results, with the documents if they were requested. */
export function rerankOut(results: unknown, model: string, request: JsonObject): JsonObject {
  const list: readonly unknown[] = Array.isArray(results) ? results : []
  const texts = request['return_documents'] === true ? rerankTexts(request) : undefined
  return {
    model,
    results: list.filter(isObject).map((each) => {
      const { index } = each
      const text = typeof index === 'number' ? texts?.[index] : undefined
      return { index, relevance_score: each['relevance_score'], ...(text !== undefined && { document: { text } }) }
    }),
  }
}
