import { type RelayMode, relayModes } from '../../../contract/relay-modes.ts'
import { anthropicMessages } from '../../dialects/anthropic-messages/index.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { openaiResponses } from '../../dialects/openai-responses/index.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import type { ChatEndpoint, FetchJson, ModeEndpoint, Provider, ProviderMeta, Upstream } from '../provider.ts'

interface Options extends Omit<ProviderMeta, 'keyHint' | 'models'> {
  models?: readonly string[]
  keyHint?: string
  /** Kinds of calls served; default all. */
  only?: readonly RelayMode[]
  /** Headers beside the key. */
  headers?: Readonly<Record<string, string>>
  asksForStreamUsage?: boolean
  balance?: Provider['balance']
  keyFault?: Provider['keyFault']
  /** False where the service has no list of models. */
  listsModels?: boolean
  /** How the service's chat differs from OpenAI's. */
  chat?: Pick<ChatEndpoint, 'options' | 'lacks' | 'finish'>
  /** Other dialects that the service speaks besides, at their usual paths. */
  also?: readonly (keyof typeof otherDialects)[]
  /** Paths that are not OpenAI's, below the base address. */
  paths?: Partial<Record<RelayMode, string>>
}

/** Dialects beside chat completions that services offer under the same address and key. */
const otherDialects = {
  responses: { dialect: openaiResponses, path: '/v1/responses', forwards: [] },
  messages: { dialect: anthropicMessages, path: '/v1/messages', forwards: ['anthropic-version', 'anthropic-beta'] },
} as const

/** A provider that speaks the OpenAI API: bearer key, OpenAI's paths below the base address. */
export function openaiCompatible(options: Options): Provider {
  const { only = relayModes, asksForStreamUsage = true, listsModels = true } = options
  const { type, name, label, color, defaultBaseUrl, models = [], keyHint = 'sk-…', otherDefault, otherLabel } = options
  const bearer = (upstream: Upstream) => ({ ...options.headers, authorization: `Bearer ${upstream.key}` })
  const endpoint: ModeEndpoint = {
    target: (upstream, call) => ({
      url: joinPath(upstream.baseUrl, options.paths?.[call.mode] ?? call.path),
      headers: bearer(upstream),
    }),
  }
  const chat: ChatEndpoint = {
    dialect: openaiChat,
    ...options.chat,
    target: (upstream) => ({
      url: joinPath(upstream.baseUrl, options.paths?.chat ?? '/v1/chat/completions'),
      headers: bearer(upstream),
    }),
  }
  const others = (options.also ?? []).map((each): ChatEndpoint => {
    const { dialect, path, forwards } = otherDialects[each]
    return {
      dialect,
      forwards,
      target: (upstream) => ({ url: joinPath(upstream.baseUrl, path), headers: bearer(upstream) }),
    }
  })
  const endpoints = only.includes('chat') ? [chat, ...others] : []
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
    chat: () => endpoints,
    asksForStreamUsage,
    ...(listsModels && { listModels }),
    ...(options.balance && { balance: options.balance }),
    ...(options.keyFault && { keyFault: options.keyFault }),
  }
}

/** The names of `GET /v1/models` (OpenAI API reference, "List models"). */
async function listModels(upstream: Upstream, fetchJson: FetchJson): Promise<string[]> {
  const answer = await fetchJson(joinPath(upstream.baseUrl, '/v1/models'), { authorization: `Bearer ${upstream.key}` })
  const list: unknown = answer['data']
  if (!Array.isArray(list)) throw new GatewayError('bad_response_body', 'the upstream answered with no list of models')
  const names = list.map((each: unknown) => (isObject(each) ? each['id'] : undefined))
  return names.filter((name): name is string => typeof name === 'string' && name !== '')
}

/** The same endpoint for several kinds of calls; conversations have theirs. */
export function modesOf(modes: readonly RelayMode[], endpoint: ModeEndpoint): Provider['modes'] {
  return Object.fromEntries(modes.filter((mode) => mode !== 'chat').map((mode) => [mode, endpoint]))
}

/**
 * Base address + API path. A base that already ends with the version (`…/v1`, `…/v1beta/openai`) is not given it
 * twice, and one behind Cloudflare's AI gateway has no version in its path at all.
 */
export function joinPath(baseUrl: string, path: string): string {
  const hasOwnVersion =
    baseUrl.startsWith('https://gateway.ai.cloudflare.com') || /\/v\d+(?:alpha|beta)?\d*(?:\/openai)?$/.test(baseUrl)
  return hasOwnVersion ? baseUrl + path.replace(/^\/v1/, '') : baseUrl + path
}
