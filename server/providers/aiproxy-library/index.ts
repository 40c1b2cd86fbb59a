import { aiProxyLibrary } from '../../dialects/aiproxy-library/index.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ChatEndpoint, Provider, Upstream } from '../provider.ts'

/** The knowledge base that a channel uses. Throws GatewayError if the channel does not specify one. */
function libraryOf({ config, other }: Upstream): string {
  const id = config['library_id']
  const libraryId = typeof id === 'string' && id !== '' ? id : other
  if (libraryId !== '') return libraryId
  throw new GatewayError('do_request_failed', 'this channel has no knowledge base (config.library_id)')
}

const chatOf = (upstream: Upstream): ChatEndpoint => ({
  dialect: aiProxyLibrary,
  lacks: ['tools', 'images', 'audio', 'documents', 'structured output', 'more than one answer', 'logprobs'],
  target: ({ baseUrl, key }) => ({
    url: `${baseUrl}/api/library/ask`,
    headers: { authorization: `Bearer ${key}` },
  }),
  finish: (body): JsonObject => ({ ...body, libraryId: libraryOf(upstream) }),
})

/** The provider for AI Proxy's knowledge bases. */
export const aiProxyLibraryProvider: Provider = {
  meta: {
    type: 21,
    name: 'ai-proxy-library',
    label: 'AI Proxy knowledge base',
    color: 'purple',
    defaultBaseUrl: 'https://api.aiproxy.io',
    models: ['gpt-3.5-turbo', 'gpt-4o-mini', 'gpt-4o'],
    keyHint: 'sk-…',
    otherLabel: 'Id of the knowledge base',
  },
  modes: {},
  chat: (upstream) => [chatOf(upstream)],
  asksForStreamUsage: true,
}
