import { cohereChat } from '../../dialects/cohere-chat/index.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { countAt, embeddingsOut, embeddingTexts } from '../openai-compatible/embeddings.ts'
import { rerankOut, rerankTexts } from '../openai-compatible/rerank.ts'
import type { ChatEndpoint, FetchJson, ModeEndpoint, Provider, Target, Upstream } from '../provider.ts'

/**
 * The suffix with which one-api's model names request Cohere's web search. Cohere's current API does not offer this
 * search.
 */
const internet = /-internet$/

function address(upstream: Upstream, path: string): Target {
  const base = upstream.baseUrl.replace(/\/v[12]$/, '')
  return { url: `${base}${path}`, headers: { authorization: `Bearer ${upstream.key}` } }
}

const chat: ChatEndpoint = {
  dialect: cohereChat,
  lacks: ['audio', 'more than one answer', 'logprobs'],
  target: (upstream) => address(upstream, '/v2/chat'),
}

/**
 * Cohere requires `input_type`, which OpenAI's format does not have. The default is `search_document`, because most
 * callers embed documents.
 */
const embeddings: ModeEndpoint = {
  target: (upstream) => address(upstream, '/v2/embed'),
  translation: {
    request: (body, { model }) => ({
      model,
      texts: embeddingTexts(body),
      input_type: typeof body['input_type'] === 'string' ? body['input_type'] : 'search_document',
      embedding_types: ['float'],
      ...(body['dimensions'] !== undefined && { output_dimension: body['dimensions'] }),
    }),
    reply(answer, { model }, request) {
      const { embeddings: byEncoding } = answer
      const list = isObject(byEncoding) ? byEncoding['float'] : byEncoding
      const vectors = Array.isArray(list) ? (list as unknown[]) : []
      return embeddingsOut(vectors, model, request, countAt(answer, 'meta', 'billed_units', 'input_tokens'))
    },
  },
}

const rerank: ModeEndpoint = {
  target: (upstream) => address(upstream, '/v2/rerank'),
  translation: {
    request: (body, { model }) => ({
      model,
      query: body['query'],
      documents: rerankTexts(body),
      ...(body['top_n'] !== undefined && { top_n: body['top_n'] }),
    }),
    // `meta` contains the billed units.
    reply: (answer, { model }, request) => ({
      ...rerankOut(answer['results'], model, request),
      ...(answer['meta'] !== undefined && { meta: answer['meta'] }),
    }),
  },
}

/** Cohere's upload form has the same fields as OpenAI's, plus the language. */
const transcriptions: ModeEndpoint = { target: (upstream) => address(upstream, '/v2/audio/transcriptions') }

/** The names from `GET /v1/models` (Cohere API reference, "List Models"). */
async function listModels(upstream: Upstream, fetchJson: FetchJson): Promise<string[]> {
  const { url, headers } = address(upstream, '/v1/models?page_size=1000')
  const list: unknown = (await fetchJson(url, headers))['models']
  if (!Array.isArray(list)) throw new GatewayError('bad_response_body', 'the upstream returned no list of models')
  return (list as unknown[]).flatMap((each) =>
    isObject(each) && typeof each['name'] === 'string' && each['is_deprecated'] !== true ? [each['name']] : [],
  )
}

const withoutSearch = (body: JsonObject): JsonObject => ({
  ...body,
  model: String(body['model']).replace(internet, ''),
})

/** The provider for Cohere. */
export const cohere: Provider = {
  meta: {
    type: 35,
    name: 'cohere',
    label: 'Cohere',
    color: 'blue',
    defaultBaseUrl: 'https://api.cohere.ai',
    models: [
      'command-a-03-2025',
      'command-a-reasoning-08-2025',
      'command-a-vision-07-2025',
      'command-r7b-12-2024',
      'command-r-08-2024',
      'command-r-plus-08-2024',
      'command-r',
      'command-r-plus',
      'command',
      'command-light',
      'command-nightly',
      'embed-v4.0',
      'embed-english-v3.0',
      'embed-multilingual-v3.0',
      'rerank-v3.5',
    ],
    keyHint: 'API key',
  },
  modes: { embeddings, rerank, transcriptions },
  chat: (_upstream, model) => [internet.test(model) ? { ...chat, finish: withoutSearch } : chat],
  asksForStreamUsage: false,
  listModels,
}
