import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import {
  charged,
  chargedUnits,
  chat,
  chatStream,
  eventsOf,
  expectError,
  expectErrorEvent,
  type Rig,
  see,
  startRelayRig,
  until,
  untilHeard,
} from './setup.ts'

let rig: Rig
/** How far the gateway's clock is ahead of the real time. */
let aheadMs = 0

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, clock: { nowMs: () => Date.now() + aheadMs } })
})
beforeEach(() => rig.clear({ RetryTimes: '0', AutomaticDisableChannelEnabled: 'false', ModelRatio: '{"m":1,"m2":1}' }))
afterAll(() => rig[Symbol.asyncDispose]())

const keys = () => rig.upstream.requests.map((request) => request.key)

async function call(body: object = chat) {
  const caller = await rig.caller()
  const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token))
  return { caller, seen }
}

describe('retry', () => {
  test('after one 500 and without retries, the caller gets the 500 and pays nothing', async () => {
    await rig.channel({ key: 'key-a' })
    await rig.channel({ key: 'key-b' })
    rig.upstream.next(fake.status(500))
    const { caller, seen } = await call()
    expectError(seen, 500, null)
    expect(rig.upstream.requests).toHaveLength(1)
    await charged(rig, caller, 0)
  })

  test('after one 500 and with one retry, the other channel’s answer is charged once, and the log shows both attempts', async () => {
    const first = await rig.channel({ key: 'key-a', priority: 1 })
    const second = await rig.channel({ key: 'key-b' })
    await rig.gateway.setOption('RetryTimes', '1')
    rig.upstream.forKey('key-a', fake.status(500))
    const { caller, seen } = await call()
    expect(seen.status).toBe(200)
    expect(keys()).toEqual(['key-a', 'key-b'])
    const [row, ...more] = await charged(rig, caller, 15)
    expect(more).toEqual([])
    expect(row).toMatchObject({ outcome: 'complete', channel_id: second })
    expect(JSON.parse(row?.attempts ?? '')).toMatchObject([
      { channelId: first, status: 500, error: 'The server had an error while processing your request.' },
      { channelId: second, status: 200, error: '' },
    ])
  })

  test('a channel that maps the model to a model without a price is skipped if there is another channel', async () => {
    const mapped = { model_mapping: '{"m":"unheard-of"}' }
    await rig.channel({ key: 'key-a', priority: 2, ...mapped })
    const priced = await rig.channel({ key: 'key-b', priority: 1 })
    await rig.channel({ key: 'key-c', ...mapped })
    const { caller, seen } = await call()
    expect(seen.status).toBe(200)
    expect(keys()).toEqual(['key-b'])
    const [row] = await charged(rig, caller, 15)
    expect(row).toMatchObject({ channel_id: priced, attempts: '' })

    await rig.gateway.setOption('RetryTimes', '3')
    rig.upstream.requests.length = 0
    rig.upstream.next(fake.status(500))
    const failing = await call()
    // The error reports that the upstream failed, not that the remaining channel has no price.
    expectError(failing.seen, 500, null)
    expect(keys()).toEqual(['key-b'])
    await charged(rig, failing.caller, 0)
  })

  test('if no channel has a price, the call is refused and no upstream is called', async () => {
    for (const key of ['key-a', 'key-b']) await rig.channel({ key, model_mapping: '{"m":"unheard-of"}' })
    const { caller, seen } = await call()
    expectError(seen, 503, 'model_not_priced')
    expect(keys()).toEqual([])
    await charged(rig, caller, 0)
  })

  test('a channel without a price for the service tier is skipped; if no other channel is left, the error reports the missing price', async () => {
    await rig.gateway.setOption('ModelRatio', '{"m":1,"gpt-5.1":1}')
    await rig.gateway.setOption('ServiceTierRatio', '{"ultra:gpt-5.1":2}')
    const mapped = { model_mapping: '{"m":"gpt-5.1"}' }
    await rig.channel({ key: 'without', priority: 1 })
    const other = await rig.channel({ key: 'with', ...mapped })
    const tiered = { ...chat, service_tier: 'ultra' }
    const { caller, seen } = await call(tiered)
    expect(seen.status).toBe(200)
    expect(keys()).toEqual(['with'])
    expect((await chargedUnits(rig, caller)).units).toBeGreaterThan(0)
    await rig.gateway.api('DELETE', `/api/channel/${other}`)
    await rig.channel({ key: 'unpriced', model_mapping: '{"m":"unheard-of"}', priority: 2 })
    // The error is about the tier, which the caller can change, and not about the missing price, which only the
    // operator can add.
    expectError((await call(tiered)).seen, 400, 'tier_not_priced')
    expect(keys()).toEqual(['with'])
  })

  test('an admin who chose a channel without a price gets an error about the missing price', async () => {
    const id = await rig.channel({ key: 'chosen', model_mapping: '{"m":"unheard-of"}' })
    await rig.channel({ key: 'other' })
    const caller = await rig.caller(undefined, { user: { role: 10 } })
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, `${caller.token}-${id}`))
    expectError(seen, 503, 'model_not_priced')
    expect(keys()).toEqual([])
  })

  test('a channel whose mapped model does not support the task is skipped', async () => {
    await rig.gateway.setOption('ModelRatio', '{"gpt-image-1":1,"dall-e-2":1}')
    const first = await rig.channel({ key: 'able', models: 'gpt-image-1' })
    await rig.channel({
      key: 'unable',
      models: 'gpt-image-1',
      model_mapping: '{"gpt-image-1":"dall-e-2"}',
      priority: 1,
    })
    const ask = { model: 'gpt-image-1', prompt: 'a bridge', size: '1536x1024' }
    const images = async () => {
      const caller = await rig.caller({ user: 1e9, token: 1e9 })
      return see(rig.gateway.post('/v1/images/generations', ask, caller.token))
    }
    rig.upstream.always(fake.okImages())
    expect((await images()).status).toBe(200)
    expect(keys()).toEqual(['able'])
    await rig.gateway.setOption('RetryTimes', '1')
    rig.upstream.always(fake.status(500))
    // The error reports that the upstream failed, not why the other channel would have refused the call.
    expectError(await images(), 500, null)
    await rig.gateway.api('DELETE', `/api/channel/${first}`)
    expectError(await images(), 400, 'size_not_supported')
  })

  test('the hold grows before a more expensive channel is called, and a channel that the quota does not cover is skipped', async () => {
    await rig.gateway.setOption('ModelRatio', '{"m":1,"dear":50,"dearest":1000}')
    await rig.gateway.setOption('RetryTimes', '3')
    await rig.channel({ key: 'cheap', priority: 3 })
    await rig.channel({ key: 'dearest', priority: 2, model_mapping: '{"m":"dearest"}' })
    await rig.channel({ key: 'dear', priority: 1, model_mapping: '{"m":"dear"}' })
    rig.upstream.forKey('cheap', fake.status(500))
    rig.upstream.forKey('dear', fake.neverAnswers())
    const caller = await rig.caller({ user: 2000, token: 2000 })
    const leave = new AbortController()
    const body = { ...chat, max_tokens: 10 }
    const answer = rig.gateway.post('/v1/chat/completions', body, caller.token, { signal: leave.signal })
    answer.catch(() => undefined)
    await rig.upstream.received(2)
    expect(keys()).toEqual(['cheap', 'dear'])
    const { amount } = await rig.gateway.context.store.read
      .selectFrom('holds')
      .select('amount')
      .where('user_id', '=', caller.userId)
      .executeTakeFirstOrThrow()
    // At least 18 tokens at 50 units each, and no more than the balance.
    expect(amount).toBeWithin(18 * 50, 2001)
    leave.abort()
    await rig.upstream.until(({ openStreams }) => openStreams === 0)

    rig.upstream.requests.length = 0
    const poor = await rig.caller({ user: 1000, token: 100 })
    const refused = await see(rig.gateway.post('/v1/chat/completions', body, poor.token))
    // The quota does not cover the remaining channels, so the error reports the failure of the upstream.
    expectError(refused, 500, null)
    expect(keys()).toEqual(['cheap'])
    await until(async () => (await rig.gateway.balances(poor.userId, poor.tokenId)).holds === 0)
    expect(await rig.gateway.balances(poor.userId, poor.tokenId)).toMatchObject({
      quota: 1000,
      remain: 100,
      holds: 0,
    })
  })

  const retried: readonly fake.Behaviour[] = [
    fake.status(401),
    fake.status(403),
    fake.status(404),
    fake.status(408),
    fake.status(429),
    fake.status(503, { shape: 'html' }),
    fake.resetsBeforeHeaders(),
    fake.closesWithoutAnswer(),
    fake.html200(),
    fake.jsonError200(),
    fake.errorEvent({ after: 0 }),
    fake.endsEarly({ after: 0 }),
    fake.cutsStream('reset', { after: 0 }),
    fake.redirects('http://127.0.0.1:1/'),
  ]
  test.each(retried.map((each) => [each.name, each] as const))(
    '%s is retried on the next channel',
    async (_, behaviour) => {
      await rig.channel({ key: 'key-a', priority: 1 })
      await rig.channel({ key: 'key-b' })
      await rig.gateway.setOption('RetryTimes', '1')
      rig.upstream.forKey('key-a', behaviour)
      const { caller, seen } = await call(chatStream)
      expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
      expect(keys()).toEqual(['key-a', 'key-b'])
      await charged(rig, caller, 15)
    },
  )

  test.each([400, 413, 422])("%d is the caller's fault and is not retried", async (status) => {
    await rig.channel({ key: 'key-a', priority: 1 })
    await rig.channel({ key: 'key-b' })
    await rig.gateway.setOption('RetryTimes', '3')
    rig.upstream.forKey('key-a', fake.status(status))
    const { seen } = await call()
    expect(seen.status).toBe(status)
    expect(keys()).toEqual(['key-a'])
  })

  test('503 on all channels: each channel is called once, and the last response is returned', async () => {
    for (const key of ['key-a', 'key-b', 'key-c']) await rig.channel({ key })
    await rig.gateway.setOption('RetryTimes', '10')
    rig.upstream.always(fake.status(503))
    const { caller, seen } = await call()
    expectError(seen, 503, null)
    expect(keys().sort()).toEqual(['key-a', 'key-b', 'key-c'])
    await charged(rig, caller, 0)
  })

  test('a stream is never retried after its first byte', async () => {
    await rig.channel({ key: 'key-a', priority: 1 })
    await rig.channel({ key: 'key-b' })
    await rig.gateway.setOption('RetryTimes', '3')
    rig.upstream.forKey('key-a', fake.cutsStream('reset', { after: 2, when: untilHeard('word0') }))
    const { seen } = await call(chatStream)
    expectErrorEvent(seen, 'upstream_stream_error')
    expect(keys()).toEqual(['key-a'])
  })

  test('an admin who chose a channel gets that channel’s failure, and no other channel is tried', async () => {
    const first = await rig.channel({ key: 'key-a' })
    await rig.channel({ key: 'key-b' })
    await rig.gateway.setOption('RetryTimes', '3')
    rig.upstream.always(fake.status(503))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, `${rig.gateway.token}-${first}`))
    expectError(seen, 503, null)
    expect(keys()).toEqual(['key-a'])
  })

  test('a channel whose mapping leads to a more expensive model is charged at that model’s price', async () => {
    await rig.gateway.setOption('ModelRatio', '{"m":1,"m2":3}')
    await rig.channel({ key: 'key-a', priority: 1 })
    await rig.channel({ key: 'key-b', model_mapping: '{"m":"m2"}' })
    await rig.gateway.setOption('RetryTimes', '1')
    rig.upstream.forKey('key-a', fake.status(500))
    const { caller } = await call()
    const [row] = await charged(rig, caller, 45)
    expect(row).toMatchObject({ model_name: 'm2' })
  })
})

