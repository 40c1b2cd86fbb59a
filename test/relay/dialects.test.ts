// Translated calls: how they end, what they cost, how content without a translation is handled, and services that do
// not support a dialect.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { chargedUnits, eventsOf, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
let channel: number

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { PreConsumedQuota: '20', HoldWaitTime: '0.2' } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0', StrictTranslationEnabled: 'false' })
  channel = await rig.channel()
})

const turn = { role: 'user', content: 'Hi' }
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

/** The same question in each dialect, and the paths to which it is sent. */
const dialects = {
  'openai-responses': { path: '/v1/responses', body: { model: 'm', input: 'Hi' }, stream: { stream: true } },
  'anthropic-messages': {
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 1000, messages: [turn] },
    stream: { stream: true },
  },
  gemini: { path: '/v1beta/models/m:generateContent', body: { contents }, stream: {} },
} as const
type Name = keyof typeof dialects
const names = Object.keys(dialects) as Name[]

const streamPath = (name: Name) =>
  name === 'gemini' ? '/v1beta/models/m:streamGenerateContent?alt=sse' : dialects[name].path

const ask = (name: Name, token?: string, fields: object = {}) =>
  see(rig.gateway.post(dialects[name].path, { ...dialects[name].body, ...fields }, token))
const stream = (name: Name, token?: string, init?: RequestInit) =>
  rig.gateway.post(streamPath(name), { ...dialects[name].body, ...dialects[name].stream }, token, init)

/** The error in the last event of a stream, if there is one. */
function failureIn(name: Name, text: string): unknown {
  const last = JSON.parse(eventsOf(text).at(-1) ?? '{}') as {
    message?: unknown
    error?: { message?: unknown }
    response?: { error?: { message?: unknown } }
  }
  // OpenAI reports two kinds of error: that the stream failed, or that the response failed.
  const message = name === 'openai-responses' ? (last.message ?? last.response?.error?.message) : last.error?.message
  return message
}

/** The end marker that clients of a dialect wait for. */
const ends: Record<Name, string> = {
  'openai-responses': 'response.completed',
  'anthropic-messages': 'message_stop',
  gemini: '"finishReason":"STOP"',
}

