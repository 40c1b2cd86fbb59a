import { type RelayMode, relayModes } from '../../../contract/relay-modes.ts'
import { anthropicMessages } from '../../dialects/anthropic-messages/index.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { openaiResponses } from '../../dialects/openai-responses/index.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { oncePerText } from '../../lib/once-per-text.ts'
import type {
  ChatEndpoint,
  FetchJson,
  ModeEndpoint,
  Provider,
  ProviderMeta,
  Upstream,
  UpstreamCall,
} from '../provider.ts'

interface Options extends Omit<ProviderMeta, 'keyHint' | 'models'> {
  models?: readonly string[]
  keyHint?: string
  /** The kinds of calls that the service supports. By default, all. */
  only?: readonly RelayMode[]
  /** Headers besides the key. */
  headers?: Readonly<Record<string, string>>
  asksForStreamUsage?: boolean
  addsToPrompt?: true
  balance?: Provider['balance']
  keyFault?: Provider['keyFault']
  /** The service accepts realtime WebSocket sessions at the same path as OpenAI. */
  realtime?: true
  /** False if the service has no list of models. */
  listsModels?: boolean
  /** How the service's chat differs from OpenAI's. */
  chat?: Partial<Pick<ChatEndpoint, 'dialect' | 'options' | 'lacks' | 'finish' | 'continues'>>
  /** The path for requests that continue an incomplete turn of the model, if it is not `/v1/chat/completions`. */
  continuesAt?: string
  takesSystemAnywhere?: true
  /** The service is OpenAI itself, so the headers that Codex sends are forwarded. */
  forwardsCodex?: true
  /** The service has the endpoint of the Responses API that compacts a conversation. */
  compacts?: true
  /** Dialects that the service supports in addition to chat completions. */
  also?: readonly OtherDialect[]
  /** The paths of these dialects, if they differ from those in `otherDialects`. */
  alsoPaths?: Partial<Record<OtherDialect, string>>
  /** The prefix that replaces OpenAI's `/v1`; '' = the base URL already contains the prefix. */
  prefix?: string
  /** Paths below the base URL that differ from OpenAI's. Some of them depend on the model. */
  paths?: Partial<Record<RelayMode, string | ((model: string) => string)>>
}

type OtherDialect = keyof typeof otherDialects

/** Other dialects that services offer, in addition to chat completions, at the same URL and with the same key. */
const otherDialects = {
  responses: { dialect: openaiResponses, path: '/v1/responses', forwards: [] },
  messages: { dialect: anthropicMessages, path: '/v1/messages', forwards: ['anthropic-version', 'anthropic-beta'] },
} as const

/**
 * Creates a provider for a service with OpenAI's API: the key is a bearer token, and the paths below the base URL are
 * OpenAI's.
 */
