import { createHmac } from 'node:crypto'
import { zhipuFailure } from '../../dialects/failures/zhipu-failure.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { isFar, type Losable, withinRange } from '../../dialects/wire/dropped-fields.ts'
import { eventIn, zhipuV3 } from '../../dialects/zhipu-v3/index.ts'
import { GatewayError } from '../../errors.ts'
import { asEvents, type Framing } from '../../lib/bytes/reframe.ts'
import { SseSplitter } from '../../lib/bytes/sse.ts'
import type { JsonObject } from '../../lib/json.ts'
import { joinPath, listModels } from '../openai-compatible/index.ts'
import type { ChatEndpoint, ModeEndpoint, Provider, Target, Upstream } from '../provider.ts'

/**
 * The lifetime of a token, in milliseconds. A token is valid even if the clocks of gateway and service differ by a few
 * minutes.
 */
const tokenLifeMs = 60 * 60_000

const prefix = '/api/paas/v4'

/**
 * The token for a key of the form `id.secret` (Zhipu docs, "JWT"). The times in the token are in milliseconds, and the
 * text of the secret is the HMAC key, without decoding.
 */
export function jwt(key: string, nowMs: number): string {
  const [id = '', secret = ''] = key.split('.')
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const header = encoded({ alg: 'HS256', sign_type: 'SIGN' })
  const claims = encoded({ api_key: id, exp: nowMs + tokenLifeMs, timestamp: nowMs })
  const signature = createHmac('sha256', secret).update(`${header}.${claims}`).digest('base64url')
  return `${header}.${claims}.${signature}`
}

function fourth(upstream: Upstream, path: string, nowMs: number): Target {
  // If the base URL already ends with a version, as it does for other plans and for the international service, the
  // prefix is not added.
  return {
    url: joinPath(upstream.baseUrl, path, prefix),
    headers: { authorization: `Bearer ${jwt(upstream.key, nowMs)}` },
  }
}

const olderChat: ChatEndpoint = {
  dialect: zhipuV3,
  lacks: ['tools', 'images', 'audio', 'documents', 'structured output', 'more than one answer', 'logprobs'],
  target: (upstream, { model, stream }, { nowMs }) => ({
    url: `${upstream.baseUrl}/api/paas/v3/model-api/${encodeURIComponent(model)}/${stream ? 'sse-invoke' : 'invoke'}`,
    // This version of the API expects the token without a scheme.
    headers: { authorization: jwt(upstream.key, nowMs), ...(stream && { accept: 'text/event-stream' }) },
  }),
  read: (response, { stream }) => (stream && !isJson(response) ? asEvents(response, new EventFraming()) : response),
}

function isJson(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').startsWith('application/json')
}

/** Reads events whose kind and usage are not in the `data` lines but in other lines of the event. */
class EventFraming implements Framing {
  readonly #splitter = new SseSplitter(Number.POSITIVE_INFINITY)

  push(bytes: Uint8Array): string[] {
    const { text, events } = this.#splitter.push(bytes)
    return events.flatMap(({ from, to }) => message(text.slice(from, to)))
  }

