import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import {
  type Caller,
  charged,
  chargedUnits,
  chat,
  chatStream,
  promptTokens,
  type Rig,
  startRelayRig,
  until,
} from './setup.ts'

let rig: Rig
let channel: number

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { RetryTimes: '2', FirstByteTimeout: '30' } })
  channel = await rig.channel({ models: 'm,tts-1' })
})
afterAll(() => rig[Symbol.asyncDispose]())

interface Leaving {
  upstream: fake.Behaviour
  body?: object
  path?: string
}

/** Makes a call and disconnects as soon as the upstream has received it. */
async function leave({ upstream, body = chat, path = '/v1/chat/completions' }: Leaving): Promise<Caller> {
  const caller = await rig.caller()
  const before = rig.upstream.requests.length
  let begun = () => {}
  const working = new Promise<void>((resolve) => {
    begun = resolve
  })
  rig.upstream.next(
    fake.behaviour(upstream.name, async (exchange) => {
      begun()
      await upstream.run(exchange)
    }),
  )
  const controller = new AbortController()
  const answer = rig.gateway.post(path, body, caller.token, { signal: controller.signal }).catch(() => undefined)
  await working
  controller.abort()
  await answer
  await rig.upstream.until(({ requests, openStreams }) => requests.length > before && openStreams === 0)
  expect(rig.upstream.last.aborted).toBe(true)
  // The caller no longer waits for the answer, so no other attempt is made.
  expect(rig.upstream.requests.length).toBe(before + 1)
  return caller
}

const headThenSilence = fake.behaviour('head, then silence', (exchange) => {
  exchange.head(200, [['content-type', 'application/json']])
  exchange.hang()
})

describe('a caller who disconnects before the first byte, while the upstream is working on the request, pays for the prompt', () => {
  const cases: readonly (Leaving & { name: string })[] = [
    { name: 'of a non-streamed call', upstream: fake.neverAnswers() },
    { name: 'of a non-streamed call whose response has begun', upstream: headThenSilence },
    { name: 'of a stream', upstream: fake.neverAnswers(), body: chatStream },
    {
      name: 'of a stream whose response headers have arrived',
      upstream: fake.stallsBeforeFirstEvent(),
      body: chatStream,
    },
  ]
  for (const each of cases) {
    test(each.name, async () => {
      const caller = await leave(each)
      const [row, ...more] = await charged(rig, caller, promptTokens)
      expect(more).toEqual([])
      expect(row).toMatchObject({
        outcome: 'aborted',
        estimated: 1,
        prompt_tokens: promptTokens,
        completion_tokens: 0,
        channel_id: channel,
        first_byte_time: 0,
      })
    })
  }

  test('of speech, whose price is known before the speech is produced', async () => {
    const body = { model: 'tts-1', input: 'Hello', voice: 'alloy' }
    const whole = await rig.caller()
    await rig.gateway.post('/v1/audio/speech', body, whole.token).then((response) => response.arrayBuffer())
    const { used } = await rig.gateway.balances(whole.userId, whole.tokenId)
    expect(used).toBeGreaterThan(0)
    const caller = await leave({ upstream: fake.neverAnswers(), body, path: '/v1/audio/speech' })
    const [row] = await charged(rig, caller, used)
    expect(row).toMatchObject({ outcome: 'aborted' })
  })
})

test.each(['embedContent', 'batchEmbedContents'])(
  'a caller who disconnects from %s does not make it a failed call',
  async (method) => {
    const caller = await rig.caller()
    rig.upstream.next(fake.neverAnswers())
    const controller = new AbortController()
    const request = { content: { parts: [{ text: 'Hello' }] } }
    const before = rig.upstream.requests.length
    const answering = rig.gateway.app.fetch(
      new Request(`http://gateway/v1beta/models/m:${method}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(method === 'embedContent' ? request : { requests: [request] }),
        signal: controller.signal,
      }),
      { socketAddress: '127.0.0.1' },
    )
    await rig.upstream.until(({ requests }) => requests.length > before)
    controller.abort()
    expect((await answering).status).toBe(499)
    const { units, rows } = await chargedUnits(rig, caller)
    expect(units).toBeGreaterThan(0)
    expect(rows).toMatchObject([{ outcome: 'aborted' }])
  },
)

test('a caller who disconnects does not affect the health of the channel', async () => {
  for (let call = 0; call < 6; call++) await leave({ upstream: fake.neverAnswers() })
  for (let call = 0; call < 6; call++) await leave({ upstream: fake.stallsStream({ after: 0 }), body: chatStream })
  expect(rig.gateway.context.relay.relay.breaker.snapshot()).toEqual([])
})

test('a caller who disconnects after the upstream has failed pays nothing', async () => {
  const caller = await rig.caller()
  await rig.gateway.setOption('RetryTimes', '0')
  rig.upstream.next(fake.status(500))
  await rig.gateway.post('/v1/chat/completions', chat, caller.token, { signal: AbortSignal.timeout(5000) })
  expect(await charged(rig, caller, 0)).toEqual([])
  await rig.gateway.setOption('RetryTimes', '2')
})

test('if a service sends events for a non-streamed call and the caller disconnects, the upstream call ends, and the caller pays for the prompt', async () => {
  await rig.channel({ type: 34, models: 'bot-1', model_mapping: '{"bot-1":"m"}' })
  const caller = await rig.caller()
  let written = 0
  rig.upstream.next(
    fake.behaviour('goes on', async (exchange) => {
      exchange.head(200, fake.streamHeaders())
      const comment = `: ${'x'.repeat(65_536)}\n`
      while (await exchange.write(comment)) {
        written += comment.length
        await new Promise((resolve) => setImmediate(resolve))
      }
    }),
  )
  const leave = new AbortController()
  const body = { ...chat, model: 'bot-1' }
  const answer = rig.gateway
    .post('/v1/chat/completions', body, caller.token, { signal: leave.signal })
    .catch(() => undefined)
  // This is more than the connection buffers hold, so the gateway must be reading the answer.
  await until(() => written > 48 * 1024 * 1024)
  leave.abort()
  await answer
  await rig.upstream.until(({ openStreams }) => openStreams === 0)
  const { units, rows } = await chargedUnits(rig, caller)
  expect(units).toBeGreaterThan(0)
  expect(rows[0]).toMatchObject({ outcome: 'aborted', completion_tokens: 0 })
})
