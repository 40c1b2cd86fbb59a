import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { balanceFaults } from '../../server/store/ledger/balance-check.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, chat, chatStream, expectError, type Rig, see, startRelayRig, until } from './setup.ts'

let rig: Rig
/** How far the gateway's clock is ahead of the real time. */
let aheadMs = 0

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, clock: { nowMs: () => Date.now() + aheadMs } })
})
beforeEach(() =>
  rig.clear({
    RetryTimes: '0',
    SameChannelRetries: '0',
    ChannelWaitTime: '30',
    AutomaticDisableChannelEnabled: 'false',
  }),
)
afterAll(() => rig[Symbol.asyncDispose]())

const calls = (most: number, fields = {}) => ({ metric: 'calls', window: 'now', most, ...fields })
const perDay = (metric: string, most: number, fields = {}) => ({ metric, window: 'day', most, ...fields })
const post = (caller: Caller, body: object = chat) => see(rig.gateway.post('/v1/chat/completions', body, caller.token))

/** Requests at the upstream that wait until the test lets them continue. */
class Gate {
  inside = 0
  most = 0
  readonly texts: string[] = []
  readonly #open: (() => void)[] = []

  readonly behaviour = fake.behaviour('waits at the gate', async (exchange) => {
    this.most = Math.max(this.most, ++this.inside)
    const [message] = (exchange.request.fields['messages'] ?? []) as { content?: string }[]
    this.texts.push(message?.content ?? '')
    await new Promise<void>((resolve) => {
      this.#open.push(resolve)
      exchange.callerLeft.addEventListener('abort', () => resolve())
    })
    this.inside--
    if (!exchange.callerLeft.aborted) await fake.ok().run(exchange)
  })

