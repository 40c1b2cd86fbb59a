// Services with their own formats: what the whole gateway sends to them, and what callers receive.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deepl } from '../../server/providers/deepl/index.ts'
import { events, readChunks, startWired, type Wired } from './service.ts'

setDefaultTimeout(120_000)

let wired: Wired
beforeAll(async () => {
  wired = await startWired()
})
afterAll(() => wired[Symbol.asyncDispose]())

interface Completion {
  choices: { message: { content: string } }[]
  usage: object
}
const completion = async (response: Response) => (await response.json()) as Completion

/** The log rows of aborted calls, as soon as there are any. */
async function untilLogged({ rig }: Wired) {
  for (;;) {
    const rows = (await rig.gateway.logs()).filter(({ outcome }) => outcome === 'aborted')
    if (rows.length > 0) return { rows }
    await Bun.sleep(5)
  }
}

describe('Cohere', () => {
  const answer = {
    id: 'c',
    message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
    finish_reason: 'COMPLETE',
    usage: { tokens: { input_tokens: 3, output_tokens: 2 } },
  }
  const stream = [
    { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
    { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
    { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hello' } } } },
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: answer.usage } },
    '[DONE]',
  ]

  test('serves calls streamed and not', async () => {
    await wired.channel(35, 'command-x-internet')
    wired.service.answer = ({ json }) => (json['stream'] ? events(...stream) : Response.json(answer))
    const whole = await completion(await wired.chat())
    expect(whole.choices[0]?.message.content).toBe('Hello')
    expect(whole.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 })
    expect(readChunks(await (await wired.chat({ stream: true })).text())).toMatchObject({
      content: 'Hello',
      finish: 'stop',
      done: true,
    })
    expect(wired.service.seen[0]).toMatchObject({ path: '/v2/chat', json: { model: 'command-x' } })
    expect(wired.service.seen[0]?.headers.get('authorization')).toBe('Bearer k')
  })

  test('creates embeddings and ranks documents', async () => {
    await wired.channel(35, 'embed-x')
    wired.service.answer = () =>
      Response.json({ embeddings: { float: [[1, 2]] }, meta: { billed_units: { input_tokens: 6 } } })
    const embedded = await (await wired.post('/v1/embeddings', { model: 'm', input: 'a' })).json()
    expect(embedded).toMatchObject({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 6 } })
    expect(wired.service.seen[0]).toMatchObject({
      path: '/v2/embed',
      json: { model: 'embed-x', texts: ['a'], input_type: 'search_document', embedding_types: ['float'] },
    })
    await wired.channel(35, 'rerank-x')
    wired.service.answer = () => Response.json({ results: [{ index: 0, relevance_score: 0.5 }] })
    const ranked = await (await wired.post('/v1/rerank', { model: 'm', query: 'q', documents: ['a'] })).json()
    expect(ranked).toMatchObject({ results: [{ index: 0, relevance_score: 0.5 }] })
    expect(wired.service.seen[0]).toMatchObject({ path: '/v2/rerank', json: { query: 'q', documents: ['a'] } })
  })

  test('lists only models that are still served', async () => {
    wired.service.answer = () => Response.json({ models: [{ name: 'a' }, { name: 'b', is_deprecated: true }] })
    expect(await wired.models(35)).toEqual(['a'])
  })
})

