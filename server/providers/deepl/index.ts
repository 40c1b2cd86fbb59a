import { deeplTranslate } from '../../dialects/deepl/index.ts'
import type { ChatEndpoint, Provider, Target, Upstream } from '../provider.ts'

const paid = 'https://api.deepl.com'
const free = 'https://api-free.deepl.com'

/**
 * The URL and headers for a path. Keys of free accounts end in `:fx` and are valid only at the free URL (DeepL docs,
 * "Authentication").
 */
function address({ baseUrl, key }: Upstream, path: string): Target {
  const base = baseUrl === free && !key.endsWith(':fx') ? paid : baseUrl
  return { url: `${base}${path}`, headers: { authorization: `DeepL-Auth-Key ${key}` } }
}

const chat: ChatEndpoint = {
  dialect: deeplTranslate,
  lacks: [
    'tools',
    'images',
    'audio',
    'documents',
    'structured output',
    'more than one answer',
    'logprobs',
    'streaming',
  ],
  target: (upstream) => address(upstream, '/v2/translate'),
}

/** The provider for DeepL. It translates the last message of a conversation. */
export const deepl: Provider = {
  meta: {
    type: 38,
    name: 'deepl',
    label: 'DeepL',
    color: 'black',
    defaultBaseUrl: free,
    models: ['deepl-zh', 'deepl-en', 'deepl-ja'],
    keyHint: 'authentication key',
  },
  modes: {},
  chat: () => [chat],
  asksForStreamUsage: false,
}
