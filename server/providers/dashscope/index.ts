import { failureIn } from '../../dialects/dashscope/failure.ts'
import { dashscope } from '../../dialects/dashscope/index.ts'
import { isMultimodal } from '../../dialects/dashscope/model.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { joinPath, listModels } from '../openai-compatible/index.ts'
import type { ChatEndpoint, ModeEndpoint, Provider, Target, Upstream } from '../provider.ts'
import { images, usesJob } from './images.ts'
import { embeddingsTranslation, rerankTranslation } from './translations.ts'

/** The service's OpenAI-compatible API. */
const compatiblePrefix = '/compatible-mode/v1'

const services = '/api/v1/services'

function isCompatible({ baseUrl, config }: Upstream): boolean {
  return config['compatible'] === true || baseUrl.endsWith(compatiblePrefix)
}

const bearer = ({ key }: Upstream) => ({ authorization: `Bearer ${key}` })

/**
 * The URL of a path in the native API. If the base URL ends with an API path, as it does in DashScope's own client
 * libraries, that path is removed.
 */
function native(upstream: Upstream, path: string, headers: Readonly<Record<string, string>> = {}): Target {
  const base = upstream.baseUrl.replace(/\/(?:api|compatible-mode)\/v1$/, '')
  return { url: base + services + path, headers: { ...bearer(upstream), ...headers } }
}

function compatible(upstream: Upstream, path: string): Target {
  return { url: joinPath(upstream.baseUrl, path, compatiblePrefix), headers: bearer(upstream) }
}

const nativeChat: ChatEndpoint = {
  dialect: dashscope,
  lacks: ['documents'],
  target(upstream, { model, stream }) {
    const plugin = upstream.config['plugin'] || upstream.other
    const path = isMultimodal(model) ? '/aigc/multimodal-generation/generation' : '/aigc/text-generation/generation'
    return native(upstream, path, {
      ...(stream && { 'x-dashscope-sse': 'enable', accept: 'text/event-stream' }),
      ...(typeof plugin === 'string' && plugin !== '' && { 'x-dashscope-plugin': plugin }),
    })
  },
}

const compatibleChat: ChatEndpoint = {
  dialect: { ...openaiChat, decodeFailure: failureIn },
  options: { reasoningField: 'reasoning_content' },
  lacks: ['documents'],
  target: (upstream) => compatible(upstream, '/v1/chat/completions'),
}

const embeddings: ModeEndpoint = {
  target: (upstream) => native(upstream, '/embeddings/text-embedding/text-embedding'),
  translation: embeddingsTranslation,
}

const rerank: ModeEndpoint = {
  target: (upstream) => native(upstream, '/rerank/text-rerank/text-rerank'),
  translation: rerankTranslation,
}

/**
 * The provider for Alibaba's Qwen, in DashScope's native format. If the channel's config contains `compatible`, or its
 * base URL ends with the path of DashScope's OpenAI-compatible API, that API is used instead.
 */
export const dashscopeProvider: Provider = {
  meta: {
    type: 17,
    name: 'ali',
    label: 'Ali DashScope',
    color: 'orange',
    defaultBaseUrl: 'https://dashscope.aliyuncs.com',
    models: [
      'qwen-max',
      'qwen-max-latest',
      'qwen-plus',
      'qwen-plus-latest',
      'qwen-turbo',
      'qwen-turbo-latest',
      'qwen-flash',
      'qwen-long',
      'qwen3-max',
      'qwen3-coder-plus',
      'qwen3-vl-plus',
      'qwen-vl-max',
      'qwen-vl-plus',
      'qwen-vl-ocr',
      'qwq-plus',
      'qvq-72b-preview',
      'qwen-math-plus',
      'qwen-coder-plus',
      'qwen-coder-turbo',
      'qwen2.5-72b-instruct',
      'qwen2.5-32b-instruct',
      'qwen2.5-14b-instruct',
      'qwen2.5-7b-instruct',
      'qwen2.5-coder-32b-instruct',
      'qwen2.5-vl-72b-instruct',
      'deepseek-r1',
      'deepseek-v3',
      'qwen-v1',
      'qwen-plus-v1',
      'text-embedding-v1',
      'text-embedding-v2',
      'text-embedding-v3',
      'text-embedding-v4',
      'gte-rerank-v2',
      'qwen-image',
      'wanx-v1',
      'ali-stable-diffusion-xl',
      'ali-stable-diffusion-v1.5',
    ],
    keyHint: 'sk-…',
    otherLabel: 'Plugin',
  },
  modes: {
    embeddings,
    rerank,
    images: {
      ...images,
      target: (upstream, { model }) =>
        usesJob(model)
          ? native(upstream, '/aigc/text2image/image-synthesis', { 'x-dashscope-async': 'enable' })
          : native(upstream, '/aigc/multimodal-generation/generation'),
    },
  },
  chat: (upstream) => [isCompatible(upstream) ? compatibleChat : nativeChat],
  asksForStreamUsage: true,
  listModels: (upstream, fetchJson) => listModels(upstream, fetchJson, compatiblePrefix),
}
