import { palm } from '../../dialects/palm/index.ts'
import type { ChatEndpoint, Provider } from '../provider.ts'

const chat: ChatEndpoint = {
  dialect: palm,
  lacks: ['tools', 'images', 'audio', 'documents', 'structured output', 'logprobs', 'streaming'],
  target: ({ baseUrl, key }, { model }) => ({
    // There is only one model, and callers do not always know its name.
    url: `${baseUrl}/v1beta2/models/${/^chat-bison/.test(model) ? encodeURIComponent(model) : 'chat-bison-001'}:generateMessage`,
    headers: { 'x-goog-api-key': key },
  }),
}

/** Google PaLM 2, the predecessor of Gemini. */
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