describe('Ollama', () => {
  const end = {
    model: 'q',
    message: { role: 'assistant', content: '' },
    done: true,
    done_reason: 'stop',
    prompt_eval_count: 3,
    eval_count: 2,
  }
  const lines = [
    { model: 'q', message: { role: 'assistant', content: 'Hel' }, done: false },
    { model: 'q', message: { role: 'assistant', content: 'lo' }, done: false },
    end,
  ]
  const ndjson = (list: object[]) =>
    new Response(list.map((line) => `${JSON.stringify(line)}\n`).join(''), {
      headers: { 'content-type': 'application/x-ndjson' },
    })

  test('serves callers of every dialect, streamed and not', async () => {
    await wired.channel(30, 'qwen')
    wired.service.answer = ({ json }) =>
      json['stream'] ? ndjson(lines) : Response.json({ ...end, message: { role: 'assistant', content: 'Hello' } })
    expect(await completion(await wired.chat())).toMatchObject({
      choices: [{ message: { content: 'Hello' } }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    })
    expect(readChunks(await (await wired.chat({ stream: true })).text())).toMatchObject({
      content: 'Hello',
      finish: 'stop',
      done: true,
    })
    const body = { model: 'm', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const text = await (await wired.post('/v1/messages', body)).text()
    expect(text).toContain('"text":"lo"')
    expect(text).toContain('message_stop')
    expect(wired.service.seen.map(({ path }) => path)).toEqual(['/api/chat', '/api/chat', '/api/chat'])
  })

  test('reports a stream that ends early or with an error', async () => {
    await wired.channel(30, 'qwen')
    wired.service.answer = () => ndjson(lines.slice(0, 2))
    expect(await (await wired.chat({ stream: true })).text()).not.toContain('[DONE]')
    wired.service.answer = () => ndjson([...lines.slice(0, 1), { error: 'the runner died' }])
    expect(await (await wired.chat({ stream: true })).text()).toContain('the runner died')
  })

  test('completes texts in OpenAI’s format', async () => {
    await wired.channel(30, 'qwen')
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    wired.service.answer = () => Response.json({ choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }], usage })
    const completed = await (await wired.post('/v1/completions', { model: 'm', prompt: 'Hi' })).json()
    expect(completed).toMatchObject({ choices: [{ text: 'Hello' }], usage })
    expect(wired.service.seen[0]).toMatchObject({ path: '/v1/completions', json: { model: 'qwen', prompt: 'Hi' } })
  })

  test('stops the stream when the caller disconnects, and charges for what arrived', async () => {
    await wired.channel(30, 'qwen')
    let ended: () => void = () => undefined
    const closed = new Promise<void>((resolve) => {
      ended = resolve
    })
    wired.service.answer = () => {
      const first = new TextEncoder().encode(`${JSON.stringify(lines[0])}\n`)
      const body = new ReadableStream({ start: (controller) => controller.enqueue(first), cancel: () => ended() })
      return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
    }
    const controller = new AbortController()
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const response = await wired.post('/v1/chat/completions', body, { signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    await closed
    const { rows } = await untilLogged(wired)
    expect(rows[0]).toMatchObject({ outcome: 'aborted' })
  })

  test('creates embeddings, and lists the pulled models', async () => {
    await wired.channel(30, 'nomic')
    wired.service.answer = () => Response.json({ embeddings: [[1, 2]], prompt_eval_count: 4 })
    const embedded = await (await wired.post('/v1/embeddings', { model: 'm', input: ['a'] })).json()
    expect(embedded).toMatchObject({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 4 } })
    expect(wired.service.seen[0]).toMatchObject({ path: '/api/embed', json: { model: 'nomic', input: ['a'] } })
    wired.service.answer = () => Response.json({ models: [{ name: 'qwen:latest' }] })
    const names = await wired.models(30)
    expect(wired.service.seen[0]?.path).toBe('/api/tags')
    expect(names).toEqual(['qwen:latest'])
  })
})

describe('Cloudflare', () => {
  const answer = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  }

  test('is called with the account id from the key or the configuration', async () => {
    wired.service.answer = () => Response.json(answer)
    await wired.channel(37, '@cf/x', { key: 'acc|token' })
    expect(await completion(await wired.chat())).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
    expect(wired.service.seen[0]?.path).toBe('/client/v4/accounts/acc/ai/v1/chat/completions')
    expect(wired.service.seen[0]?.headers.get('authorization')).toBe('Bearer token')
    await wired.channel(37, '@cf/x', { key: 'token', config: '{"user_id":"other"}' })
    await wired.chat()
    expect(wired.service.seen[0]?.path).toBe('/client/v4/accounts/other/ai/v1/chat/completions')
    await wired.channel(37, '@cf/x', { key: 'token', base_url: `${wired.service.url}/v1/a/gateway/workers-ai` })
    await wired.chat()
    expect(wired.service.seen[0]?.path).toBe('/v1/a/gateway/workers-ai/v1/chat/completions')
  })

  test('lists its models', async () => {
    wired.service.answer = () => Response.json({ result: [{ name: '@cf/x' }], success: true })
    expect(await wired.models(37, { key: 'acc|token' })).toEqual(['@cf/x'])
    expect(wired.service.seen[0]?.path).toBe('/client/v4/accounts/acc/ai/models/search?per_page=1000')
  })

  test('reports that the account id is missing if a channel has none', async () => {
    await wired.channel(37, '@cf/x', { key: 'token' })
    const response = await wired.chat()
    expect(response.ok).toBe(false)
    expect(await response.text()).toContain('account id')
  })

  test('generates images, whether the service returns the image itself or an object that contains it', async () => {
    await wired.channel(37, '@cf/paint', { key: 'acc|token' })
    const body = { model: 'm', prompt: 'A cat', size: '1024x1024' }
    wired.service.answer = () => new Response(new Uint8Array([1, 2, 3]), { headers: { 'content-type': 'image/png' } })
    expect(await (await wired.post('/v1/images/generations', body)).json()).toMatchObject({
      data: [{ b64_json: 'AQID' }],
    })
    wired.service.answer = () => Response.json({ result: { image: 'AAAA' }, success: true })
    expect(await (await wired.post('/v1/images/generations', body)).json()).toMatchObject({
      data: [{ b64_json: 'AAAA' }],
    })
    expect(wired.service.seen[0]).toMatchObject({
      path: '/client/v4/accounts/acc/ai/run/@cf/paint',
      json: { prompt: 'A cat', width: 1024, height: 1024 },
    })
  })
})

