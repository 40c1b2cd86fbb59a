import { failureWithin } from '../../dialects/dashscope/failure.ts'
import { failureAnswer } from '../../dialects/failures/service-failure.ts'
import { looseList, looseObject } from '../../dialects/neutral/fields.ts'
import { countAt, embeddingsOut, embeddingTexts } from '../openai-compatible/embeddings.ts'
import type { ModeTranslation } from '../provider.ts'

/**
 * Embeddings in DashScope's format. The service reports only a total, so this total is used as the number of text
 * tokens.
 */
export const embeddingsTranslation: ModeTranslation = {
  request(body, { model }) {
    const { dimensions } = body
    return {
      model,
      input: { texts: embeddingTexts(body) },
      ...(dimensions !== undefined && { parameters: { dimension: dimensions } }),
    }
  },
  reply(answer, { model }, request) {
    const failure = failureWithin(answer)
    if (failure) return failureAnswer(failure)
    const entries = looseList(looseObject(answer['output'])['embeddings'])
    const vectors = entries.toSorted((a, b) => Number(a['text_index']) - Number(b['text_index']))
    const list = vectors.map(({ embedding }) => embedding)
    return embeddingsOut(list, model, request, countAt(answer, 'usage', 'total_tokens'))
  },
}

/** Document reranking in DashScope's format. */
export const rerankTranslation: ModeTranslation = {
  request(body, { model }) {
    const { query, documents, top_n, return_documents } = body
    return {
      model,
      input: { query, documents },
      parameters: {
        ...(top_n !== undefined && { top_n }),
        ...(return_documents !== undefined && { return_documents }),
      },
    }
  },
  reply(answer, { model }) {
    const failure = failureWithin(answer)
    if (failure) return failureAnswer(failure)
    const tokens = countAt(answer, 'usage', 'total_tokens')
    return {
      model,
      results: looseList(looseObject(answer['output'])['results']),
      ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    }
  },
}