describe('choosing a channel', () => {
  test('depends on priority first', async () => {
    await rig.channel({ key: 'low', priority: -1 })
    await rig.channel({ key: 'high', priority: 5 })
    await rig.channel({ key: 'middle' })
    for (let index = 0; index < 10; index++) await call()
    expect(new Set(keys())).toEqual(new Set(['high']))
  })

  test('depends on weight within a priority', async () => {
    await rig.channel({ key: 'one', weight: 1 })
    await rig.channel({ key: 'three', weight: 3 })
    await rig.channel({ key: 'none', weight: 0 })
    // The generator is seeded, so that the test is deterministic.
    let state = 42
    rig.gateway.context.relay.relay.random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return state / 2_147_483_648
    }
    for (let index = 0; index < 300; index++) await call()
    const count = (key: string) => keys().filter((each) => each === key).length
    // A channel without a weight is treated like one with weight one.
    expect(count('one')).toBeWithin(40, 81)
    expect(count('none')).toBeWithin(40, 81)
    expect(count('three')).toBeWithin(150, 211)
  })
})

describe('the circuit breaker of a channel', () => {
  const state = () => {
    const { breaker, routing } = rig.gateway.context.relay.relay
    return breaker.snapshot().filter(({ channelId }) => routing().channel(channelId))
  }

  test('opens after five failures in a row, allows one trial call after a pause, and closes if the trial succeeds', async () => {
    const bad = await rig.channel({ key: 'bad', priority: 1 })
    await rig.channel({ key: 'good' })
    rig.upstream.forKey('bad', fake.status(503))
    for (let index = 0; index < 5; index++) expectError((await call()).seen, 503, null)
    expect(state()).toEqual([{ channelId: bad, model: 'm', state: 'open' }])
    expect((await call()).seen.status).toBe(200)
    expect(keys().at(-1)).toBe('good')
    aheadMs += 5_001
    expect(state()).toMatchObject([{ state: 'half-open' }])
    // Of two concurrent calls, one is the trial and the other is sent to the good channel.
    rig.upstream.forKey('bad', fake.late(100, fake.status(503)))
    const pair = await Promise.all([call(), call()])
    expect(pair.map(({ seen }) => seen.status).sort()).toEqual([200, 503])
    expect(state()).toMatchObject([{ state: 'open' }])
    // The pause becomes longer after each failed trial.
    aheadMs += 5_001
    expect(state()).toMatchObject([{ state: 'open' }])
    aheadMs += 5_001
    rig.upstream.forKey('bad', fake.ok())
    expect((await call()).seen.status).toBe(200)
    expect(keys().at(-1)).toBe('bad')
    expect(state()).toEqual([])
    // After the first success, the channel gets half of the calls, and after the second all of them.
    const { relay } = rig.gateway.context.relay
    const { random } = relay
    for (const [chance, key] of [
      [0.9, 'good'],
      [0.1, 'bad'],
      [0.9, 'bad'],
    ] as const) {
      relay.random = () => chance
      expect((await call()).seen.status).toBe(200)
      expect(keys().at(-1)).toBe(key)
    }
    relay.random = random
  })

  test('pauses for at most 20 s, however long the outage is, so that the channel is tried again soon', async () => {
    await rig.channel({ key: 'bad', priority: 1 })
    await rig.channel({ key: 'good' })
    rig.upstream.forKey('bad', fake.status(503))
    for (let index = 0; index < 5; index++) await call()
    for (const pauseMs of [5_000, 10_000, 20_000, 20_000, 20_000]) {
      aheadMs += pauseMs - 200
      expect(state()).toMatchObject([{ state: 'open' }])
      expect((await call()).seen.status).toBe(200)
      aheadMs += 400
      expectError((await call()).seen, 503, null)
    }
    // If the channel recovers and then fails twice, it is immediately skipped again.
    aheadMs += 20_400
    rig.upstream.forKey('bad', fake.ok(), fake.status(503))
    rig.gateway.context.relay.relay.random = () => 0.1
    const statuses: number[] = []
    for (let index = 0; index < 4; index++) statuses.push((await call()).seen.status)
    rig.gateway.context.relay.relay.random = Math.random
    expect(statuses).toEqual([200, 503, 503, 200])
    expect(state()).toMatchObject([{ state: 'open' }])
  })

  test('is not affected by mistakes of the caller', async () => {
    await rig.channel({ key: 'key-a' })
    for (const status of [400, 404, 413, 422, 429]) {
      rig.upstream.always(fake.status(status))
      for (let index = 0; index < 6; index++) await call()
    }
    expect(state()).toEqual([])
  })

  test.each([
    ['a busy upstream', { message: 'busy', code: 429 }],
    ['a filter', { message: 'filtered', code: 'content_filter', status: 400 }],
  ])('is not affected by an error in the middle of a stream that is %s', async (_, error) => {
    await rig.channel({ key: 'key-a' })
    const chunk = { choices: [{ index: 0, delta: { content: 'Hel' } }] }
    rig.upstream.always(
      fake.behaviour('an error of the caller', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify({ error })}\n\n`)
        exchange.end()
      }),
    )
    for (let index = 0; index < 6; index++) expect((await call(chatStream)).seen.error?.message).toBe(error.message)
    expect(state()).toEqual([])
  })

  test('is not affected by the time limit for the whole call, which is set by the gateway', async () => {
    await rig.channel({ key: 'key-a', models: 'm,tts-1' })
    await rig.gateway.setOption('RelayTimeout', '0.4')
    const slowly = (head: readonly (readonly [string, string])[], piece: string) =>
      fake.behaviour('slowly', async (exchange) => {
        exchange.head(200, head)
        while (await exchange.write(piece)) await new Promise((resolve) => setTimeout(resolve, 50))
      })
    const json: [string, string][] = [['content-type', 'application/json']]
    const chunk = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hel' } }] })}\n\n`
    for (const [body, behaviour] of [
      [chat, slowly(json, ' ')],
      [chatStream, slowly(fake.streamHeaders(), chunk)],
    ] as const) {
      rig.upstream.always(behaviour)
      for (let index = 0; index < 5; index++) expect((await call(body)).seen.error?.code).toBe('upstream_timeout')
    }
    await rig.gateway.setOption('RelayTimeout', '0')
    expect(state()).toEqual([])
  })

  test.each([
    ['streams that break off', fake.cutsStream('reset', { after: 2 })],
    ['streams that end early', fake.endsEarly({ after: 2 })],
    ['streams with an error event', fake.errorEvent({ after: 2 })],
    ['connections reset', fake.resetsBeforeHeaders()],
    ['HTML pages', fake.html200()],
  ])('opens for %s', async (_, behaviour) => {
    const id = await rig.channel({ key: 'bad' })
    rig.upstream.always(behaviour)
    for (let index = 0; index < 5; index++) await call(chatStream)
    expect(state()).toEqual([{ channelId: id, model: 'm', state: 'open' }])
  })

  test('counts failures for each model separately', async () => {
    await rig.channel({ key: 'key-a', models: 'm,m2' })
    rig.upstream.forModel('m', fake.status(503))
    for (let index = 0; index < 5; index++) await call()
    expect(state()).toMatchObject([{ model: 'm' }])
    expect((await call({ ...chat, model: 'm2' })).seen.status).toBe(200)
  })

  test('does not prevent a call if no other channel is left', async () => {
    await rig.channel({ key: 'key-a' })
    rig.upstream.always(fake.status(503))
    for (let index = 0; index < 6; index++) await call()
    rig.upstream.always(fake.ok())
    expect((await call()).seen.status).toBe(200)
    expect(state()).toEqual([])
  })

  test('a channel whose upstream requests a pause is skipped for that time, at most for RetryAfterLimit, even if an earlier call succeeds in the meantime', async () => {
    await rig.channel({ key: 'busy', priority: 1 })
    await rig.channel({ key: 'idle' })
    rig.upstream.forKey('busy', fake.late(150, fake.okChat()), fake.status(429, { retryAfter: 3600 }), fake.okChat())
    const slow = call()
    await rig.upstream.received(1)
    expectError((await call()).seen, 429, 'rate_limit_exceeded')
    expect((await slow).seen.status).toBe(200)
    await call()
    expect(keys()).toEqual(['busy', 'busy', 'idle'])
    aheadMs += 61_000
    await call()
    expect(keys().at(-1)).toBe('busy')
  })
})

describe('AutomaticDisableChannelEnabled', () => {
  const status = async (id: number) =>
    (
      await rig.gateway.context.store.read
        .selectFrom('channels')
        .select('status')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    ).status

  const dead: readonly fake.Behaviour[] = [fake.status(401), fake.outOfQuota(), fake.status(403)]
  test.each(dead.map((each) => [each.name, each] as const))(
    '%s: the channel gets status 3 and is no longer used',
    async (_, reply) => {
      const id = await rig.channel({ key: 'dead', priority: 1 })
      await rig.channel({ key: 'alive' })
      await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
      rig.upstream.forKey('dead', reply)
      expect((await call()).seen.status).toBeGreaterThanOrEqual(400)
      await until(async () => (await status(id)) === 3)
      await until(() => rig.gateway.context.relay.relay.routing().candidates('default', 'm').length === 1)
      expect((await call()).seen.status).toBe(200)
      expect(keys()).toEqual(['dead', 'alive'])
    },
  )

  test('if the option is off, the channel stays in use', async () => {
    const id = await rig.channel({ key: 'dead' })
    rig.upstream.forKey('dead', fake.status(401))
    await call()
    expect(await status(id)).toBe(1)
  })

  test('a mistake of the caller or an overloaded or broken upstream does not disable the channel', async () => {
    const id = await rig.channel({ key: 'key-a' })
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    const message = 'your balance of the load balancer and credit are fine'
    for (const reply of [fake.status(400, { message }), fake.status(429), fake.status(500), fake.status(503)]) {
      rig.upstream.next(reply)
      await call()
    }
    expect(await status(id)).toBe(1)
  })
})
