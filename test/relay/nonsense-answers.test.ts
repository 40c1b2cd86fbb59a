// Upstreams send values of any type in fields that should contain a word or a text. That is a failure of the upstream,
// never of the gateway.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { behaviour, endlessStream, streamHeaders } from '../helpers/fake-upstream.ts'
import { charged, chargedUnits, chat, chatStream, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ settings: { ModelRatio: '{"m":1,"m2":1,"m3":1}' } })
  await rig.channel({ type: 24, models: 'm2' })
  await rig.channel({ type: 30, models: 'm3' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const noText = '{"toString":1,"valueOf":2}'
const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`

/** An upstream that responds with exactly this text. */
const says = (status: number, text: string, type = 'application/json') =>
  behaviour('nonsense', async (exchange) => {
    exchange.head(status, [['content-type', type]])
    await exchange.write(text)
    exchange.end()
  })

const cases: readonly (readonly [name: string, status: number, body: string, seenStatus: number, code: unknown])[] = [
  [
    'an error whose code and type are objects',
    400,
    `{"error":{"message":"no","type":${noText},"code":${noText}}}`,
    400,
    { toString: 1, valueOf: 2 },
  ],
  [
    'an error with status 200 whose code is an object',
    200,
    `{"error":{"message":"no","code":${noText}}}`,
    502,
    { toString: 1, valueOf: 2 },
  ],
  ['an error nested 100,000 levels deep', 200, `{"error":{"message":"no","code":${nested}}}`, 502, 'bad_response_body'],
  [
    'an answer nested 100,000 levels deep',
    200,
    `{"choices":[{"message":{"content":{"x":${nested}}}}]}`,
    502,
    'bad_response_body',
  ],
]

for (const [name, status, body, seenStatus, code] of cases) {
  test(`${name}: the caller gets ${seenStatus}, and nothing is charged`, async () => {
    const caller = await rig.caller()
    rig.upstream.next(says(status, body))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
    expect([seen.status, seen.error?.code]).toEqual([seenStatus, code as never])
    await charged(rig, caller, 0)
  })
}

test.each(['x'.repeat(1_000_000), `<html>${' '.repeat(1_000_000)}`, `{"a":"${'b'.repeat(1_000_000)}`])(
  'in place of a stream, a megabyte on one line that is not an event: 502, and nothing is charged',
  async (text) => {
    const caller = await rig.caller()
    rig.upstream.next(says(200, text, 'text/event-stream'))
    expectError(await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token)), 502, 'bad_response_body')
    await charged(rig, caller, 0)
  },
)

test('an error event that is a list nested 100,000 levels deep: 502, and nothing is charged', async () => {
  const caller = await rig.caller()
  rig.upstream.next(says(200, `data: {"error":${nested}}\n\n`, 'text/event-stream'))
  const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expectError(seen, 502, null)
  await charged(rig, caller, 0)
})

