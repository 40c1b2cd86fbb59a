import { anthropicMessages } from '../../dialects/anthropic-messages/index.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { joinPath } from '../openai-compatible/index.ts'
import type { ChatEndpoint, FetchJson, Provider, ProviderMeta, Upstream } from '../provider.ts'

const version = '2023-06-01'
/** Maps one-api's own model names, which Anthropic never had, to the names that one-api sends to Anthropic. */
const renamed: Readonly<Record<string, string>> = { 'claude-instant-1': 'claude-instant-1.1', 'claude-2': 'claude-2.1' }

const headersOf = (upstream: Upstream) => ({ 'x-api-key': upstream.key, 'anthropic-version': version })

const messages: ChatEndpoint = {
  dialect: anthropicMessages,
  lacks: ['audio', 'more than one answer', 'logprobs'],
  keepsThreads: true,
  // The caller's own version takes precedence over the version in `headersOf`.
  forwards: ['anthropic-version', 'anthropic-beta'],
  target: (upstream) => ({ url: joinPath(upstream.baseUrl, '/v1/messages'), headers: headersOf(upstream) }),
  countTarget: (upstream) => ({
    url: joinPath(upstream.baseUrl, '/v1/messages/count_tokens'),
    headers: headersOf(upstream),
  }),
}

function chat(model: string): ChatEndpoint {
  const name = renamed[model]
  return name === undefined ? messages : { ...messages, finish: (body) => ({ ...body, model: name }) }
}

/** The names from `GET /v1/models` (Anthropic API reference, "List Models"). */
async function listModels(upstream: Upstream, fetchJson: FetchJson): Promise<string[]> {
  const answer = await fetchJson(joinPath(upstream.baseUrl, '/v1/models?limit=1000'), headersOf(upstream))
  const list: unknown = answer['data']
  if (!Array.isArray(list)) throw new GatewayError('bad_response_body', 'the upstream returned no list of models')
  return list.flatMap((each: unknown) => (isObject(each) && typeof each['id'] === 'string' ? [each['id']] : []))
}

function provider(meta: Omit<ProviderMeta, 'keyHint'>): Provider {
  return {
    meta: { ...meta, keyHint: 'sk-ant-…' },
    modes: {},
    chat: (_upstream, model) => [chat(model)],
    asksForStreamUsage: false,
    listModels,
  }
}

/** The provider for Anthropic's own API. */
export const anthropic = provider({
  type: 14,
  name: 'anthropic',
  label: 'Anthropic Claude',
  color: 'black',
  defaultBaseUrl: 'https://api.anthropic.com',
  models: [
    'claude-opus-5-5',
    'claude-opus-5',
    'claude-sonnet-5',
    'claude-fable-5-1',
    'claude-fable-5',
    'claude-opus-4-8',
    'claude-opus-4-7',
    'claude-opus-4-6',
    'claude-sonnet-4-6',
    'claude-opus-4-5',
    'claude-sonnet-4-5',
    'claude-haiku-4-5',
    'claude-opus-4-1',
    'claude-3-7-sonnet-latest',
    'claude-3-5-haiku-latest',
    'claude-3-5-haiku-20241022',
    'claude-3-5-sonnet-latest',
    'claude-3-5-sonnet-20241022',
    'claude-3-5-sonnet-20240620',
    'claude-3-opus-20240229',
    'claude-3-sonnet-20240229',
    'claude-3-haiku-20240307',
    'claude-2.1',
    'claude-2.0',
    'claude-instant-1.2',
  ],
})

/** The provider for any service that offers Anthropic's Messages API at its own URL. */
export const claudeCompatible = provider({
  type: 52,
  name: 'claude-compatible',
  label: 'Claude compatible',
  color: 'black',
  defaultBaseUrl: '',
  models: [],
})