describe('Coze', () => {
  const named = (list: [string, unknown][]) =>
    new Response(list.map(([name, data]) => `event:${name}\ndata:${JSON.stringify(data)}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    })
  const stream: [string, unknown][] = [
    ['conversation.chat.created', { id: 'c' }],
    ['conversation.message.delta', { type: 'answer', content: 'Hel', chat_id: 'c' }],
    ['conversation.message.delta', { type: 'answer', content: 'lo', chat_id: 'c' }],
    ['conversation.message.completed', { type: 'answer', content: 'Hello', chat_id: 'c' }],
    ['conversation.chat.completed', { id: 'c', usage: { input_count: 3, output_count: 2, token_count: 5 } }],
    ['done', '[DONE]'],
  ]

  test('serves calls streamed and not, both from the same stream', async () => {
    await wired.channel(34, 'bot-7', { config: '{"user_id":"u1"}' })
    wired.service.answer = () => named(stream)
    expect(await completion(await wired.chat())).toMatchObject({
      choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    })
    expect(readChunks(await (await wired.chat({ stream: true })).text())).toMatchObject({
      content: 'Hello',
      finish: 'stop',
      done: true,
    })
    expect(wired.service.seen[0]).toMatchObject({
      path: '/v3/chat',
      json: { bot_id: '7', user_id: 'u1', stream: true },
    })
  })

  test('reports an error with status 200 as an error', async () => {
    await wired.channel(34, 'bot-7')
    wired.service.answer = () => Response.json({ code: 4100, msg: 'authentication is invalid' })
    for (const fields of [{}, { stream: true }]) {
      const response = await wired.chat(fields)
      expect(response.status).toBe(503)
      expect(await response.text()).toContain('upstream_unavailable')
    }
  })
})

describe('Replicate', () => {
  const path = '/v1/models/meta/llama/predictions'
  /** The service returns these URLs. If a base URL is set, their paths are called there. */
  const urls = {
    get: 'https://api.replicate.com/v1/predictions/p',
    cancel: 'https://api.replicate.com/v1/predictions/p/cancel',
    stream: 'https://stream.replicate.com/v1/files/p',
  }
  const ended = {
    id: 'p',
    status: 'succeeded',
    output: ['Hel', 'lo'],
    metrics: { input_token_count: 3, output_token_count: 2 },
    urls,
  }

  test('is polled until a prediction has ended', async () => {
    await wired.channel(46, 'meta/llama')
    wired.service.answer = ({ method }) =>
      method === 'POST' ? Response.json({ id: 'p', status: 'starting', urls }, { status: 201 }) : Response.json(ended)
    expect(await completion(await wired.chat())).toMatchObject({
      choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    })
    expect(wired.service.seen.map(({ method, path: at }) => `${method} ${at}`)).toEqual([
      `POST ${path}`,
      'GET /v1/predictions/p',
    ])
    expect(wired.service.seen[0]).toMatchObject({ json: { input: { prompt: 'Hi' } } })
    expect(wired.service.seen[1]?.headers.get('authorization')).toBe('Bearer k')
  })

  test('streams, and reports the usage at the end', async () => {
    await wired.channel(46, 'meta/llama')
    const text =
      'event: output\nid: 1\ndata: Hel\n\nevent: output\nid: 2\ndata: lo\ndata: \ndata: you\n\nevent: done\ndata: {}\n\n'
    wired.service.answer = ({ method, path: at }) => {
      if (method === 'POST') return Response.json({ id: 'p', status: 'starting', urls }, { status: 201 })
      return at.includes('files')
        ? new Response(text, { headers: { 'content-type': 'text/event-stream' } })
        : Response.json(ended)
    }
    const read = readChunks(await (await wired.chat({ stream: true, stream_options: { include_usage: true } })).text())
    expect(read).toMatchObject({ content: 'Hello\n\nyou', finish: 'stop', done: true, usage: { total_tokens: 5 } })
  })

  test('cancels a prediction that nobody waits for any more', async () => {
    await wired.channel(46, 'meta/llama')
    let given: () => void = () => undefined
    const cancelled = new Promise<void>((resolve) => {
      given = resolve
    })
    wired.service.answer = ({ path: at }) => {
      if (at.endsWith('/cancel')) given()
      if (!at.includes('files')) return Response.json({ id: 'p', status: 'starting', urls }, { status: 201 })
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('event: output\ndata: Hel\n\n')),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const controller = new AbortController()
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const response = await wired.post('/v1/chat/completions', body, { signal: controller.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    controller.abort()
    await cancelled
  })

  test('reports a failed prediction as an error', async () => {
    await wired.channel(46, 'meta/llama')
    wired.service.answer = () =>
      Response.json({ id: 'p', status: 'failed', error: 'out of memory', urls }, { status: 201 })
    const response = await wired.chat()
    expect(response.ok).toBe(false)
    expect(await response.text()).toContain('out of memory')
  })

  test('generates images', async () => {
    await wired.channel(46, 'owner/paint')
    wired.service.answer = () =>
      Response.json(
        { ...ended, output: 'https://replicate.delivery/x.png', created_at: '2026-01-01T00:00:00Z' },
        { status: 201 },
      )
    const drawn = await (
      await wired.post('/v1/images/generations', { model: 'm', prompt: 'A cat', size: '1792x1024' })
    ).json()
    expect(drawn).toMatchObject({ created: 1_767_225_600, data: [{ url: 'https://replicate.delivery/x.png' }] })
    expect(wired.service.seen[0]?.json).toEqual({ input: { prompt: 'A cat', aspect_ratio: '16:9' } })
  })
})

describe('DeepL', () => {
  test('translates, streamed and not, and bills characters', async () => {
    await wired.channel(38, 'deepl-de', { key: 'k:fx' })
    wired.service.answer = () => Response.json({ translations: [{ text: 'Hallo', billed_characters: 2 }] })
    expect(await completion(await wired.chat())).toMatchObject({
      choices: [{ message: { content: 'Hallo' } }],
      usage: { prompt_tokens: 2, completion_tokens: 0 },
    })
    const [row] = await wired.rig.gateway.logs()
    expect(row).toMatchObject({ prompt_tokens: 2, completion_tokens: 0, quota: 2, estimated: 0 })
    expect(readChunks(await (await wired.chat({ stream: true })).text())).toMatchObject({
      content: 'Hallo',
      done: true,
    })
    expect(wired.service.seen[0]).toMatchObject({ path: '/v2/translate', json: { text: ['Hi'], target_lang: 'DE' } })
    expect(wired.service.seen[0]?.headers.get('authorization')).toBe('DeepL-Auth-Key k:fx')
  })

  test('refuses what it does not support before anything is sent', async () => {
    await wired.channel(38, 'deepl-de')
    const response = await wired.chat({ tools: [{ type: 'function', function: { name: 'f' } }] })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('DeepL cannot do tools')
    expect(wired.service.seen).toEqual([])
  })

  test('uses the free endpoint for keys of free accounts', () => {
    const urlOf = (key: string) => {
      const upstream = { baseUrl: deepl.meta.defaultBaseUrl, key, other: '', config: {} }
      const [endpoint] = deepl.chat(upstream, 'deepl-de')
      const call = { mode: 'chat', path: '', model: '', stream: false } as const
      const signing = { body: '', nowMs: 0, tokens: { get: async () => '' }, fetchJson: async () => ({}) }
      return endpoint?.target(upstream, call, signing)
    }
    expect(urlOf('k:fx')).toMatchObject({ url: 'https://api-free.deepl.com/v2/translate' })
    expect(urlOf('k')).toMatchObject({ url: 'https://api.deepl.com/v2/translate' })
  })
})
