import { Buffer } from 'node:buffer'
import { readMultipart } from './multipart.ts'
import { sendBody, sendJson } from './reply.ts'
import { type Behaviour, behaviour, type JsonObject } from './types.ts'

/** A 1×1 PNG. */
export const PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Embeddings: one vector per input, as floats or base64, as requested. */
export function okEmbeddings(
  options: { readonly dimensions?: number; readonly usage?: JsonObject | null } = {},
): Behaviour {
  return behaviour('okEmbeddings', (exchange) => {
    const { input, encoding_format, dimensions } = exchange.request.fields
    const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
    const asked = Number.isInteger(dimensions) && Number(dimensions) > 0 ? Math.min(Number(dimensions), 4096) : 8
    const size = options.dimensions ?? asked
    const vector = Float32Array.from({ length: size }, (_, index) => (index + 1) / 100)
    const embedding = encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector]
    const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding }))
    const usage = options.usage === null ? {} : { usage: options.usage ?? { prompt_tokens: 8, total_tokens: 8 } }
    return sendJson(exchange, 200, { object: 'list', data, model: exchange.request.model, ...usage })
  })
}

/** Ranking: all documents, in reverse order. */
export function okRerank(): Behaviour {
  return behaviour('okRerank', (exchange) => {
    const { documents } = exchange.request.fields
    const list = Array.isArray(documents) ? documents : []
    const results = list.map((_, index) => ({ index, relevance_score: (index + 1) / 10 })).reverse()
    return sendJson(exchange, 200, { model: exchange.request.model, results, usage: { total_tokens: 12 } })
  })
}

/** Moderations: one result per input. */
export function okModerations(flagged = false): Behaviour {
  return behaviour('okModerations', (exchange) => {
    const { input } = exchange.request.fields
    const inputs = Array.isArray(input) ? input : [input]
    const result = { flagged, categories: { violence: flagged }, category_scores: { violence: flagged ? 0.9 : 0.01 } }
    const model = exchange.request.model ?? 'omni-moderation-latest'
    return sendJson(exchange, 200, { id: 'modr-fake', model, results: inputs.map(() => result) })
  })
}

/** Images, edits and variations: as many as requested (`n` in the JSON or form), as URLs or base64. */
export function okImages(options: { readonly count?: number; readonly usage?: JsonObject } = {}): Behaviour {
  return behaviour('okImages', (exchange) => {
    const fields = formOrJson(exchange.request)
    const count = options.count ?? Number(fields.n ?? 1)
    const image =
      fields.response_format === 'b64_json' ? { b64_json: PNG_BASE64 } : { url: 'http://127.0.0.1/image.png' }
    const usage = options.usage ? { usage: options.usage } : {}
    return sendJson(exchange, 200, {
      created: 1_700_000_000,
      data: Array.from({ length: count }, () => image),
      ...usage,
    })
  })
}

/** Speech: bytes that are not valid UTF-8, in the requested format. */
export function okSpeech(bytes = 4096): Behaviour {
  return behaviour('okSpeech', (exchange) => {
    const { response_format: format } = exchange.request.fields
    const isNamed = typeof format === 'string' && /^\w+$/.test(format) && format !== 'mp3'
    const type = isNamed ? `audio/${format}` : 'audio/mpeg'
    return sendBody(exchange, 200, speechBytes(bytes), [['content-type', type]])
  })
}

/** The bytes that okSpeech sends: every byte value in turn. */
export function speechBytes(count = 4096): Uint8Array {
  return Uint8Array.from({ length: count }, (_, index) => (index * 7 + 0x80) & 0xff)
}

/** Transcriptions and translations, in the format that the form requests. */
export function okTranscription(text = 'Hello from the fake upstream.'): Behaviour {
  return behaviour('okTranscription', (exchange) => {
    const { response_format: format = 'json' } = formOrJson(exchange.request)
    if (format === 'text') return sendBody(exchange, 200, `${text}\n`, [['content-type', 'text/plain; charset=utf-8']])
    if (format === 'srt')
      return sendBody(exchange, 200, `1\n00:00:00,000 --> 00:00:02,500\n${text}\n\n`, [
        ['content-type', 'text/plain; charset=utf-8'],
      ])
    if (format === 'vtt')
      return sendBody(exchange, 200, `WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n${text}\n`, [
        ['content-type', 'text/plain; charset=utf-8'],
      ])
    const verbose = {
      task: 'transcribe',
      language: 'english',
      duration: 2.5,
      segments: [{ id: 0, start: 0, end: 2.5, text }],
    }
    return sendJson(exchange, 200, format === 'verbose_json' ? { ...verbose, text } : { text })
  })
}

/** The list of models, or the one named in the path. */
export function okModels(ids: readonly string[] = ['gpt-4o-mini', 'gpt-4o', 'text-embedding-3-small']): Behaviour {
  return behaviour('okModels', (exchange) => {
    const entry = (id: string) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'openai' })
    const named = /\/models\/(.+)$/.exec(exchange.request.path)?.[1]
    return sendJson(exchange, 200, named ? entry(decodeURIComponent(named)) : { object: 'list', data: ids.map(entry) })
  })
}

/** The response of OpenAI's billing endpoints: the limit in dollars and how much of it is used. */
export function okBilling(limit = 100, used = 12.5): Behaviour {
  return behaviour('okBilling', (exchange) => {
    const isUsage = exchange.request.path.endsWith('/usage')
    const subscription = {
      object: 'billing_subscription',
      has_payment_method: true,
      hard_limit_usd: limit,
      system_hard_limit_usd: limit,
    }
    return sendJson(exchange, 200, isUsage ? { object: 'list', total_usage: used * 100 } : subscription)
  })
}

function formOrJson(request: Parameters<typeof readMultipart>[0]): JsonObject {
  const parts = readMultipart(request)
  if (parts.length === 0) return request.fields
  return Object.fromEntries(parts.filter((part) => part.filename === undefined).map((part) => [part.name, part.text]))
}

/** The price list of a gateway. */
export function okPricing(): Behaviour {
  const row = { quota_type: 0, model_ratio: 1.25, model_price: 0, completion_ratio: 4, enable_groups: ['default'] }
  return behaviour('okPricing', (exchange) =>
    sendJson(exchange, 200, { success: true, data: [{ ...row, model_name: 'gpt-4o' }], group_ratio: { default: 1 } }),
  )
}
