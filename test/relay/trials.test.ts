// While the circuit breaker skips a channel, only one call at a time is sent to it as a trial. If a trial ends without
// showing whether the channel works, the next call is the next trial.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import {
  chargedUnits,
  chat,
  chatStream,
  expectError,
  expectErrorEvent,
  type Rig,
  see,
  startRelayRig,
  until,
} from './setup.ts'

const speech = { model: 'tts-1', input: 'Hello', voice: 'alloy' }
const sound: readonly (readonly [string, string])[] = [['content-type', 'audio/mpeg']]

let rig: Rig
/** How far the gateway's clock is ahead of the real time. */
let aheadMs = 0

beforeAll(async () => {
  rig = await startRelayRig({
    channels: false,
    clock: { nowMs: () => Date.now() + aheadMs },
    settings: { ModelRatio: '{"m":1,"dear":1000}', PreConsumedQuota: '20', HoldWaitTime: '0.2' },
  })
})
beforeEach(() => rig.clear({ RetryTimes: '0' }))
afterAll(() => rig[Symbol.asyncDispose]())

async function call(path: string, body: object, quota?: { user: number }) {
  const caller = await rig.caller(quota)
  return see(rig.gateway.post(path, body, caller.token))
}

/**
 * Makes the channel with the key `bad` fail until the circuit breaker skips it, and advances the clock until a trial is
 * allowed.
 */
async function halfOpen(path: string, body: object): Promise<void> {
  rig.upstream.forKey('bad', fake.status(503))
  for (let count = 0; count < 5; count++) expect((await call(path, body)).status).toBe(503)
  aheadMs += 5_001
  const { breaker } = rig.gateway.context.relay.relay
  expect(breaker.snapshot().at(-1)).toMatchObject({ state: 'half-open' })
}

async function twoChannels(path: string, body: object): Promise<void> {
  await rig.channel({ key: 'bad', models: 'm,tts-1', priority: 1 })
  await rig.channel({ key: 'good', models: 'm,tts-1' })
  await halfOpen(path, body)
}

const chatPath = '/v1/chat/completions'

/** Makes another call, and returns the key of the channel that served it. */
async function next(path: string, body: object): Promise<string | undefined> {
  rig.upstream.forKey('bad', path === chatPath ? fake.ok() : fake.okSpeech())
  expect((await call(path, body)).status).toBe(200)
  return rig.upstream.last.key
}

test('if a trial call is refused before it is sent, the next call is a trial', async () => {
  await twoChannels(chatPath, chat)
  expectError(await call(chatPath, chat, { user: 5 }), 403, 'insufficient_user_quota')
  expect(await next(chatPath, chat)).toBe('bad')
})

test('if the quota of a trial call does not cover the channel, the next call is a trial', async () => {
  await rig.channel({ key: 'bad', model_mapping: '{"m":"dear"}', priority: 1 })
  await rig.channel({ key: 'good' })
  await halfOpen(chatPath, chat)
  const first = await rig.channel({ key: 'first', priority: 2 })
  await rig.gateway.setOption('RetryTimes', '1')
  rig.upstream.forKey('first', fake.status(503))
  expect((await call(chatPath, { ...chat, max_tokens: 1 }, { user: 100 })).status).toBe(200)
  expect(rig.upstream.last.key).toBe('good')
  await rig.gateway.api('DELETE', `/api/channel/${first}`)
  expect(await next(chatPath, { ...chat, max_tokens: 1 })).toBe('bad')
})

test('if the quota runs out during a trial stream, the next call is a trial', async () => {
  await twoChannels(chatPath, chat)
  rig.upstream.forKey('bad', fake.endlessStream())
  expectErrorEvent(await call(chatPath, chatStream, { user: 100 }), 'quota_exhausted_mid_stream')
  expect(rig.upstream.last.key).toBe('bad')
  expect(await next(chatPath, chat)).toBe('bad')
})

test('if the caller disconnects during trial speech, the next call is a trial', async () => {
  await twoChannels('/v1/audio/speech', speech)
  rig.upstream.forKey(
    'bad',
    fake.behaviour('speaks on', async (exchange) => {
      exchange.head(200, sound)
      while (await exchange.write('\u0001'.repeat(1000))) await new Promise((resolve) => setImmediate(resolve))
    }),
  )
  const caller = await rig.caller()
  const leave = new AbortController()
  const answer = await rig.gateway.post('/v1/audio/speech', speech, caller.token, { signal: leave.signal })
  expect(answer.status).toBe(200)
  leave.abort()
  await rig.upstream.until(({ openStreams }) => openStreams === 0)
  const { rows } = await chargedUnits(rig, caller)
  expect(rows[0]).toMatchObject({ outcome: 'aborted' })
  expect(await next('/v1/audio/speech', speech)).toBe('bad')
})

test('a token count does not count as a trial, so the next call is a trial', async () => {
  await twoChannels(chatPath, chat)
  expect((await call('/v1/messages/count_tokens', { ...chat, max_tokens: 9 })).status).toBe(200)
  expect(await next(chatPath, chat)).toBe('bad')
})

/** A behaviour that waits until `goOn` is called. */
function held(then: fake.Behaviour): { behaviour: fake.Behaviour; goOn: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const behaviour = fake.behaviour(`held, then ${then.name}`, async (exchange) => {
    await promise
    await then.run(exchange)
  })
  return { behaviour, goOn: resolve }
}

const stateOfBad = () => rig.gateway.context.relay.relay.breaker.snapshot().at(-1)?.state

test('failures of calls that began before the circuit breaker opened do not extend the pause', async () => {
  await rig.channel({ key: 'bad', priority: 1 })
  await rig.channel({ key: 'good' })
  const { behaviour, goOn } = held(fake.resetsBeforeHeaders())
  rig.upstream.forKey('bad', behaviour)
  const calls = Array.from({ length: 40 }, () => call(chatPath, chat))
  await rig.upstream.received(40)
  goOn()
  for (const { status } of await Promise.all(calls)) expect(status).toBe(502)
  expect(stateOfBad()).toBe('open')
  aheadMs += 5_001
  expect(stateOfBad()).toBe('half-open')
  expect(await next(chatPath, chat)).toBe('bad')
})

test.each([
  ['is refused', fake.status(400), 400],
  ['fails', fake.status(503), 503],
])('an earlier call that %s does not decide the result of the trial', async (_, ending, status) => {
  await rig.channel({ key: 'bad', priority: 1 })
  await rig.channel({ key: 'good' })
  const before = held(ending)
  rig.upstream.forKey('bad', before.behaviour)
  const old = call(chatPath, chat)
  await rig.upstream.received(1)
  await halfOpen(chatPath, chat)
  const trial = held(fake.ok())
  rig.upstream.forKey('bad', trial.behaviour)
  const trying = call(chatPath, chat)
  await rig.upstream.received(7)
  before.goOn()
  expect((await old).status).toBe(status)
  // The trial is still running, so other calls are sent to the good channel.
  expect((await call(chatPath, chat)).status).toBe(200)
  expect(rig.upstream.last.key).toBe('good')
  trial.goOn()
  expect((await trying).status).toBe(200)
  expect(stateOfBad()).toBeUndefined()
})

test('when a channel is deleted, its state is removed', async () => {
  await twoChannels(chatPath, chat)
  const leftAlone = async () => {
    const metrics = await fetch(`${rig.gateway.url}/metrics`).then((response) => response.text())
    return /^tollgate_breakers_open (\d+)$/m.exec(metrics)?.[1]
  }
  expect(await leftAlone()).not.toBe('0')
  await rig.clear()
  await until(async () => (await leftAlone()) === '0')
})