  /** Lets the request that arrived first continue. */
  async letOneGo(): Promise<void> {
    await until(() => this.#open.length > 0)
    this.#open.shift()?.()
  }
}

function gate(): Gate {
  const it = new Gate()
  rig.upstream.always(it.behaviour)
  return it
}

const places = () => rig.gateway.context.store.read.selectFrom('cap_places').selectAll().execute()
const waiting = () => rig.gateway.context.store.read.selectFrom('cap_waits').selectAll().execute()
const clean = async () => {
  await until(async () => (await places()).length === 0 && (await waiting()).length === 0)
  expect((await balanceFaults(rig.gateway.context.store)).faults).toEqual([])
}
const used = async () => {
  const { channels } = await rig.gateway.api<{
    channels: { id: number; waiting: number; limits: { metric: string; used: number }[] }[]
  }>('GET', '/api/channel/limits')
  return Object.fromEntries(
    channels.map(({ id, limits }) => [id, Object.fromEntries(limits.map((limit) => [limit.metric, limit.used]))]),
  )
}

describe('a full channel', () => {
  test('calls wait in order of arrival without a hold on quota, and all are served', async () => {
    await rig.channel({ limits: [calls(2)] })
    const caller = await rig.caller()
    const door = gate()
    const seen = []
    for (let index = 0; index < 8; index++) {
      seen.push(post(caller, { ...chat, messages: [{ role: 'user', content: `call ${index}` }] }))
      await until(async () => (index < 2 ? door.texts.length === index + 1 : (await waiting()).length === index - 1))
    }
    const holds = await rig.gateway.context.store.read.selectFrom('holds').select('id').execute()
    expect(holds).toHaveLength(2)
    for (let index = 0; index < 8; index++) {
      await until(() => door.inside === Math.min(2, 8 - index))
      await door.letOneGo()
    }
    for (const each of await Promise.all(seen)) expect(each.status).toBe(200)
    expect(door.most).toBe(2)
    expect(door.texts).toEqual(Array.from({ length: 8 }, (_, index) => `call ${index}`))
    const rows = await rig.gateway.logs()
    expect(rows.filter((row) => /waited \d+ ms for capacity/.test(row.content)).length).toBeGreaterThanOrEqual(6)
    await clean()
  })

  test('a call goes to another channel of the same priority, and then to the next priority; this counts neither as a failure nor as a retry', async () => {
    const limits = [calls(1)]
    const first = await rig.channel({ key: 'key-a', priority: 2, limits })
    const second = await rig.channel({ key: 'key-b', priority: 2, limits })
    const third = await rig.channel({ key: 'key-c', priority: 1, limits })
    const caller = await rig.caller()
    const door = gate()
    const seen = []
    for (let index = 0; index < 3; index++) {
      seen.push(post(caller))
      await until(() => door.inside === index + 1)
    }
    const keys = rig.upstream.requests.map(({ key }) => key)
    expect(keys.slice(0, 2).sort()).toEqual(['key-a', 'key-b'])
    expect(keys[2]).toBe('key-c')
    expect(await used()).toEqual({ [first]: { calls: 1 }, [second]: { calls: 1 }, [third]: { calls: 1 } })
    for (let index = 0; index < 3; index++) await door.letOneGo()
    for (const each of await Promise.all(seen)) expect(each.status).toBe(200)
    for (const row of (await rig.gateway.logs()).slice(0, 3)) expect(row.attempts).toBe('')
    expect(rig.gateway.context.relay.relay.breaker.snapshot()).toEqual([])
    await clean()
  })

  test('a call that cannot start within the waiting time gets 429 with Retry-After, and the response does not name a channel', async () => {
    await rig.channel({ name: 'the secret channel', limits: [calls(1)] })
    await rig.gateway.setOption('ChannelWaitTime', '0.2')
    const caller = await rig.caller()
    const door = gate()
    const open = post(caller)
    await until(() => door.inside === 1)
    const refused = await post(caller)
    expectError(refused, 429, 'channels_full')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.error?.message).toStartWith('the capacity for model m is in use; try again in 1 s (request id:')
    expect(JSON.stringify([...refused.headers]) + refused.text).not.toMatch(/secret|channel \d|#\d/)
    await door.letOneGo()
    expect((await open).status).toBe(200)
    await clean()
  })

  test('a call that a limit per time window cannot admit within the waiting time is refused immediately, with Retry-After', async () => {
    await rig.channel({ limits: [perDay('requests', 1)] })
    const caller = await rig.caller()
    expect((await post(caller)).status).toBe(200)
    const refused = await post(caller)
    expectError(refused, 429, 'channels_full')
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 86_401)
    await clean()
  })

  test('a request that alone is larger than a limit is refused immediately', async () => {
    await rig.channel({ limits: [{ metric: 'tokens', window: 'minute', most: 5 }] })
    const refused = await post(await rig.caller())
    expectError(refused, 429, 'channels_full')
    expect(refused.error?.message).toContain('larger than the limits for model m allow')
    expect(rig.upstream.requests).toEqual([])
    await clean()
  })

  test('a waiting call whose caller disconnects is removed from the queue', async () => {
    await rig.channel({ limits: [calls(1)] })
    const caller = await rig.caller()
    const door = gate()
    const open = post(caller)
    await until(() => door.inside === 1)
    const leaving = new AbortController()
    const left = rig.gateway
      .post('/v1/chat/completions', chat, caller.token, { signal: leaving.signal })
      .catch(() => undefined)
    await until(async () => (await waiting()).length === 1)
    leaving.abort()
    await left
    await until(async () => (await waiting()).length === 0)
    await door.letOneGo()
    await open
    expect(rig.upstream.requests).toHaveLength(1)
    await clean()
  })

  test('calls of a token in the queue count towards its limit on concurrent calls, so it cannot fill the queue', async () => {
    await rig.channel({ limits: [calls(1)] })
    const [busy, greedy] = [await rig.caller(), await rig.caller(undefined, { token: { concurrency_limit: 2 } })]
    const door = gate()
    const open = post(busy)
    await until(() => door.inside === 1)
    const seen = [post(greedy), post(greedy)]
    await until(() => rig.gateway.context.relay.relay.line.waiting(greedy.tokenId) === 2)
    expectError(await post(greedy), 429, 'rate_limit_exceeded')
    for (let index = 0; index < 3; index++) {
      await door.letOneGo()
    }
    for (const each of await Promise.all([open, ...seen])) expect(each.status).toBe(200)
    await clean()
  })

  test('a call of an admin who chose the channel also waits', async () => {
    const id = await rig.channel({ limits: [calls(1)] })
    await rig.channel({ key: 'other' })
    await rig.gateway.setOption('ChannelWaitTime', '0.1')
    const door = gate()
    const token = `${rig.gateway.token}-${id}`
    const open = see(rig.gateway.post('/v1/chat/completions', chat, token))
    await until(() => door.inside === 1)
    expectError(await see(rig.gateway.post('/v1/chat/completions', chat, token)), 429, 'channels_full')
    await door.letOneGo()
    expect((await open).status).toBe(200)
    await clean()
  })

  test('a call first waits for a full channel, and uses a paused channel if the wait fails', async () => {
    const full = await rig.channel({ key: 'full', priority: 2, limits: [calls(1)] })
    const resting = await rig.channel({ key: 'resting', priority: 1 })
    const { routing, rests } = rig.gateway.context.relay.relay
    const paused = routing().channel(resting)
    if (paused) rests.begin(paused, 'm', 60_000)
    const caller = await rig.caller()
    const door = gate()
    const open = [post(caller)]
    await until(() => door.inside === 1)
    open.push(post(caller))
    await until(async () => (await waiting()).length === 1)
    await door.letOneGo()
    await until(() => rig.upstream.requests.length === 2)
    expect(rig.upstream.requests.map(({ key }) => key)).toEqual(['full', 'full'])
    await rig.gateway.setOption('ChannelWaitTime', '0.1')
    open.push(post(caller))
    await until(() => rig.upstream.requests.length === 3)
    expect(rig.upstream.requests[2]?.key).toBe('resting')
    await door.letOneGo()
    await door.letOneGo()
    for (const each of await Promise.all(open)) expect(each.status).toBe(200)
    await clean()
    expect(full).toBeGreaterThan(0)
  })
})

