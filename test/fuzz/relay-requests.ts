import { badValue, type JsonText, strayNames } from './bad-values.ts'
import { type Json, type Place, placesOf, written } from './json-places.ts'
import type { Random } from './random.ts'
import { type FuzzRequest, spoilBody, spoilHeaders } from './requests.ts'

/** A relayed call, valid in every field. */
interface RelayRoute {
  path: string
  /** True if the call is sent as a form with one file. */
  form: boolean
  body: { readonly [name: string]: Json }
}

const tool = {
  type: 'function',
  function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } },
}

/** The calls that the gateway relays, with a value for every field that the gateway reads. */
const relayRoutes: readonly RelayRoute[] = [
  {
    path: '/v1/chat/completions',
    form: false,
    body: {
      model: 'gpt-4o',
      messages: [
        { role: 'system', content: 'Be short.', name: 'a' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'image_url', image_url: { url: 'https://nowhere.example/x.png', detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            { type: 'file', file: { file_data: 'AAAA', filename: 'x.pdf' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', content: 'ok', tool_call_id: 'c' },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 16,
      max_completion_tokens: 16,
      n: 1,
      temperature: 0,
      top_p: 1,
      stop: ['x'],
      tools: [tool],
      tool_choice: 'auto',
      functions: [tool.function],
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } },
      logit_bias: { '50256': -100 },
      user: 'u',
      seed: 1,
      modalities: ['text'],
      prediction: { type: 'content', content: 'x' },
      reasoning_effort: 'low',
      service_tier: 'auto',
      metadata: { a: 'b' },
    },
  },
  {
    path: '/v1/completions',
    form: false,
    body: {
      model: 'gpt-3.5-turbo-instruct',
      prompt: ['hi', 'there'],
      suffix: '',
      stream: false,
      max_tokens: 16,
      n: 1,
      best_of: 1,
      echo: false,
      logprobs: 1,
      stop: 'x',
    },
  },
  {
    path: '/v1/embeddings',
    form: false,
    body: {
      model: 'text-embedding-3-small',
      input: ['hi', 'there'],
      encoding_format: 'float',
      dimensions: 8,
      user: 'u',
    },
  },
  {
    path: '/v1/moderations',
    form: false,
    body: { model: 'omni-moderation-latest', input: [{ type: 'text', text: 'hi' }] },
  },
  {
    path: '/v1/images/generations',
    form: false,
    body: {
      model: 'dall-e-2',
      prompt: 'a cat',
      n: 1,
      size: '256x256',
      quality: 'standard',
      response_format: 'url',
      style: 'vivid',
    },
  },
  {
    path: '/v1/images/edits',
    form: false,
    body: {
      model: 'gpt-image-1',
      prompt: 'a cat',
      images: [{ image_url: 'https://nowhere.example/x.png' }],
      n: 1,
      size: '1024x1024',
      quality: 'low',
    },
  },
  {
    path: '/v1/audio/speech',
    form: false,
    body: { model: 'tts-1', input: 'hello', voice: 'alloy', response_format: 'mp3', speed: 1 },
  },
  { path: '/v1/images/edits', form: true, body: { model: 'dall-e-2', prompt: 'a cat', n: '1', size: '256x256' } },
  { path: '/v1/images/variations', form: true, body: { model: 'dall-e-2', n: '1', size: '256x256' } },
  {
    path: '/v1/audio/transcriptions',
    form: true,
    body: {
      model: 'whisper-1',
      language: 'en',
      prompt: 'x',
      response_format: 'json',
      temperature: '0',
      stream: 'false',
    },
  },
  { path: '/v1/audio/translations', form: true, body: { model: 'whisper-1', prompt: 'x', response_format: 'text' } },
]

/** The models in the bodies of these calls. */
export const relayModels = [...new Set(relayRoutes.map(({ body }) => String(body['model'])))]

/** The fault in one request of the run. */
export interface RelayTarget {
  route: RelayRoute
  fault: Place | 'body' | 'headers' | 'none'
}

/**
 * One target for each value in each body, identified by the value's field path, and one for each fault that concerns a
 * call as a whole.
 */
export const relayTargets: readonly RelayTarget[] = relayRoutes.flatMap((route) =>
  [...placesOf(route.body), 'body' as const, 'headers' as const, 'none' as const].map((fault) => ({ route, fault })),
)

/** The name of a target in reports: `/v1/chat/completions messages.0.role`. */
export function relayTargetName({ route, fault }: RelayTarget): string {
  return `${route.path}${route.form ? ' (form)' : ''} ${typeof fault === 'string' ? fault : fault.join('.')}`
}

/** A call that is valid except for the target's fault. Other fields are omitted at random. */
export function buildRelayRequest({ route, fault }: RelayTarget, random: Random): FuzzRequest {
  const isPlace = typeof fault !== 'string'
  const keep = (name: string) => name === 'model' || (isPlace && name === fault[0]) || random.chance(0.8)
  const body = Object.fromEntries(Object.entries(route.body).filter(([name]) => keep(name)))
  const request: FuzzRequest = { method: 'POST', path: route.path, headers: {} }
  if (route.form) fillForm(request, body, isPlace ? String(fault[0]) : fault, random)
  else {
    request.headers['content-type'] = 'application/json'
    request.body = isPlace ? written(body, fault, badValue(random)) : JSON.stringify(body)
    if (fault === 'body') spoilBody(request, random)
  }
  if (fault === 'headers') spoilHeaders(request, random)
  return request
}

const file = 'RIFF\u0001\u0002\u0003'

function fillForm(request: FuzzRequest, body: Record<string, Json>, fault: string, random: Random): void {
  const boundary = 'fuzz-boundary'
  const textOf = (value: JsonText) => {
    try {
      const parsed: unknown = JSON.parse(value)
      return typeof parsed === 'string' ? parsed : value
    } catch {
      return value
    }
  }
  const parts = Object.entries(body).map(([name, value]) => [
    name,
    name === fault ? textOf(badValue(random)) : String(value),
  ])
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const upload = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n${file}\r\n`
  let text = `${parts.map(([name = '', value = '']) => field(name, value)).join('')}${upload}--${boundary}--\r\n`
  request.headers['content-type'] = `multipart/form-data; boundary=${boundary}`
  if (fault === 'body') {
    text = random.pick([
      () => text.slice(0, random.int(text.length)),
      () => text.replaceAll(boundary, 'other'),
      () => text.replace('name="model"', `name="${random.pick(strayNames)}"`),
      () => text.replace('name="model"', 'name="model"; filename="m"'),
      () => text.replace('name="model"', "name*=utf-8''%zz"),
      () => field('model', 'dearer') + text,
      () => text.replaceAll('\r\n', '\n'),
      () => text.replace('Content-Disposition', 'content-disposition\u0000'),
      () => `${'x'.repeat(70_000)}${text}`,
      () => text.replace('\r\n\r\n', `\r\nX-Long: ${'y'.repeat(40_000)}\r\n\r\n`),
      () => '',
      () => `--${boundary}--`,
      () => JSON.stringify(body),
    ])()
    request.headers['content-type'] = random.pick([
      `multipart/form-data; boundary=${boundary}`,
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary="${'b'.repeat(200)}"`,
      'multipart/mixed; boundary=fuzz-boundary',
      'application/json',
      'text/plain',
    ])
  }
  request.body = text
}
