import { failureAnswer } from '../../dialects/failures/service-failure.ts'
import { failureWithin, replicateChat } from '../../dialects/replicate/index.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ChatEndpoint, ModeEndpoint, Provider, Target, Upstream, UpstreamCall } from '../provider.ts'
import { openPrediction, predictionsUrl } from './prediction.ts'

function target({ baseUrl, key }: Upstream, { model }: UpstreamCall): Target {
  return { url: predictionsUrl(baseUrl, model), headers: { authorization: `Bearer ${key}` } }
}

const chat: ChatEndpoint = {
  dialect: replicateChat,
  lacks: ['tools', 'images', 'audio', 'documents', 'structured output', 'more than one answer', 'logprobs'],
  target,
  open: openPrediction,
}

/** Maps OpenAI's image sizes to aspect ratios. All of Replicate's image models accept an aspect ratio. */
const shapes: Readonly<Record<string, string>> = {
  '1024x1024': '1:1',
  '1792x1024': '16:9',
  '1024x1792': '9:16',
  '1536x1024': '3:2',
  '1024x1536': '2:3',
}

const images: ModeEndpoint = {
  target,
  open: openPrediction,
  translation: {
    request({ prompt, n, size, response_format: format, model: _model, user: _user, quality: _quality, ...rest }) {
      if (format === 'b64_json')
        throw new GatewayError('invalid_field_value', 'this channel returns image URLs only', {
          param: 'response_format',
        })
      const shape = typeof size === 'string' ? shapes[size] : undefined
      const count = typeof n === 'number' && n > 1 ? { num_outputs: n } : {}
      return { input: { prompt, ...(shape && { aspect_ratio: shape }), ...count, ...rest } }
    },
    reply(answer): JsonObject {
      const failure = failureWithin(answer)
      if (failure) return failureAnswer(failure)
      const { output } = answer
      const urls: readonly unknown[] = Array.isArray(output) ? output : [output]
      const data = urls.flatMap((url) => (typeof url === 'string' ? [{ url }] : []))
      const created = Math.floor(Date.parse(String(answer['created_at'])) / 1000)
      return { ...(Number.isFinite(created) && { created }), data }
    },
  },
}

/** The provider for Replicate. Its models are named `owner/name`. */
export const replicate: Provider = {
  meta: {
    type: 46,
    name: 'replicate',
    label: 'Replicate',
    color: 'blue',
    defaultBaseUrl: 'https://api.replicate.com/v1/models',
    models: [
      'meta/meta-llama-3-8b-instruct',
      'meta/meta-llama-3-70b-instruct',
      'meta/meta-llama-3.1-405b-instruct',
      'mistralai/mixtral-8x7b-instruct-v0.1',
      'ibm-granite/granite-3.0-8b-instruct',
      'deepseek-ai/deepseek-r1',
      'black-forest-labs/flux-schnell',
      'black-forest-labs/flux-dev',
      'black-forest-labs/flux-1.1-pro',
      'black-forest-labs/flux-pro',
      'stability-ai/stable-diffusion-3.5-large',
      'ideogram-ai/ideogram-v2',
      'recraft-ai/recraft-v3',
    ],
    keyHint: 'r8_…',
  },
  modes: { images },
  chat: () => [chat],
  asksForStreamUsage: true,
}