describe('a call no longer counts towards the limits of its channel after', () => {
  const endings: [name: string, behaviour: fake.Behaviour, body?: object][] = [
    ['an answer', fake.ok()],
    ['a stream', fake.ok(), chatStream],
    ['a refusal of the upstream', fake.status(400)],
    ['a fault of the upstream', fake.status(500)],
    ['a connection that breaks', fake.resetsBeforeHeaders()],
    ['a cut answer', fake.cutsPlain()],
    ['a stream that breaks', fake.resetsAfterHeaders(fake.streamHeaders()), chatStream],
    ['an answer that cannot be read', fake.brokenJson200()],
    ['a web page', fake.html200()],
  ]
  for (const [name, behaviour, body = chat] of endings) {
    test(name, async () => {
      const id = await rig.channel({
        limits: [calls(1), perDay('requests', 9), perDay('tokens', 9999), perDay('quota', 9999), perDay('cost', 9999)],
      })
      const caller = await rig.caller()
      rig.upstream.always(behaviour)
      await post(caller, body)
      await clean()
      expect((await used())[id]).toMatchObject({ calls: 0, requests: 1 })
      const [row] = await rig.gateway.logs()
      const charged = row?.channel_id === id ? row.quota : 0
      expect((await used())[id]).toMatchObject({ quota: charged, cost: charged })
    })
  }

  test('a caller who leaves', async () => {
    const id = await rig.channel({ limits: [calls(1)] })
    const caller = await rig.caller()
    const door = gate()
    const leaving = new AbortController()
    const left = rig.gateway
      .post('/v1/chat/completions', chat, caller.token, { signal: leaving.signal })
      .catch(() => undefined)
    await until(() => door.inside === 1)
    leaving.abort()
    await left
    await clean()
    expect(await used()).toEqual({ [id]: { calls: 0 } })
  })

  test('a request that the channel’s dialect cannot express and that is not sent', async () => {
    await rig.channel({ type: 14, limits: [calls(1)] })
    await rig.gateway.setOption('StrictTranslationEnabled', 'true')
    const seen = await post(await rig.caller(), { ...chat, logit_bias: { '1': 1 } })
    await rig.gateway.setOption('StrictTranslationEnabled', 'false')
    expect(seen.status).toBe(400)
    await clean()
  })
})