export function openaiCompatible(options: Options): Provider {
  const { only = relayModes, asksForStreamUsage = true, listsModels = true, prefix = '/v1', paths = {} } = options
  const { type, name, label, color, defaultBaseUrl, models = [], keyHint = 'sk-…', otherDefault, otherLabel } = options
  const bearer = (upstream: Upstream) => ({ ...options.headers, authorization: `Bearer ${upstream.key}` })
  const addressOf = ({ baseUrl }: Upstream, { mode, model }: UpstreamCall, usual: string) => {
    const own = paths[mode]
    if (own === undefined) return joinPath(baseUrl, usual, prefix)
    return joinPath(baseUrl, typeof own === 'string' ? own : own(model))
  }
  const endpoint: ModeEndpoint = {
    target: (upstream, call) => ({ url: addressOf(upstream, call, call.path), headers: bearer(upstream) }),
  }
  const { takesSystemAnywhere, continuesAt } = options
  const chat: ChatEndpoint = {
    dialect: openaiChat,
    ...(takesSystemAnywhere && { takesSystemAnywhere }),
    ...options.chat,
    target: (upstream, call) => ({
      url:
        call.continues && continuesAt !== undefined
          ? withoutVersion(upstream.baseUrl) + continuesAt
          : addressOf(upstream, { ...call, mode: 'chat' }, '/v1/chat/completions'),
      headers: bearer(upstream),
    }),
  }
  const others = (options.also ?? []).map((each): ChatEndpoint => {
    const { dialect, path, forwards } = otherDialects[each]
    const own = options.alsoPaths?.[each]
    return {
      dialect,
      forwards,
      takesUnsignedThoughts: true,
      ...(takesSystemAnywhere && { takesSystemAnywhere }),
      target: (upstream) => ({
        url: own === undefined ? joinPath(upstream.baseUrl, path, prefix) : withoutVersion(upstream.baseUrl) + own,
        headers: bearer(upstream),
      }),
      ...(options.forwardsCodex && each === 'responses' && { forwardsCodex: true }),
      ...(options.compacts &&
        each === 'responses' && {
          compactTarget: (upstream: Upstream) => ({
            url: joinPath(upstream.baseUrl, `${path}/compact`, prefix),
            headers: bearer(upstream),
          }),
        }),
    }
  })
  const endpoints = only.includes('chat') ? [chat, ...others] : []
  const responses = others.filter(({ dialect }) => dialect === openaiResponses)
  return {
    meta: {
      type,
      name,
      label,
      color,
      defaultBaseUrl,
      models,
      keyHint,
      ...(otherDefault !== undefined && { otherDefault }),
      ...(otherLabel !== undefined && { otherLabel }),
    },
    modes: modesOf(only, endpoint),
    chat: (_upstream, model) => (responses.length > 0 && answersResponsesOnly(model) ? responses : endpoints),
    asksForStreamUsage,
    ...(options.addsToPrompt && { addsToPrompt: true }),
    ...(listsModels && { listModels: (upstream, fetchJson) => listModels(upstream, fetchJson, prefix) }),
    ...(options.realtime && {
      realtime: (upstream: Upstream, model: string) => ({
        url: `${joinPath(upstream.baseUrl, '/v1/realtime', prefix)}?model=${encodeURIComponent(model)}`,
        headers: bearer(upstream),
      }),
    }),
    ...(options.balance && { balance: options.balance }),
    ...(options.keyFault && { keyFault: options.keyFault }),
  }
}

/** True for OpenAI models without chat completions (OpenAI's pages of these models, "Endpoints"). */
export const answersResponsesOnly = oncePerText((model) =>
  /^(?:openai\/)?(?:o\d[\w.]*-pro|gpt-[\d.]+-pro|gpt-[\d.]+-codex|codex-|computer-use-|o\d[\w.-]*-deep-research)/.test(
    model,
  ),
)

/** The names from `GET /v1/models` (OpenAI API reference, "List models"). */
export async function listModels(upstream: Upstream, fetchJson: FetchJson, prefix = '/v1'): Promise<string[]> {
  const headers = { authorization: `Bearer ${upstream.key}` }
  const answer = await fetchJson(joinPath(upstream.baseUrl, '/v1/models', prefix), headers)
  const list: unknown = answer['data']
  if (!Array.isArray(list)) throw new GatewayError('bad_response_body', 'the upstream returned no list of models')
  const names = list.map((each: unknown) => (isObject(each) ? each['id'] : undefined))
  return names.filter((name): name is string => typeof name === 'string' && name !== '')
}

/** Uses one endpoint for several kinds of calls. Chat is skipped, because it has a separate endpoint. */
export function modesOf(modes: readonly RelayMode[], endpoint: ModeEndpoint): Provider['modes'] {
  return Object.fromEntries(modes.filter((mode) => mode !== 'chat').map((mode) => [mode, endpoint]))
}

/** Matches an API version at the end of a base URL. */
const versionAtEnd = /\/v\d+(?:alpha|beta)?\d*(?:\/openai)?$/

/**
 * Joins a base URL and an API path. The service's prefix replaces `/v1`. If the base URL already ends with the prefix
 * or with another version (`…/v1`, `…/v1beta/openai`), the prefix is not added again. No version is added to URLs of
 * Cloudflare's AI gateway.
 */
export function joinPath(baseUrl: string, path: string, prefix = '/v1'): string {
  if (!path.startsWith('/v1')) return baseUrl + path
  const rest = path.slice('/v1'.length)
  return prefix === '' || baseUrl.endsWith(prefix) || hasVersion(baseUrl) ? baseUrl + rest : baseUrl + prefix + rest
}

const hasVersion = oncePerText(
  (baseUrl) => baseUrl.startsWith('https://gateway.ai.cloudflare.com') || versionAtEnd.test(baseUrl),
)

/** Removes the version at the end of a base URL, for paths that do not begin with a version. */
function withoutVersion(baseUrl: string): string {
  return baseUrl.replace(versionAtEnd, '')
}
