import { ollamaChat } from '../../dialects/ollama-chat/index.ts'
import { GatewayError } from '../../errors.ts'
import { asEvents, LineFraming } from '../../lib/bytes/reframe.ts'
import { isObject } from '../../lib/json.ts'
import { countAt, embeddingsOut, embeddingTexts } from '../openai-compatible/embeddings.ts'
import type { ChatEndpoint, FetchJson, ModeEndpoint, Provider, Target, Upstream } from '../provider.ts'

/**
 * The URL and headers for a path. A local Ollama needs no key, but a proxy in front of an Ollama server may require
 * one.
 */
function address(upstream: Upstream, path: string): Target {
  const { key } = upstream
  return {
    url: `${upstream.baseUrl.replace(/\/(?:api|v1)$/, '')}${path}`,
    headers: key.trim() === '' ? {} : { authorization: `Bearer ${key}` },
  }
}

const chat: ChatEndpoint = {
  dialect: ollamaChat,
  wantsBytes: true,
  lacks: ['audio', 'documents', 'more than one answer', 'logprobs'],
  target: (upstream) => address(upstream, '/api/chat'),
  // The request decides whether the response is a stream, because some proxies in front of Ollama send a wrong content
  // type.
  read: (response, call) => (call.stream ? asEvents(response, new LineFraming()) : namedJson(response)),
}

function namedJson(response: Response): Response {
  const headers = new Headers(response.headers)
  headers.set('content-type', 'application/json')
  return new Response(response.body, { status: response.status, headers })
}

/** Ollama's OpenAI-compatible API also has the older completions endpoint. */
const completions: ModeEndpoint = { target: (upstream) => address(upstream, '/v1/completions') }

const embeddings: ModeEndpoint = {
  target: (upstream) => address(upstream, '/api/embed'),
  translation: {
    request: (body, { model }) => ({
      model,
      input: embeddingTexts(body),
      ...(body['dimensions'] !== undefined && { dimensions: body['dimensions'] }),
    }),
    reply(answer, { model }, request) {
      const { embeddings: list } = answer
      const vectors = Array.isArray(list) ? (list as unknown[]) : []
      return embeddingsOut(vectors, model, request, countAt(answer, 'prompt_eval_count'))
    },
  },
}

/** The models that have been pulled (Ollama API reference, "List models"). */
async function listModels(upstream: Upstream, fetchJson: FetchJson): Promise<string[]> {
  const { url, headers } = address(upstream, '/api/tags')
  const list: unknown = (await fetchJson(url, headers))['models']
  if (!Array.isArray(list)) throw new GatewayError('bad_response_body', 'the upstream returned no list of models')
  return (list as unknown[]).flatMap((each) =>
    isObject(each) && typeof each['name'] === 'string' ? [each['name']] : [],
  )
}

/** The provider for Ollama, on the operator's own machine or in Ollama's cloud. */
export const ollama: Provider = {
  meta: {
    type: 30,
    name: 'ollama',
    label: 'Ollama',
    color: 'black',
    defaultBaseUrl: 'http://localhost:11434',
    models: [
      'llama3:latest',
      'gpt-oss:120b',
      'gpt-oss:20b',
      'qwen3:14b',
      'gemma3:1b',
      'nomic-embed-text',
      'llama2:latest',
      'llama2:7b',
      'codellama:7b-instruct',
      'phi3:latest',
      'qwen:7b',
      'qwen:0.5b-chat',
    ],
    keyHint: 'any; sent as a bearer key',
  },
  modes: { completions, embeddings },
  chat: () => [chat],
  asksForStreamUsage: true,
  listModels,
}