describe('retries', () => {
  test('a call that fails counts towards the limits of the next channel instead', async () => {
    const limits = [calls(1), perDay('requests', 9), perDay('quota', 9999)]
    const first = await rig.channel({ key: 'key-a', priority: 1, limits })
    const second = await rig.channel({ key: 'key-b', limits })
    await rig.gateway.setOption('RetryTimes', '1')
    rig.upstream.forKey('key-a', fake.status(500))
    expect((await post(await rig.caller())).status).toBe(200)
    await clean()
    expect(await used()).toEqual({
      [first]: { calls: 0, requests: 1, quota: 0 },
      [second]: { calls: 0, requests: 1, quota: 15 },
    })
  })

  test('a request that is repeated on the same channel is counted twice', async () => {
    const limits = [calls(1), perDay('requests', 3), perDay('quota', 9999)]
    const channel = await rig.channel({ limits })
    await rig.gateway.setOption('SameChannelRetries', '1')
    rig.upstream.next(fake.status(500), fake.ok())
    const caller = await rig.caller()
    expect((await post(caller)).status).toBe(200)
    await clean()
    expect(await used()).toEqual({ [channel]: { calls: 0, requests: 2, quota: 15 } })
    // The third request uses the limit up, so it is not repeated.
    rig.upstream.next(fake.status(500), fake.ok())
    expect((await post(caller)).status).toBe(500)
    expect(rig.upstream.requests).toHaveLength(3)
    await clean()
    expect(await used()).toEqual({ [channel]: { calls: 0, requests: 3, quota: 15 } })
  })

  test('the retry of a request on its channel comes before the calls that wait for the channel', async () => {
    await rig.channel({ limits: [calls(1)] })
    await rig.gateway.setOption('SameChannelRetries', '1')
    const caller = await rig.caller()
    const { promise: release, resolve: letGo } = Promise.withResolvers<void>()
    const failsLate = fake.behaviour('fails when the test says so', async (exchange) => {
      await release
      await fake.status(500).run(exchange)
    })
    rig.upstream.next(failsLate)
    const said = (text: string) => post(caller, { ...chat, messages: [{ role: 'user', content: text }] })
    const first = said('first')
    await rig.upstream.received(1)
    const second = said('second')
    await until(async () => (await waiting()).length === 1)
    letGo()
    expect([(await first).status, (await second).status]).toEqual([200, 200])
    const texts = rig.upstream.requests.map(({ fields }) => (fields['messages'] as { content: string }[])[0]?.content)
    expect(texts).toEqual(['first', 'first', 'second'])
    await clean()
  })

  test('a call can move to a channel without limits, and back to one with limits', async () => {
    await rig.channel({ key: 'key-a', priority: 2, limits: [calls(1)] })
    await rig.channel({ key: 'key-b', priority: 1 })
    await rig.channel({ key: 'key-c', limits: [calls(1)] })
    await rig.gateway.setOption('RetryTimes', '2')
    rig.upstream.forKey('key-a', fake.status(500))
    rig.upstream.forKey('key-b', fake.status(500))
    const caller = await rig.caller()
    expect((await post(caller)).status).toBe(200)
    expect(rig.upstream.requests.map(({ key }) => key)).toEqual(['key-a', 'key-b', 'key-c'])
    await clean()
  })

  test('if the remaining channels are full, a call waits without holding quota', async () => {
    await rig.channel({ key: 'key-a', priority: 1 })
    await rig.channel({ key: 'key-b', limits: [calls(1)], models: 'm,m2' })
    await rig.gateway.setOption('RetryTimes', '1')
    const door = new Gate()
    rig.upstream.forKey('key-b', door.behaviour)
    rig.upstream.forKey('key-a', fake.status(500))
    const caller = await rig.caller()
    const open = post(caller, { ...chat, model: 'm2' })
    await until(() => door.inside === 1)
    const retried = post(caller)
    await until(async () => (await waiting()).length === 1)
    const holds = await rig.gateway.context.store.read.selectFrom('holds').select('id').execute()
    expect(holds).toHaveLength(1)
    await door.letOneGo()
    await until(() => door.texts.length === 2)
    await door.letOneGo()
    expect((await open).status).toBe(200)
    expect((await retried).status).toBe(200)
    await clean()
  })

  test('a call whose retry cannot start within the waiting time gets the upstream’s error', async () => {
    await rig.channel({ key: 'key-a', priority: 1 })
    await rig.channel({ key: 'key-b', limits: [calls(1)], models: 'm,m2' })
    await rig.gateway.setOption('RetryTimes', '1')
    await rig.gateway.setOption('ChannelWaitTime', '0.1')
    const door = new Gate()
    rig.upstream.forKey('key-b', door.behaviour)
    rig.upstream.forKey('key-a', fake.status(500))
    const caller = await rig.caller()
    const open = post(caller, { ...chat, model: 'm2' })
    await until(() => door.inside === 1)
    expect((await post(caller)).status).toBe(500)
    await door.letOneGo()
    await open
    await clean()
  })
})

