import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, chatStream, eventsOf, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
beforeEach(() => rig.clear())
afterAll(() => rig[Symbol.asyncDispose]())

async function call(body: unknown, init: RequestInit = {}, path = '/v1/chat/completions') {
  const caller = await rig.caller()
  const seen = await see(rig.gateway.post(path, body, caller.token, init))
  return { caller, seen, request: rig.upstream.last }
}

/** A body whose formatting would change if it were parsed and serialised again. */
const odd =
  '{ "model" : "m","messages":[{"role":"user","content":"caf\\u00e9 \\ud83d\\ude80 \\/"}],\n\t"temperature":0.0, "top_p": 1.0e0,' +
  ' "seed": 12345678901234567890, "x_unknown": {"model":"m","deep":[1.10, null, "}"]}, "logit_bias": {"50256": -1E2}}'

describe('the bytes of a request body', () => {
  test('are passed on exactly as they arrived', async () => {
    await rig.channel()
    const { seen, request } = await call(odd)
    expect(seen.status).toBe(200)
    expect(request.text).toBe(odd)
  })

  test('change only in the model name if the channel maps the model', async () => {
    await rig.channel({ model_mapping: '{"m":"m2"}' })
    const { caller, request } = await call(odd)
    expect(request.text).toBe(odd.replace('"model" : "m"', '"model" : "m2"'))
    const [row] = await charged(rig, caller, 15)
    expect(row).toMatchObject({ model_name: 'm2' })
  })

  test('change in the last of duplicate model fields, even if its name contains escapes', async () => {
    await rig.channel({ model_mapping: '{"m":"m2"}' })
    const text = '{"messages":[{"role":"user","content":"Hi"}],"temperature":0,"\\u006dodel":"m" }'
    const { request } = await call(text)
    expect(request.text).toBe('{"messages":[{"role":"user","content":"Hi"}],"temperature":0,"\\u006dodel":"m2" }')
  })

  test('get a usage option added if the caller streams without requesting usage', async () => {
    await rig.channel()
    const text = odd.replace('"seed"', '"stream":true, "seed"')
    const { seen, request } = await call(text)
    expect(request.text).toBe(`{"stream_options":{"include_usage":true},${text.slice(1)}`)
    expect(seen.text).not.toContain('"usage"')
    expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
  })

  test('keep other stream options when the usage option is added', async () => {
    await rig.channel()
    const { seen, request } = await call({
      ...chatStream,
      stream_options: { include_usage: false, include_obfuscation: false },
    })
    expect(request.fields['stream_options']).toEqual({ include_usage: true, include_obfuscation: false })
    expect(seen.text).not.toContain('"usage"')
  })

  test('stay unchanged if the caller requests usage, and the caller gets the usage', async () => {
    await rig.channel()
    const body = { ...chatStream, stream_options: { include_usage: true } }
    const { seen, request } = await call(body)
    expect(request.text).toBe(JSON.stringify(body))
    expect(JSON.parse(eventsOf(seen.text).at(-2) ?? '')).toMatchObject({ choices: [], usage: { completion_tokens: 5 } })
  })
})

describe('a forced system prompt', () => {
  const forced = { role: 'system', content: 'Be kind.' }

  test.each([
    ['is inserted as the first message', [{ role: 'user', content: 'Hi' }], [forced, { role: 'user', content: 'Hi' }]],
    [
      'replaces a system message',
      [
        { role: 'system', content: 'Be rude.', name: 'x' },
        { role: 'user', content: 'Hi' },
      ],
      [
        { ...forced, name: 'x' },
        { role: 'user', content: 'Hi' },
      ],
    ],
    [
      'replaces a developer message',
      [{ role: 'developer', content: 'Be rude.' }],
      [{ role: 'developer', content: 'Be kind.' }],
    ],
  ])('%s', async (_, messages, expected) => {
    await rig.channel({ system_prompt: 'Be kind.' })
    const { caller, request } = await call({ temperature: 0, messages, model: 'm', zzz: 1 })
    expect(request.text).toBe(JSON.stringify({ temperature: 0, messages: expected, model: 'm', zzz: 1 }))
    const [row] = await charged(rig, caller, 15)
    expect(row).toMatchObject({ system_prompt_reset: 1 })
  })
})

