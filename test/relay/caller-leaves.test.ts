import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import {
  type Bench,
  type Caller,
  charged,
  chargedUnits,
  chat,
  chatStream,
  promptTokens,
  startBench,
  until,
} from './setup.ts'

let bench: Bench
let channel: number

beforeAll(async () => {
  bench = await startBench({ channels: false, settings: { RetryTimes: '2', FirstByteTimeout: '30' } })
  channel = await bench.channel({ models: 'm,tts-1' })
})
afterAll(() => bench[Symbol.asyncDispose]())

interface Leaving {
  upstream: fake.Behaviour
  body?: object
  path?: string
}

/** Makes a call and leaves as soon as the upstream has started on it. */
async function leave({ upstream, body = chat, path = '/v1/chat/completions' }: Leaving): Promise<Caller> {
  const caller = await bench.caller()
  const before = bench.upstream.requests.length
  let begun = () => {}
  const working = new Promise<void>((resolve) => {
    begun = resolve
  })
  bench.upstream.next(
    fake.behaviour(upstream.name, async (exchange) => {
      begun()
      await upstream.run(exchange)
    }),
  )
  const controller = new AbortController()
  const answer = bench.gateway.post(path, body, caller.token, { signal: controller.signal }).catch(() => undefined)
  await working
  controller.abort()
  await answer
  await bench.upstream.until(({ requests, openStreams }) => requests.length > before && openStreams === 0)
  expect(bench.upstream.last.aborted).toBe(true)
  // There is nobody left to answer: no other attempt is made.
  expect(bench.upstream.requests.length).toBe(before + 1)
  return caller
}

const headThenSilence = fake.behaviour('head, then silence', (exchange) => {
  exchange.head(200, [['content-type', 'application/json']])
  exchange.hang()
})

describe('a caller who leaves before the first byte, while the upstream has the request, pays for the prompt', () => {
  const cases: readonly (Leaving & { name: string })[] = [
    { name: 'of a plain call', upstream: fake.neverAnswers() },
    { name: 'of a plain call whose answer has begun', upstream: headThenSilence },
    { name: 'of a stream', upstream: fake.neverAnswers(), body: chatStream },
    { name: 'of a stream whose head has come', upstream: fake.stallsBeforeFirstEvent(), body: chatStream },
  ]
  for (const each of cases) {
    test(each.name, async () => {
      const caller = await leave(each)
      const [row, ...more] = await charged(bench, caller, promptTokens)
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

  test('and for speech, whose price is known before it is produced', async () => {
    const body = { model: 'tts-1', input: 'Hello', voice: 'alloy' }
    const whole = await bench.caller()
    await bench.gateway.post('/v1/audio/speech', body, whole.token).then((response) => response.arrayBuffer())
    const { used } = await bench.gateway.balances(whole.userId, whole.tokenId)
    expect(used).toBeGreaterThan(0)
    const caller = await leave({ upstream: fake.neverAnswers(), body, path: '/v1/audio/speech' })
    const [row] = await charged(bench, caller, used)
    expect(row).toMatchObject({ outcome: 'aborted' })
  })
})

test('a caller who leaves says nothing about the health of the channel', async () => {
  for (let call = 0; call < 6; call++) await leave({ upstream: fake.neverAnswers() })
  for (let call = 0; call < 6; call++) await leave({ upstream: fake.stallsStream({ after: 0 }), body: chatStream })
  expect(bench.gateway.context.relay.relay.breaker.snapshot()).toEqual([])
})

test('a caller who leaves after the upstream has failed pays nothing', async () => {
  const caller = await bench.caller()
  await bench.gateway.setOption('RetryTimes', '0')
  bench.upstream.next(fake.status(500))
  await bench.gateway.post('/v1/chat/completions', chat, caller.token, { signal: AbortSignal.timeout(5000) })
  expect(await charged(bench, caller, 0)).toEqual([])
  await bench.gateway.setOption('RetryTimes', '2')
})

test('a caller who leaves a one-answer call that a service answers with events stops it and pays for the prompt', async () => {
  await bench.channel({ type: 34, models: 'bot-1', model_mapping: '{"bot-1":"m"}' })
  const caller = await bench.caller()
  let written = 0
  bench.upstream.next(
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
  const answer = bench.gateway
    .post('/v1/chat/completions', body, caller.token, { signal: leave.signal })
    .catch(() => undefined)
  // More than the connections buffer: the answer is being read.
  await until(() => written > 48 * 1024 * 1024)
  leave.abort()
  await answer
  await bench.upstream.until(({ openStreams }) => openStreams === 0)
  const { units, rows } = await chargedUnits(bench, caller)
  expect(units).toBeGreaterThan(0)
  expect(rows[0]).toMatchObject({ outcome: 'aborted', completion_tokens: 0 })
})