describe('limits of keys', () => {
  const keys = { key: 'k1\nk2\nk3', key_mode: 'multi' as const }

  test('each key serves as many calls as its limit allows, and a call waits when all keys are full', async () => {
    const id = await rig.channel({ ...keys, limits: [calls(1, { owner: 'key' })] })
    const caller = await rig.caller()
    const door = gate()
    const seen = Array.from({ length: 4 }, () => post(caller))
    await until(() => door.inside === 3)
    expect(rig.upstream.requests.map(({ key }) => key).sort()).toEqual(['k1', 'k2', 'k3'])
    await until(async () => (await waiting()).length === 1)
    const { channels } = await rig.gateway.api<{ channels: { id: number; limits: object[] }[] }>(
      'GET',
      '/api/channel/limits',
    )
    expect(channels).toMatchObject([{ id, waiting: 1, limits: [{ owner: 'key', used: 1, keys_full: 3 }] }])
    for (let index = 0; index < 4; index++) {
      await door.letOneGo()
    }
    for (const each of await Promise.all(seen)) expect(each.status).toBe(200)
    expect(door.most).toBe(3)
    await clean()
  })

  test('if a key is refused, another key with room is used', async () => {
    await rig.channel({ ...keys, limits: [calls(1, { owner: 'key' }), perDay('requests', 9)] })
    const caller = await rig.caller()
    for (const key of ['k1', 'k2', 'k3']) rig.upstream.forKey(key, fake.status(429), fake.ok())
    expect((await post(caller)).status).toBe(429)
    rig.upstream.clear()
    rig.upstream.forKey('k1', fake.status(429), fake.ok())
    await rig.clear()
    await rig.channel({ ...keys, limits: [calls(1, { owner: 'key' }), perDay('requests', 9, { owner: 'key' })] })
    for (let index = 0; index < 3; index++) expect((await post(caller)).status).toBe(200)
    await clean()
  })
})

describe('windows', () => {
  test('requests per minute are spread over time', async () => {
    await rig.channel({ limits: [{ metric: 'requests', window: 'minute', most: 2 }] })
    const caller = await rig.caller()
    for (let index = 0; index < 2; index++) expect((await post(caller)).status).toBe(200)
    const refused = await post(caller)
    expectError(refused, 429, 'channels_full')
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeWithin(55, 62)
    aheadMs += seconds * 1000
    expect((await post(caller)).status).toBe(200)
    await clean()
  })

  test('limits apply to the models in their list, compared with the name that is sent upstream', async () => {
    await rig.channel({
      models: 'm,m2',
      model_mapping: '{"m":"gpt-4o"}',
      limits: [perDay('requests', 1, { models: 'gpt-*' })],
    })
    await rig.gateway.setOption('ModelRatio', '{"m":1,"m2":1,"gpt-4o":1}')
    const caller = await rig.caller()
    expect((await post(caller)).status).toBe(200)
    expectError(await post(caller), 429, 'channels_full')
    expect((await post(caller, { ...chat, model: 'm2' })).status).toBe(200)
    await clean()
  })

  test('a stream ends when its channel’s limit of quota units is used up, so the limit is not exceeded', async () => {
    const id = await rig.channel({ limits: [perDay('quota', 60)] })
    await rig.gateway.setOption('PreConsumedQuota', '10')
    const caller = await rig.caller()
    rig.upstream.always(fake.okStream({ text: 'word '.repeat(200), chunks: 200 }))
    const seen = await post(caller, chatStream)
    await rig.gateway.setOption('PreConsumedQuota', '500')
    expect(seen.error?.code).toBe('quota_exhausted_mid_stream')
    await clean()
    expect((await used())[id]?.['quota']).toBeWithin(10, 61)
  })
})

describe('draining', () => {
  test('a draining channel gets no new calls, and its running calls finish', async () => {
    const id = await rig.channel({ key: 'key-a', priority: 1 })
    await rig.channel({ key: 'key-b' })
    const caller = await rig.caller()
    const door = new Gate()
    rig.upstream.forKey('key-a', door.behaviour)
    const open = post(caller)
    await until(() => door.inside === 1)
    await rig.gateway.api('PUT', '/api/channel/', { id, draining: true })
    expect((await post(caller)).status).toBe(200)
    expect(rig.upstream.requests.map(({ key }) => key)).toEqual(['key-a', 'key-b'])
    await door.letOneGo()
    expect((await open).status).toBe(200)
    const { channels } = await rig.gateway.api<{ channels: object[] }>('GET', '/api/channel/limits')
    expect(channels).toMatchObject([{ id, draining: true, limits: [] }])
    await rig.gateway.api('PUT', '/api/channel/', { id, draining: false })
    rig.upstream.clear()
    expect((await post(caller)).status).toBe(200)
    expect(rig.upstream.requests.at(-1)?.key).toBe('key-a')
  })

  test('a call for a model whose only channel is draining gets the error for a model without a channel', async () => {
    await rig.channel({ draining: true })
    expectError(await post(await rig.caller()), 503, 'no_available_channel')
  })
})