describe.each(names)('a caller of %s', (name) => {
  beforeEach(async () => {
    // The service responds to the first call that the endpoint does not exist. The gateway remembers this, so the tests
    // do not see that attempt.
    rig.upstream.next(fake.status(404, { shape: 'text' }))
    if (name === 'openai-responses') await ask(name)
  })

  test('pays for the tokens that the upstream reports, whether the answer is streamed or not', async () => {
    const caller = await rig.caller()
    rig.upstream.clear()
    expect((await ask(name, caller.token)).status).toBe(200)
    const seen = await see(stream(name, caller.token))
    expect(seen.text).toContain(ends[name])
    const { units, rows } = await chargedUnits(rig, caller)
    expect(units).toBe(30)
    expect(
      rows.map(({ prompt_tokens, completion_tokens, outcome }) => [prompt_tokens, completion_tokens, outcome]),
    ).toEqual([
      [10, 5, 'complete'],
      [10, 5, 'complete'],
    ])
  })

  test('gets an error if the upstream breaks off, and pays for what arrived', async () => {
    const caller = await rig.caller()
    rig.upstream.clear()
    rig.upstream.next(fake.cutsInsideEvent('fin'))
    const seen = await see(stream(name, caller.token))
    expect(failureIn(name, seen.text)).toMatch(/ended its response|was lost/)
    expect(seen.text).not.toContain(ends[name])
    const { units, rows } = await chargedUnits(rig, caller)
    expect(units).toBeGreaterThan(0)
    expect(rows[0]?.outcome).toBe('interrupted')
  })

  test('gets an error that the upstream sends inside its stream', async () => {
    rig.upstream.clear()
    rig.upstream.next(fake.errorEvent())
    const seen = await see(stream(name))
    expect(failureIn(name, seen.text)).toBeString()
    expect(seen.text).not.toContain(ends[name])
  })

  test('gets an error in the middle of a stream if the quota is used up', async () => {
    const caller = await rig.caller({ user: 100, token: 1000 })
    rig.upstream.clear()
    rig.upstream.next(fake.endlessStream())
    const seen = await see(stream(name, caller.token))
    expect(failureIn(name, seen.text)).toContain('the quota ran out')
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
    const balances = await rig.gateway.balances(caller.userId, caller.tokenId)
    expect([balances.holds, balances.quota >= 0]).toEqual([0, true])
  })

  test('stops the upstream call by disconnecting, and pays for what arrived', async () => {
    const caller = await rig.caller()
    rig.upstream.clear()
    rig.upstream.next(fake.endlessStream())
    const controller = new AbortController()
    const response = await stream(name, caller.token, { signal: controller.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    controller.abort()
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
    const { rows } = await chargedUnits(rig, caller)
    expect(rows[0]).toMatchObject({ outcome: 'aborted' })
  })

  test('gets the errors of the gateway and the upstream in its own format', async () => {
    rig.upstream.clear()
    const form = (text: string): unknown[] => {
      const body = JSON.parse(text) as { type?: string; error: Record<string, unknown> }
      if (name === 'gemini') return [typeof body.error['code'], typeof body.error['status']]
      return name === 'anthropic-messages'
        ? [body.type, typeof body.error['type']]
        : [typeof body.error['code'], 'param' in body.error]
    }
    const wanted: Record<Name, unknown[]> = {
      gemini: ['number', 'string'],
      'anthropic-messages': ['error', 'string'],
      'openai-responses': ['string', true],
    }
    rig.upstream.next(fake.status(429, { message: 'slow down', headers: [['retry-after', '7']] }))
    const busy = await ask(name)
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7'])
    expect(busy.text).toContain('slow down')
    expect(form(busy.text)).toEqual(wanted[name])
    const unknown = await ask(name, 'sk-nobody')
    expect(unknown.status).toBe(401)
    expect(form(unknown.text)).toEqual(wanted[name])
  })

  test('gets an answer no longer than the balance covers', async () => {
    const caller = await rig.caller({ user: 200, token: 200 })
    rig.upstream.clear()
    const limit = {
      'openai-responses': { max_output_tokens: 5000 },
      'anthropic-messages': { max_tokens: 5000 },
      gemini: { generationConfig: { maxOutputTokens: 5000 } },
    }
    expect((await ask(name, caller.token, limit[name])).status).toBe(200)
    const sent = rig.upstream.last.fields['max_tokens']
    expect(sent).toBeNumber()
    expect(sent).toBeLessThan(200)
  })

  test('has its instructions replaced by those of the channel', async () => {
    await rig.clear()
    await rig.channel({ system_prompt: 'Be brief.' })
    rig.upstream.next(fake.status(404, { shape: 'text' }))
    if (name === 'openai-responses') await ask(name)
    rig.upstream.clear()
    const own = {
      'openai-responses': { instructions: 'Be long.' },
      'anthropic-messages': { system: 'Be long.' },
      gemini: { systemInstruction: { parts: [{ text: 'Be long.' }] } },
    }
    expect((await ask(name, undefined, own[name])).status).toBe(200)
    expect(rig.upstream.last.fields['messages']).toEqual([{ role: 'system', content: 'Be brief.' }, turn])
  })
})

describe('a field that the channel’s service does not support', () => {
  const topK = { ...dialects['anthropic-messages'].body, top_k: 5 }

  test('is dropped, and reported as dropped', async () => {
    const seen = await see(rig.gateway.post('/v1/messages', topK))
    expect([seen.status, seen.headers.get('x-tollgate-dropped')]).toEqual([200, 'top_k'])
    expect(rig.upstream.last.fields).not.toHaveProperty('top_k')
  })

  test('is refused under strict translation, and nothing is sent or charged', async () => {
    await rig.gateway.setOption('StrictTranslationEnabled', 'true')
    const caller = await rig.caller()
    const seen = await see(rig.gateway.post('/v1/messages', topK, caller.token))
    expect(seen.status).toBe(400)
    expect(seen.text).toContain('top_k')
    expect(rig.upstream.requests).toEqual([])
    expect((await rig.gateway.balances(caller.userId, caller.tokenId)).used).toBe(0)
  })

  test('if a previous response is stored at one of several services, the call is refused unless the caller chooses the channel', async () => {
    await rig.channel({ name: 'second' })
    const seen = await ask('openai-responses', undefined, { previous_response_id: 'resp_1' })
    expect(seen.status).toBe(400)
    expect(seen.error?.param).toBe('previous_response_id')
    expect(rig.upstream.requests).toEqual([])
    const chosen = `${rig.gateway.token}-${channel}`
    rig.upstream.next(fake.okChat())
    await ask('openai-responses', chosen, { previous_response_id: 'resp_1' })
    expect(rig.upstream.requests[0]?.path).toBe('/v1/responses')
  })
})

describe('an answer in the background, after the call has ended', () => {
  const queued = { id: 'resp_1', object: 'response', status: 'queued', background: true, output: [], usage: null }

  test('is refused where the service does not have the Responses API', async () => {
    rig.upstream.next(fake.status(404, { shape: 'text' }))
    await ask('openai-responses')
    rig.upstream.clear()
    for (const fields of [{ background: true }, { background: true, stream: true }]) {
      const caller = await rig.caller()
      const seen = await ask('openai-responses', caller.token, fields)
      expect([seen.status, seen.error?.code]).toEqual([400, 'feature_not_supported'])
      expect(await rig.gateway.balances(caller.userId, caller.tokenId)).toMatchObject({ used: 0, holds: 0 })
    }
    expect(rig.upstream.requests).toEqual([])
  })

  test('background: false is accepted', async () => {
    const seen = await ask('openai-responses', undefined, { background: false })
    expect(seen.status).toBe(200)
  })

  test('the call fails if the upstream queues the answer although that was not requested', async () => {
    const caller = await rig.caller()
    rig.upstream.next(
      fake.behaviour('queues', async (exchange) => {
        exchange.head(200, [['content-type', 'application/json']])
        await exchange.write(JSON.stringify(queued))
        exchange.end()
      }),
    )
    const seen = await ask('openai-responses', caller.token)
    expect(seen.status).toBe(502)
    expect(await rig.gateway.balances(caller.userId, caller.tokenId)).toMatchObject({ used: 0, holds: 0 })
  })
})

describe('a service without the Responses API', () => {
  test('is called through that API once, and from then on in its own dialect', async () => {
    rig.upstream.next(fake.status(404, { shape: 'text' }))
    expect((await ask('openai-responses')).status).toBe(200)
    expect((await ask('openai-responses')).status).toBe(200)
    expect(rig.upstream.requests.map(({ path }) => path)).toEqual([
      '/v1/responses',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ])
  })

  test.each(["Item with id 'rs_gone' not found.", 'The model `x` does not exist.'])(
    'a 404 that concerns the resource is reported to the caller and does not change how the channel is called: %s',
    async (message) => {
      rig.upstream.next(fake.status(404, { message, code: null }))
      const seen = await ask('openai-responses')
      expect([seen.status, seen.error?.message]).toEqual([404, expect.stringContaining(message)])
      expect(rig.upstream.requests.map(({ path }) => path)).toEqual(['/v1/responses'])
      await ask('openai-responses')
      expect(rig.upstream.requests[1]?.path).toBe('/v1/responses')
    },
  )

  test('a model that the endpoint does not support is called through another endpoint, for this call only', async () => {
    rig.upstream.next(fake.status(404, { message: 'This model is not served at the endpoint /v1/responses.' }))
    expect((await ask('openai-responses')).status).toBe(200)
    await ask('openai-responses')
    expect(rig.upstream.requests.slice(0, 3).map(({ path }) => path)).toEqual([
      '/v1/responses',
      '/v1/chat/completions',
      '/v1/responses',
    ])
  })

  test('is shown to admins on its channel, with the reason', async () => {
    const other = await rig.channel({ models: 'm2' })
    rig.upstream.next(fake.status(404, { message: 'Invalid URL (POST /v1/responses)', code: null }))
    await ask('openai-responses')
    const missingAt = async (id: number) =>
      ((await rig.gateway.api('GET', `/api/channel/${id}`)) as { missing: object[] }).missing
    expect(await missingAt(channel)).toEqual([
      {
        what: 'openai-responses',
        reason: 'Invalid URL (POST /v1/responses)',
        until: expect.any(Number),
      },
    ])
    expect(await missingAt(other)).toEqual([])
  })

  test('the caller gets the service’s 404 if the service does not have the model', async () => {
    rig.upstream.always(fake.status(404, { message: 'no such model' }))
    const seen = await ask('openai-responses')
    expect([seen.status, seen.error?.message]).toEqual([404, expect.stringContaining('no such model')])
  })
})

test('an answer streamed as a JSON array is well-formed, even if the stream ends in an error', async () => {
  const path = '/v1beta/models/m:streamGenerateContent'
  const whole = JSON.parse((await see(rig.gateway.post(path, { contents }))).text) as object[]
  expect(whole.length).toBeGreaterThan(1)
  rig.upstream.next(fake.cutsInsideEvent('fin'))
  const cut = JSON.parse((await see(rig.gateway.post(path, { contents }))).text) as { error?: object }[]
  expect(cut.at(-1)?.error).toBeObject()
})

describe('a proxy channel', () => {
  test('is selected by its id, called with its key unchanged, charged and logged', async () => {
    const id = await rig.gateway.addChannel({ type: 43, base_url: rig.upstream.url, key: 'Basic abc', models: 'm' })
    const caller = await rig.caller()
    const path = `/v1/oneapi/proxy/${id}/v1/chat/completions`
    expect((await rig.gateway.post(path, { model: 'm', messages: [turn] }, caller.token)).status).toBe(200)
    expect(rig.upstream.last.headers.get('authorization')).toBe('Basic abc')
    const { units, rows } = await chargedUnits(rig, caller)
    expect([units, rows[0]?.channel_id]).toEqual([15, id])
  })

  test('gives no access to other channels, groups, models or paths', async () => {
    const fields = { type: 43, base_url: rig.upstream.url, models: 'm', group: 'vip' }
    const [mine, other] = [channel, await rig.gateway.addChannel(fields)]
    const caller = await rig.caller()
    const call = async (path: string, model = 'm') =>
      (await rig.gateway.post(path, { model, messages: [turn] }, caller.token)).status
    expect(await call(`/v1/oneapi/proxy/${mine}/v1/chat/completions`)).toBe(400)
    expect(await call(`/v1/oneapi/proxy/${other}/v1/chat/completions`)).toBe(400)
    expect(await call(`/v1/oneapi/proxy/${other}/v1/chat/completions`, 'else')).toBe(400)
    expect(await call(`/v1/oneapi/proxy/${other}/v1/files`)).toBe(501)
    expect(await call(`/v1/oneapi/proxy/${other}/v1/oneapi/proxy/${other}/v1/chat/completions`)).toBe(501)
    expect(rig.upstream.requests).toEqual([])
  })
})

describe('an error in a stream of Gemini, for a caller of Gemini', () => {
  const chunk = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] }, index: 0 }] }
  const busy = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
  const begun = `data: ${JSON.stringify(chunk)}\n\n`

  test.each([
    ['as Google writes it', `${JSON.stringify(busy, null, 2)}\n`],
    ['as the data of an event', `data: ${JSON.stringify(busy)}\n\n`],
    ['in both forms', `data: ${JSON.stringify(busy)}\n\n${JSON.stringify(busy)}\n\n`],
  ])('%s, is passed on as an event and as bare JSON', async (_, ending) => {
    await rig.clear({ RetryTimes: '0' })
    await rig.channel({ type: 24 })
    rig.upstream.next(
      fake.behaviour('fails in its stream', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(begun + ending)
        exchange.end()
      }),
    )
    const seen = await see(stream('gemini'))
    expect(seen.text).toBe(`${begun}data: ${JSON.stringify(busy)}\n\n${JSON.stringify(busy)}\n\n`)
  })

  test('is one element of an array', async () => {
    await rig.clear({ RetryTimes: '0' })
    await rig.channel()
    rig.upstream.next(fake.cutsInsideEvent('fin'))
    const seen = await see(rig.gateway.post('/v1beta/models/m:streamGenerateContent', { contents }))
    const elements = JSON.parse(seen.text) as object[]
    expect(elements.filter((each) => 'error' in each)).toHaveLength(1)
  })
})
