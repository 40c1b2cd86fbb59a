import { failureWithin } from '../../dialects/ernie/failure.ts'
import { ernie } from '../../dialects/ernie/index.ts'
import { failureAnswer } from '../../dialects/failures/service-failure.ts'
import { looseList, looseText } from '../../dialects/neutral/fields.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { GatewayError } from '../../errors.ts'
import { countAt, embeddingsOut, embeddingTexts } from '../openai-compatible/embeddings.ts'
import { joinPath } from '../openai-compatible/index.ts'
import type { ChatEndpoint, ModeEndpoint, Provider, Signing, Target, Upstream } from '../provider.ts'

const keyForm = 'APIKey|SecretKey, or a key of the newer form (bce-v3/…)'

/**
 * The last segment of the URL's path, by model. For models that are not listed, it is the model name in lower case
 * (Qianfan API reference).
 */
const chatEndings: Readonly<Record<string, string>> = {
  'ERNIE-4.0': 'completions_pro',
  'ERNIE-4.0-8K': 'completions_pro',
  'ERNIE-Bot-4': 'completions_pro',
  'ERNIE-Bot': 'completions',
  'ERNIE-3.5-8K': 'completions',
  'ERNIE-Bot-turbo': 'eb-instant',
  'ERNIE-Lite-8K-0922': 'eb-instant',
  'ERNIE-Bot-8K': 'ernie_bot_8k',
  'ERNIE-Speed': 'ernie_speed',
  'ERNIE-Speed-8K': 'ernie_speed',
  'BLOOMZ-7B': 'bloomz_7b1',
}

const embeddingEndings: Readonly<Record<string, string>> = {
  'Embedding-V1': 'embedding-v1',
  'bge-large-zh': 'bge_large_zh',
  'bge-large-en': 'bge_large_en',
  'tao-8k': 'tao_8k',
}

/** The base URL of the newer API. It has a different host, unless the admin set a base URL. */
function newerBase({ baseUrl }: Upstream): string {
  return baseUrl.replace('https://aip.baidubce.com', 'https://qianfan.baidubce.com')
}

function isNewerForm({ baseUrl, key }: Upstream): boolean {
  return baseUrl.includes('qianfan.baidubce.com') || /\/v2$/.test(baseUrl) || !key.includes('|')
}

/**
 * The upstream token for a key. The token is valid for thirty days and is requested only once in that time. Throws
 * GatewayError for a wrong key.
 */
async function accessToken({ baseUrl, key }: Upstream, { tokens, fetchJson, nowMs }: Signing): Promise<string> {
  const [id = '', secret = ''] = key.split('|')
  return tokens.get(`ernie ${baseUrl} ${key}`, async () => {
    const query = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
    const answer = await fetchJson(`${baseUrl}/oauth/2.0/token?${query}`, {}, { body: '' }).catch((error: unknown) => {
      const isRefusal = error instanceof GatewayError && /: 40[013]$/.test(error.message)
      throw isRefusal ? refusedKey('') : error
    })
    const value = looseText(answer['access_token'])
    if (value === '') throw refusedKey(looseText(answer['error_description']) || looseText(answer['error']))
    const lifeSeconds = countAt(answer, 'expires_in') ?? 0
    return { value, expiresAtMs: nowMs + lifeSeconds * 1000 }
  })
}

function refusedKey(reason: string): GatewayError {
  const message = `Baidu's token service rejected the key of this channel${reason ? `: ${reason}` : ''}`
  return new GatewayError('bad_response_status_code', message, { status: 401 })
}

async function older(upstream: Upstream, ending: string, signing: Signing): Promise<Target> {
  const token = encodeURIComponent(await accessToken(upstream, signing))
  const path = `/rpc/2.0/ai_custom/v1/wenxinworkshop/${ending}`
  return { url: `${upstream.baseUrl}${path}?access_token=${token}`, headers: {} }
}

function newer(upstream: Upstream, path: string): Target {
  const url = joinPath(newerBase(upstream), path, '/v2')
  return { url, headers: { authorization: `Bearer ${upstream.key}` } }
}

const olderChat: ChatEndpoint = {
  dialect: ernie,
  lacks: ['images', 'audio', 'documents', 'more than one answer', 'logprobs'],
  target: (upstream, { model }, signing) =>
    older(upstream, `chat/${chatEndings[model] ?? model.toLowerCase()}`, signing),
}

const newerChat: ChatEndpoint = {
  dialect: openaiChat,
  options: { reasoningField: 'reasoning_content' },
  lacks: ['audio', 'more than one answer', 'logprobs'],
  target: (upstream) => newer(upstream, '/v1/chat/completions'),
}

const embeddings: ModeEndpoint = {
  target: (upstream, { model }, signing) =>
    isNewerForm(upstream)
      ? newer(upstream, '/v1/embeddings')
      : older(upstream, `embeddings/${embeddingEndings[model] ?? model.toLowerCase()}`, signing),
  translation: {
    // In the newer API, the body contains the model. In the older API, the URL contains it.
    request: (body, { model }) => ({ model, input: embeddingTexts(body), user_id: body['user'] }),
    reply(answer, { model }, request) {
      const failure = failureWithin(answer)
      if (failure) return failureAnswer(failure)
      const vectors = looseList(answer['data']).map(({ embedding }) => embedding)
      return embeddingsOut(vectors, model, request, countAt(answer, 'usage', 'prompt_tokens'))
    },
  },
}

/**
 * The provider for Baidu ERNIE. Keys of two parts are for the older form of its API. All other keys are for the newer
 * form, which is compatible with OpenAI's.
 */
export const ernieProvider: Provider = {
  meta: {
    type: 15,
    name: 'baidu',
    label: 'Baidu ERNIE',
    color: 'blue',
    defaultBaseUrl: 'https://aip.baidubce.com',
    models: [
      'ERNIE-4.0-8K',
      'ERNIE-3.5-8K',
      'ERNIE-3.5-8K-0205',
      'ERNIE-3.5-8K-1222',
      'ERNIE-3.5-4K-0205',
      'ERNIE-Bot',
      'ERNIE-Bot-8K',
      'ERNIE-Bot-turbo',
      'ERNIE-Speed-8K',
      'ERNIE-Speed-128K',
      'ERNIE-Lite-8K-0922',
      'ERNIE-Lite-8K-0308',
      'ERNIE-Tiny-8K',
      'BLOOMZ-7B',
      'Embedding-V1',
      'bge-large-zh',
      'bge-large-en',
      'tao-8k',
    ],
    keyHint: keyForm,
  },
  keyFault: (key) =>
    /^[^|\s]+\|[^|\s]+$/.test(key) || /^bce-v3\/\S+$/.test(key) ? undefined : `The key must be ${keyForm}.`,
  modes: { embeddings },
  chat: (upstream) => [isNewerForm(upstream) ? newerChat : olderChat],
  asksForStreamUsage: true,
}
