import { failureAnswer } from '../../dialects/failures/service-failure.ts'
import { failureWithin } from '../../dialects/hunyuan/failure.ts'
import { hunyuan } from '../../dialects/hunyuan/index.ts'
import { looseList, looseObject } from '../../dialects/neutral/fields.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { countAt, embeddingsOut, embeddingTexts } from '../openai-compatible/embeddings.ts'
import { joinPath } from '../openai-compatible/index.ts'
import type { ChatEndpoint, ModeEndpoint, Provider, Signing, Target, Upstream } from '../provider.ts'
import { tc3Authorization } from './tc3.ts'

const keyForm = 'AppId|SecretId|SecretKey, or an API key of the OpenAI form (sk-…)'

/** The signature includes this value exactly as written. */
const contentType = 'application/json'

/** True for a channel that uses the OpenAI-compatible API, whose keys have only one part. */
const isOpenaiForm = ({ key }: Upstream) => !key.includes('|')

function signed(upstream: Upstream, action: string, { body, nowMs }: Signing): Target {
  const [, secretId = '', secretKey = ''] = upstream.key.split('|')
  const url = `${upstream.baseUrl}/`
  const { host } = new URL(url)
  const request = { host, service: 'hunyuan', action, contentType, body, nowMs, secretId, secretKey }
  const region = upstream.config['region']
  return {
    url,
    headers: {
      'content-type': contentType,
      'x-tc-action': action,
      'x-tc-version': '2023-09-01',
      'x-tc-timestamp': String(Math.floor(nowMs / 1000)),
      ...(typeof region === 'string' && region !== '' && { 'x-tc-region': region }),
      authorization: tc3Authorization(request),
    },
  }
}

/** The URL and headers of the OpenAI-compatible API. It has a separate host, unless the admin set a base URL. */
function openaiForm({ baseUrl, key }: Upstream, path: string): Target {
  const base = baseUrl.replace('https://hunyuan.tencentcloudapi.com', 'https://api.hunyuan.cloud.tencent.com')
  return { url: joinPath(base, path), headers: { authorization: `Bearer ${key}` } }
}

const lacks = ['audio', 'documents', 'structured output', 'more than one answer', 'logprobs'] as const

const nativeChat: ChatEndpoint = {
  dialect: hunyuan,
  lacks,
  target: (upstream, _call, signing) => signed(upstream, 'ChatCompletions', signing),
}

const openaiFormChat: ChatEndpoint = {
  dialect: openaiChat,
  options: { reasoningField: 'reasoning_content' },
  lacks,
  target: (upstream) => openaiForm(upstream, '/v1/chat/completions'),
}

const nativeEmbeddings: ModeEndpoint = {
  target: (upstream, { path }, signing) =>
    isOpenaiForm(upstream) ? openaiForm(upstream, path) : signed(upstream, 'GetEmbedding', signing),
  translation: {
    // The request has the field names of both APIs. Each API ignores the fields of the other.
    request: (body, { model }) => ({ InputList: embeddingTexts(body), input: body['input'], model }),
    reply(answer, { model }, request) {
      const failure = failureWithin(answer)
      if (failure) return failureAnswer(failure)
      if (Array.isArray(answer['data'])) return answer
      const data = looseList(looseObject(answer['Response'])['Data'])
      const vectors = data.map(({ Embedding }) => Embedding)
      return embeddingsOut(vectors, model, request, countAt(answer, 'Response', 'Usage', 'PromptTokens'))
    },
  },
}

/**
 * The provider for Tencent Hunyuan. It uses Tencent Cloud's signature, or the OpenAI-compatible API if the key is for
 * that API.
 */
export const hunyuanProvider: Provider = {
  meta: {
    type: 23,
    name: 'tencent',
    label: 'Tencent Hunyuan',
    color: 'teal',
    defaultBaseUrl: 'https://hunyuan.tencentcloudapi.com',
    models: [
      'hunyuan-turbos-latest',
      'hunyuan-t1-latest',
      'hunyuan-large',
      'hunyuan-turbo',
      'hunyuan-pro',
      'hunyuan-standard',
      'hunyuan-standard-256K',
      'hunyuan-lite',
      'hunyuan-vision',
      'hunyuan-code',
      'hunyuan-functioncall',
      'hunyuan-role',
      'hunyuan-embedding',
    ],
    keyHint: keyForm,
  },
  keyFault: (key) =>
    /^[^|\s]+\|[^|\s]+\|[^|\s]+$/.test(key) || /^sk-[^|\s]+$/.test(key) ? undefined : `The key must be ${keyForm}.`,
  modes: { embeddings: nativeEmbeddings },
  chat: (upstream) => [isOpenaiForm(upstream) ? openaiFormChat : nativeChat],
  asksForStreamUsage: true,
}