describe('arguments nested 100,000 levels deep, which cannot be serialised in any dialect:', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const geminiPath = '/v1beta/models/m2'
  const asked = { ...chat, model: 'm2' }
  const callers: readonly (readonly [name: string, path: string, body: object])[] = [
    ['passed on', `${geminiPath}:streamGenerateContent?alt=sse`, { contents }],
    ['for callers of another dialect', '/v1/chat/completions', { ...asked, stream: true }],
    ['for callers of a third dialect', '/v1/messages', { ...asked, stream: true, max_tokens: 9 }],
  ]
  const part = (text: string) => `{"candidates":[{"index":0,"content":{"role":"model","parts":[${text}]}}]}`
  const deep = part(`{"functionCall":{"name":"f","args":{"x":${nested}}}}`)

  test.each(callers)('in the middle of a stream %s', async (_, path, body) => {
    const caller = await rig.caller()
    rig.upstream.next(
      behaviour('deep in the middle', async (exchange) => {
        exchange.head(200, streamHeaders())
        await exchange.write(`data: ${part('{"text":"word"}')}\n\ndata: ${deep}\n\n`)
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post(path, body, caller.token))
    expect([seen.status, seen.broken]).toEqual([200, false])
    expect(seen.text).toContain('word')
    expect(seen.text).toContain('cannot be read')
    const { units, rows } = await chargedUnits(rig, caller)
    expect(units).toBeGreaterThan(0)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted' })
    expect(rows[0]?.content).toContain('ended: upstream_stream_error')
  })

  test.each(callers)('at the beginning of a stream %s', async (_, path, body) => {
    const caller = await rig.caller()
    rig.upstream.next(says(200, `data: ${deep}\n\n`, 'text/event-stream'))
    const seen = await see(rig.gateway.post(path, body, caller.token))
    expect(seen.status).toBe(502)
    await charged(rig, caller, 0)
  })

  test('in an error', async () => {
    const caller = await rig.caller()
    rig.upstream.next(says(400, `{"error":{"message":"no","status":"INVALID_ARGUMENT","details":${nested}}}`))
    const seen = await see(rig.gateway.post('/v1/chat/completions', asked, caller.token))
    expect(seen.status).toBe(400)
    await charged(rig, caller, 0)
  })

  test('as a string, in a field where another dialect has an object', async () => {
    const { run } = behaviour('deep text', async (exchange) => {
      exchange.head(200, streamHeaders())
      const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: `{"x":${nested}}` } }
      const chunk = (delta: object, more = {}) =>
        exchange.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, ...more }] })}\n\n`)
      await chunk({ content: 'word' })
      await chunk({ tool_calls: [call] })
      await chunk({}, { finish_reason: 'tool_calls' })
      await exchange.write('data: [DONE]\n\n')
      exchange.end()
    })
    const caller = await rig.caller()
    rig.upstream.next({ name: 'deep text', run })
    const seen = await see(
      rig.gateway.post('/v1beta/models/m:streamGenerateContent?alt=sse', { contents }, caller.token),
    )
    expect([seen.status, seen.broken]).toEqual([200, false])
    expect(seen.text).toContain('cannot be read')
    const { rows } = await chargedUnits(rig, caller)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted' })
  })

  test.each([
    ['passed on', `${geminiPath}:generateContent`, { contents }],
    ['for callers of another dialect', '/v1/chat/completions', asked],
  ] as const)('in a non-streamed answer %s', async (_, path, body) => {
    const caller = await rig.caller()
    rig.upstream.next(says(200, deep))
    const seen = await see(rig.gateway.post(path, body, caller.token))
    expect(seen.status).toBe(502)
    await charged(rig, caller, 0)
  })
})

test('an embedding nested 100,000 levels deep, in a format other than the requested one: 502, and nothing is charged', async () => {
  const caller = await rig.caller()
  rig.upstream.next(says(200, `{"embeddings":[${nested}]}`))
  const seen = await see(rig.gateway.post('/v1/embeddings', { model: 'm3', input: 'Hi' }, caller.token))
  expectError(seen, 502, 'bad_response_body')
  await charged(rig, caller, 0)
})

test('if a text field is a list nested 100,000 levels deep, the stream ends with an error event, and the delivered part is charged', async () => {
  const list = `${'[{"text":'.repeat(100_000)}""${'}]'.repeat(100_000)}`
  const said = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":${content}}}]}\n\n`
  const caller = await rig.caller()
  const { promise: isBegun, resolve: begun } = Promise.withResolvers<void>()
  rig.upstream.next(
    behaviour('deep in the middle', async (exchange) => {
      exchange.head(200, streamHeaders())
      await exchange.write(said('"word"'))
      await isBegun
      await exchange.write(said(list))
      exchange.end()
    }),
  )
  const answer = await rig.gateway.post('/v1/chat/completions', chatStream, caller.token)
  begun()
  const seen = await see(answer)
  expect([seen.status, seen.broken]).toEqual([200, false])
  expect(seen.text).toContain('cannot be read')
  const { units, rows } = await chargedUnits(rig, caller)
  expect(units).toBeGreaterThan(0)
  expect(rows[0]).toMatchObject({ outcome: 'interrupted' })
  expect(rows[0]?.content).toContain('ended: upstream_stream_error')
})

for (const [name, body] of [
  ['is passed on', chat],
  ['is translated', { ...chat, model: 'm2' }],
] as const) {
  test(`an endless stream in place of a non-streamed answer is also stopped at the upstream, if the answer ${name}`, async () => {
    const caller = await rig.caller()
    rig.upstream.next(endlessStream())
    const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token))
    expectError(seen, 502, 'bad_response_body')
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
    expect(rig.upstream.last.aborted).toBe(true)
    await charged(rig, caller, 0)
  })
}