  finish(): string[] {
    return message(this.#splitter.finish().text)
  }
}

function message(block: string): string[] {
  const event = eventIn(block)
  return event ? [JSON.stringify(event)] : []
}

const chat: ChatEndpoint = {
  dialect: { ...openaiChat, decodeFailure: zhipuFailure },
  options: { reasoningField: 'reasoning_content' },
  lacks: ['audio', 'more than one answer', 'logprobs'],
  target: (upstream, _call, { nowMs }) => fourth(upstream, '/v1/chat/completions', nowMs),
  finish: (body, { model }, lose) => finished(body, model, lose),
}

/**
 * Adapts a body to the service. For example, older models do not accept the limits of a parameter's range, such as a
 * temperature of 0 or 1.
 */
function finished(body: JsonObject, model: string, lose: (what: Losable) => void): JsonObject {
  const { reasoning_effort: _effort, ...rest } = body
  const isNewer = version(model) >= 4.5
  return {
    ...rest,
    ...thinking(body, model, lose),
    ...within(body, 'temperature', isNewer ? [0, 1] : [0.01, 0.99], () => lose('temperature')),
    ...within(body, 'top_p', [0.01, isNewer ? 1 : 0.99], () => lose('topP')),
  }
}

/** The version in a model's name; 0 if the name contains none. */
function version(model: string): number {
  return Number(/^glm-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0)
}

/**
 * Maps the caller's effort level to that of a model whose thinking cannot be switched off. Any other level becomes
 * `max` (Z.ai docs, "GLM-5.3").
 */
const levels: Readonly<Record<string, string>> = { minimal: 'low', low: 'low', medium: 'high', high: 'high' }

/**
 * The fields that control thinking. Newer models have a separate switch for it. For the newest models, the amount of
 * thinking can be set as well (Zhipu docs, "Deep thinking").
 */
function thinking(body: JsonObject, model: string, lose: (what: Losable) => void): JsonObject {
  const { reasoning_effort: effort, thinking: own } = body
  if (typeof effort !== 'string') return {}
  const isOff = effort === 'none'
  const at = version(model)
  if (at < 4.5) {
    if (!isOff) lose('reasoning')
    return {}
  }
  if (at < 5.2) {
    if (!isOff) lose('reasoning')
    return { thinking: own ?? { type: isOff ? 'disabled' : 'enabled' } }
  }
  if (at < 5.3) return { thinking: own ?? { type: isOff ? 'disabled' : 'enabled' }, reasoning_effort: effort }
  if (isOff) lose('reasoning')
  return { thinking: own ?? { type: 'enabled' }, reasoning_effort: isOff ? 'low' : (levels[effort] ?? 'max') }
}

function within(body: JsonObject, name: string, [least, most]: [number, number], lose: () => void): JsonObject {
  const value = body[name]
  if (typeof value !== 'number') return {}
  const taken = withinRange(value, least, most)
  if (isFar(taken, value)) lose()
  return { [name]: taken }
}

const passed: ModeEndpoint = { target: (upstream, { path }, { nowMs }) => fourth(upstream, path, nowMs) }

const images: ModeEndpoint = {
  ...passed,
  translation: {
    request(body, { model }) {
      const { prompt, size, quality, user, response_format: format, n = 1 } = body
      if (format === 'b64_json') throw wrong('this channel returns image URLs only', 'response_format')
      if (n !== 1) throw wrong('this channel generates one image at a time', 'n')
      return { model, prompt, size, quality, user_id: user }
    },
    reply: (answer) => answer,
  },
}

function wrong(message: string, param: string): GatewayError {
  return new GatewayError('invalid_field_value', message, { param })
}

/** The provider for Zhipu. Its chatglm models use their own old format. All other models use OpenAI's. */
export const zhipu: Provider = {
  meta: {
    type: 16,
    name: 'zhipu',
    label: 'Zhipu ChatGLM',
    color: 'violet',
    defaultBaseUrl: 'https://open.bigmodel.cn',
    models: [
      'glm-5.3',
      'glm-5.3-flash',
      'glm-5.2',
      'glm-5.1',
      'glm-5',
      'glm-5-turbo',
      'glm-4.7',
      'glm-4.7-flashx',
      'glm-4.5-air',
      'glm-4-plus',
      'glm-4-0520',
      'glm-4-airx',
      'glm-4-air',
      'glm-4-long',
      'glm-4-flashx',
      'glm-4-flash',
      'glm-4',
      'glm-4v-plus',
      'glm-4v-flash',
      'glm-zero-preview',
      'glm-3-turbo',
      'charglm-4',
      'emohaa',
      'codegeex-4',
      'chatglm_pro',
      'chatglm_std',
      'chatglm_lite',
      'cogview-3-plus',
      'cogview-3',
      'cogview-3-flash',
      'cogviewx',
      'cogviewx-flash',
      'embedding-2',
      'embedding-3',
    ],
    keyHint: 'id.secret',
  },
  keyFault: (key) => (/^[^.\s]+\.[^.\s]+$/.test(key) ? undefined : 'The key must be id.secret, with one dot.'),
  modes: { embeddings: passed, rerank: passed, images, speech: passed, transcriptions: passed },
  chat: (_upstream, model) => [model.startsWith('chatglm_') ? olderChat : chat],
  asksForStreamUsage: false,
  // Listing models needs no signed token. The service accepts the key itself.
  listModels: (upstream, fetchJson) => listModels(upstream, fetchJson, prefix),
}
