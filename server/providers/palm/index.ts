import { palm } from '../../dialects/palm/index.ts'
import type { ChatEndpoint, Provider } from '../provider.ts'

const chat: ChatEndpoint = {
  dialect: palm,
  lacks: ['tools', 'images', 'audio', 'documents', 'structured output', 'logprobs', 'streaming'],
  target: ({ baseUrl, key }, { model }) => ({
    // The service has only one model. It is used even if the caller requests a different name.
    url: `${baseUrl}/v1beta2/models/${/^chat-bison/.test(model) ? encodeURIComponent(model) : 'chat-bison-001'}:generateMessage`,
    headers: { 'x-goog-api-key': key },
  }),
}

/** The provider for Google PaLM 2, the predecessor of Gemini. */
export const palmProvider: Provider = {
  meta: {
    type: 11,
    name: 'palm',
    label: 'Google PaLM2',
    color: 'orange',
    defaultBaseUrl: 'https://generativelanguage.googleapis.com',
    models: ['PaLM-2', 'chat-bison-001'],
    keyHint: 'API key of Google AI Studio',
  },
  modes: {},
  chat: () => [chat],
  asksForStreamUsage: true,
}
