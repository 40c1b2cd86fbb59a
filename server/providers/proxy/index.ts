import { type RelayMode, relayModes } from '../../../contract/relay-modes.ts'
import { anthropicMessages } from '../../dialects/anthropic-messages/index.ts'
import { gemini } from '../../dialects/gemini/index.ts'
import type { UpstreamDialect } from '../../dialects/neutral/dialect.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { openaiResponses } from '../../dialects/openai-responses/index.ts'
import { joinPath, modesOf } from '../openai-compatible/index.ts'
import type { ChatEndpoint, Provider, Upstream, UpstreamCall } from '../provider.ts'

const modes = relayModes.filter((mode): mode is Exclude<RelayMode, 'chat'> => mode !== 'chat')

/** The key is the whole value of the header, so a channel can use any authorization scheme. */
const headersOf = ({ key }: Upstream) => ({ authorization: key })

function endpoint(
  dialect: UpstreamDialect,
  path: (call: UpstreamCall) => string,
  forwards: string[] = [],
): ChatEndpoint {
  return {
    dialect,
    forwards,
    takesSystemAnywhere: true,
    target: (upstream, call) => ({ url: joinPath(upstream.baseUrl, path(call)), headers: headersOf(upstream) }),
  }
}

const geminiPath = ({ model, stream }: UpstreamCall) =>
  `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`

const conversations: readonly ChatEndpoint[] = [
  endpoint(openaiChat, () => '/v1/chat/completions'),
  endpoint(openaiResponses, () => '/v1/responses'),
  endpoint(anthropicMessages, () => '/v1/messages', ['anthropic-version', 'anthropic-beta']),
  {
    ...endpoint(gemini, geminiPath),
    // Google's paths already contain the version, so a version at the end of the base URL is removed.
    target: (upstream, call) => ({
      url: `${upstream.baseUrl.replace(/\/v\d\w*$/, '')}${geminiPath(call)}`,
      headers: headersOf(upstream),
    }),
  },
]

/**
 * The provider for any service that is called in the caller's own dialect. A caller can also choose the channel by its
 * id (`/v1/oneapi/proxy/{id}/…`).
 */
export const proxy: Provider = {
  meta: {
    type: 43,
    name: 'proxy',
    label: 'Proxy',
    color: 'blue',
    defaultBaseUrl: '',
    models: [],
    keyHint: 'the whole value of the Authorization header, such as "Bearer sk-…"',
  },
  modes: modesOf(modes, {
    target: (upstream, call) => ({ url: joinPath(upstream.baseUrl, call.path), headers: headersOf(upstream) }),
  }),
  byNumber: true,
  chat: () => conversations,
  asksForStreamUsage: true,
}