describe('headers', () => {
  test('from the upstream that contain account data or cookies, or are hop-by-hop, are dropped', async () => {
    await rig.channel()
    for (const kind of [fake.okChat(), fake.okStream()]) {
      rig.upstream.next(fake.withHopByHop(kind))
      const { seen } = await call(kind.name === 'okChat' ? chat : chatStream)
      expect(seen.status).toBe(200)
      for (const name of [
        'set-cookie',
        'openai-organization',
        'x-hop',
        'alt-svc',
        'strict-transport-security',
        'server',
        'proxy-authenticate',
        'upgrade',
        'trailer',
      ])
        expect([name, seen.headers.get(name)]).toEqual([name, null])
      expect(seen.headers.get('x-request-id')).toBe('req_fake')
    }
  })

  test('from the caller that contain its token, cookies, IP addresses or account details are dropped', async () => {
    await rig.channel({ key: 'key-a' })
    const headers = {
      cookie: 'session=secret',
      'x-forwarded-for': '203.0.113.9',
      'openai-organization': 'org-1',
      'x-api-key': 'other',
      'user-agent': 'caller/1.0',
      'openai-beta': 'assistants=v2',
    }
    const { caller, request } = await call(chat, { headers })
    expect(request.headers.get('authorization')).toBe('Bearer key-a')
    expect(request.headers.get('openai-beta')).toBe('assistants=v2')
    for (const name of ['cookie', 'x-forwarded-for', 'openai-organization', 'x-api-key'])
      expect([name, request.headers.get(name)]).toEqual([name, null])
    expect(JSON.stringify(request.rawHeaders)).not.toContain(caller.token.slice(3))
    expect(request.headers.get('user-agent')).not.toBe('caller/1.0')
  })

  test('of a streamed response tell proxies not to buffer it', async () => {
    await rig.channel()
    const { seen } = await call(chatStream)
    expect(seen.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(seen.headers.get('cache-control')).toBe('no-cache')
    expect(seen.headers.get('x-accel-buffering')).toBe('no')
  })

  test('JSON responses get a JSON content type, whatever content type the upstream gives them', async () => {
    await rig.channel()
    rig.upstream.next(
      fake.behaviour('JSON as HTML', async (exchange) => {
        exchange.head(200, [['content-type', 'text/html']])
        await exchange.write('{"choices":[{"message":{"content":"<script>alert(1)</script>"}}]}')
        exchange.end()
      }),
    )
    const { seen } = await call(chat)
    expect(seen.headers.get('content-type')).toBe('application/json')
  })
})

describe('where a call is sent', () => {
  test('Azure: the path contains the deployment, the query contains the version, and the key has a header of its own', async () => {
    await rig.channel({
      type: 3,
      key: 'azure-key',
      other: '2024-10-21',
      model_mapping: '{"m":"gpt 4/ü?&#\\r\\nx: y"}',
    })
    await rig.gateway.setOption('UnpricedModelPolicy', 'fallback')
    const { seen, request } = await call(chat)
    await rig.gateway.setOption('UnpricedModelPolicy', 'refuse')
    expect(seen.status).toBe(200)
    expect(request.target).toBe(
      '/openai/deployments/gpt%204%2F%C3%BC%3F%26%23%0D%0Ax%3A%20y/chat/completions?api-version=2024-10-21',
    )
    expect(request.headers.get('api-key')).toBe('azure-key')
    expect(request.headers.get('authorization')).toBeNull()
  })

  test('Azure: a base URL ending in /openai is used as the URL of the resource', async () => {
    await rig.channel({ type: 3, other: '2024-10-21', base_url: `${rig.upstream.url}/openai` })
    const { request } = await call(chat)
    expect(request.target).toBe('/openai/deployments/m/chat/completions?api-version=2024-10-21')
  })

  test('Azure: in the newer format, the body contains the deployment', async () => {
    await rig.channel({
      type: 3,
      other: 'v1',
      model_mapping: '{"m":"m.2"}',
      config: '{"strip_deployment_dots":true}',
    })
    await rig.gateway.setOption('UnpricedModelPolicy', 'fallback')
    const { request } = await call(chat)
    await rig.gateway.setOption('UnpricedModelPolicy', 'refuse')
    expect(request.target).toBe('/openai/v1/chat/completions')
    expect(request.json).toMatchObject({ model: 'm2' })
  })

  test.each([
    ['', '/v1/chat/completions'],
    ['/', '/v1/chat/completions'],
    ['/v1', '/v1/chat/completions'],
    ['/proxy/openai', '/proxy/openai/v1/chat/completions'],
  ])('a base URL that ends in "%s"', async (end, path) => {
    await rig.channel({ base_url: rig.upstream.url + end })
    const { request } = await call(chat)
    expect(request.target).toBe(path)
  })

  test('a trailing slash or a query from the caller does not change the target', async () => {
    await rig.channel()
    const { seen, request } = await call(chat, {}, '/v1/chat/completions/?api-version=1&key=secret')
    expect(seen.status).toBe(200)
    expect(request.target).toBe('/v1/chat/completions')
  })
})

describe('while the upstream sends nothing', () => {
  beforeEach(() => rig.gateway.setOption('KeepAliveInterval', '0.3'))
  afterAll(() => rig.gateway.setOption('KeepAliveInterval', '15'))

  test('before the first event and between two events, the caller gets comments', async () => {
    await rig.channel()
    rig.upstream.next(
      fake.stallsStream({ after: 0, forMs: 900, chunks: 3 }),
      fake.stallsStream({ after: 3, forMs: 900, chunks: 3 }),
    )
    for (let index = 0; index < 2; index++) {
      const { caller, seen } = await call(chatStream)
      expect(seen.text.match(/^: keep-alive\n\n/gm)?.length).toBeGreaterThan(0)
      expect(seen.text.replaceAll(': keep-alive\n\n', '')).toEndWith('[DONE]\n\n')
      await charged(rig, caller, 13)
    }
  })

  test('in the middle of a long event, the caller gets none', async () => {
    await rig.channel()
    const half = 'x'.repeat(300_000)
    rig.upstream.next(
      fake.behaviour('a pause within a long event', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(`data: {"choices":[{"index":0,"delta":{"content":"${half}`)
        await new Promise((resolve) => setTimeout(resolve, 900))
        await exchange.write(`${half}"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`)
        exchange.end()
      }),
    )
    const { seen } = await call(chatStream)
    expect(seen.text).not.toContain('keep-alive')
    expect(eventsOf(seen.text)).toHaveLength(2)
  })

  test('the upstream’s own comments are passed on to the caller without waiting for the interval', async () => {
    await rig.channel()
    let answered = false
    rig.upstream.next(
      fake.behaviour('comments only, for a while', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        while (!answered) {
          await exchange.write(': working\n\n')
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        await fake.okStream().run({ ...exchangeOf(exchange), head: () => undefined })
      }),
    )
    const caller = await rig.caller()
    const response = await rig.gateway.post('/v1/chat/completions', chatStream, caller.token)
    answered = true
    const seen = await see(response)
    // The gateway also sends its own comment if the interval ends before the upstream's headers have arrived.
    expect(seen.text).toMatch(/^(?:: keep-alive\n\n)?: working\n\n/)
    expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
  })
})

/** A copy of the exchange with bound methods, so that single methods can be replaced. */
function exchangeOf(exchange: fake.Exchange): fake.Exchange {
  return {
    request: exchange.request,
    callerLeft: exchange.callerLeft,
    h2: exchange.h2,
    head: (status, headers, framing) => exchange.head(status, headers, framing),
    write: (bytes) => exchange.write(bytes),
    end: () => exchange.end(),
    fin: () => exchange.fin(),
    reset: () => exchange.reset(),
    hang: () => exchange.hang(),
    raw: (bytes) => exchange.raw(bytes),
  }
}
