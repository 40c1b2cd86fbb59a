// A session is a series of calls with a common beginning or name. It stays on one channel and one key, because only
// there does the provider have its prompt in the cache.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { hashNumber, hashText } from '../../server/lib/quick-hash.ts'
import { rankOf } from '../../server/relay/routing/rendezvous.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, chat, type Rig, see, startRelayRig, until } from './setup.ts'

let rig: Rig
/** How far the gateway's clock is ahead of the real time. */
let aheadMs = 0

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, clock: { nowMs: () => Date.now() + aheadMs } })
})
beforeEach(() => rig.clear({ ChannelAffinity: 'on', RetryTimes: '1', AutomaticDisableChannelEnabled: 'false' }))
afterAll(() => rig[Symbol.asyncDispose]())

const keys = () => rig.upstream.requests.map((request) => request.key)
const sixKeys = ['a', 'b', 'c', 'd', 'e', 'f']

async function ask(caller: Caller, session?: string, body: object = chat, status = 200) {
  const headers: Record<string, string> = session === undefined ? {} : { 'x-session-id': session }
  const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token, { headers }))
  expect(seen.status).toBe(status)
  return rig.upstream.last.key ?? ''
}

async function places(caller: Caller, sessions: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const session of sessions) found.set(session, await ask(caller, session))
  return found
}

const sessions = Array.from({ length: 20 }, (_, index) => `session ${index}`)

describe('a session', () => {
  test('stays on one of 6 channels (20 sessions with 30 turns each); if a channel fails, only its own sessions move, and each of them moves once', async () => {
    for (const key of sixKeys) await rig.channel({ key })
    const caller = await rig.caller()
    const home = await places(caller, sessions)
    expect(new Set(home.values()).size).toBeGreaterThan(3)
    for (let turn = 1; turn < 30; turn++) expect(await places(caller, sessions)).toEqual(home)
    const rows = (await rig.gateway.logs()).filter((row) => row.token_id === caller.tokenId)
    expect(rows).toHaveLength(600)
    expect(rows.every((row) => Boolean(row.kept_place))).toBe(true)

    const dead = home.get('session 0') ?? ''
    rig.upstream.forKey(dead, fake.status(503))
    const moved = await places(caller, sessions)
    for (const [session, key] of moved) {
      if (home.get(session) === dead) expect(key).not.toBe(dead)
      else expect(key).toBe(home.get(session) ?? '')
    }
    for (let turn = 0; turn < 5; turn++) expect(await places(caller, sessions)).toEqual(moved)
    const [row] = await rig.gateway.logs()
    expect(Boolean(row?.kept_place)).toBe(moved.get('session 19') === home.get('session 19'))
  })

  test('without a name is recognised by its beginning, unless an option says that only sessions with a name are recognised', async () => {
    for (const key of sixKeys) await rig.channel({ key })
    const caller = await rig.caller()
    const conversation = (first: string, turns: number) => ({
      model: 'm',
      messages: [
        { role: 'user', content: first },
        ...Array.from({ length: turns }, (_, turn) => ({ role: turn % 2 ? 'user' : 'assistant', content: `${turn}` })),
      ],
    })
    const homes = new Set<string>()
    for (const first of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']) {
      const home = await ask(caller, undefined, conversation(first, 0))
      for (const turns of [2, 4, 6]) expect(await ask(caller, undefined, conversation(first, turns))).toBe(home)
      homes.add(home)
    }
    expect(homes.size).toBeGreaterThan(2)
    for (const option of ['explicit', 'off']) {
      await rig.gateway.setOption('ChannelAffinity', option)
      const named = new Set<string>()
      const unnamed = new Set<string>()
      for (let turn = 0; turn < 20; turn++) {
        named.add(await ask(caller, 'named'))
        unnamed.add(await ask(caller))
      }
      expect(unnamed.size).toBeGreaterThan(1)
      if (option === 'explicit') expect(named.size).toBe(1)
      else expect(named.size).toBeGreaterThan(1)
    }
    expect((await rig.gateway.logs())[0]?.kept_place).toBeNull()
  })

  test('is placed separately for each token, even if two tokens use the same name', async () => {
    for (const key of sixKeys) await rig.channel({ key })
    const homes = new Set<string>()
    for (let count = 0; count < 12; count++) homes.add(await ask(await rig.caller(), 'the same'))
    expect(homes.size).toBeGreaterThan(1)
  })

  test('moves to another channel while its own channel is disabled, and returns when its channel is enabled', async () => {
    const ids = new Map<string, number>()
    for (const key of sixKeys) ids.set(key, await rig.channel({ key }))
    const caller = await rig.caller()
    const home = await ask(caller, 's')
    const id = ids.get(home)
    await rig.gateway.api('PUT', '/api/channel/', { id, status: 2 })
    await until(() => rig.gateway.context.relay.relay.routing().candidates('default', 'm').length === 5)
    const away = await ask(caller, 's')
    expect(away).not.toBe(home)
    expect(await ask(caller, 's')).toBe(away)
    await rig.gateway.api('PUT', '/api/channel/', { id, status: 1 })
    await until(() => rig.gateway.context.relay.relay.routing().candidates('default', 'm').length === 6)
    expect(await ask(caller, 's')).toBe(home)
  })

  test('is placed by priority first, and by its hash only within a priority', async () => {
    for (const key of ['a', 'b', 'c']) await rig.channel({ key, priority: 1 })
    for (const key of ['d', 'e', 'f']) await rig.channel({ key })
    const caller = await rig.caller()
    const found = await places(caller, sessions)
    expect([...new Set(found.values())].sort()).toEqual(['a', 'b', 'c'])
  })

  test('stays with one key of a channel that has several, and uses another key while that key is paused', async () => {
    await rig.channel({ key: sixKeys.join('\n'), key_mode: 'multi' })
    const caller = await rig.caller()
    const home = await places(caller, sessions)
    expect(new Set(home.values()).size).toBeGreaterThan(3)
    expect(await places(caller, sessions)).toEqual(home)
    const busy = home.get('session 0') ?? ''
    rig.upstream.forKey(busy, fake.status(429, { retryAfter: 30 }), fake.okChat())
    const moved = await places(caller, sessions)
    for (const [session, key] of moved)
      if (home.get(session) === busy) expect(key).not.toBe(busy)
      else expect(key).toBe(home.get(session) ?? '')
    const rows = (await rig.gateway.logs()).slice(0, sessions.length)
    expect(rows.filter((row) => !row.kept_place)).toHaveLength([...home.values()].filter((key) => key === busy).length)
  })

  test('has a field in its log rows for admins, not for users, that says whether it stayed on its channel', async () => {
    for (const key of sixKeys) await rig.channel({ key })
    expect(keys()).toEqual([])
    const asked = rig.gateway.post('/v1/chat/completions', chat, rig.gateway.token, {
      headers: { 'x-session-id': 's' },
    })
    expect((await see(asked)).status).toBe(200)
    const [full] = await rig.gateway.api<{ kept_place: boolean | null }[]>('GET', '/api/log/?p=0')
    expect(full?.kept_place).toBe(true)
    const [own] = await rig.gateway.api<{ kept_place: boolean | null }[]>('GET', '/api/log/self?p=0')
    expect(own?.kept_place).toBeNull()
  })
})

describe('a session whose channel broke a stream', () => {
  const tool = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{' } }
  const chunk = { choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [tool] }, finish_reason: null }] }
  const broken = fake.behaviour('ends in a tool call', async (exchange) => {
    exchange.head(200, [['content-type', 'text/event-stream']])
    await exchange.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...chunk })}\n\n`,
    )
    exchange.end()
  })
  const failed = fake.behaviour('reports an error in a tool call', async (exchange) => {
    exchange.head(200, [['content-type', 'text/event-stream']])
    const error = { error: { message: 'Slow down.', type: 'rate_limit_error', code: 429 } }
    for (const each of [chunk, error]) await exchange.write(`data: ${JSON.stringify(each)}\n\n`)
    exchange.end()
  })
  const stream = { ...chat, stream: true }

  test.each([broken, failed])(
    'uses another channel for its next turns and returns later, and the other sessions stay',
    async (fault) => {
      // Earlier tests have paused the usual keys, so this test uses other keys.
      for (const key of sixKeys) await rig.channel({ key: `own ${key}` })
      const caller = await rig.caller()
      const home = await places(caller, sessions)
      const faulty = home.get('session 0') ?? ''
      const others = sessions.filter((session) => session !== 'session 0')
      rig.upstream.forKey(faulty, fault)
      expect(await ask(caller, 'session 0', stream)).toBe(faulty)
      rig.upstream.forKey(faulty, fake.ok())
      const away = await ask(caller, 'session 0', stream)
      expect(away).not.toBe(faulty)
      expect(Boolean((await rig.gateway.logs())[0]?.kept_place)).toBe(false)
      expect(await ask(caller, 'session 0')).toBe(away)
      for (const session of others) expect(await ask(caller, session, stream)).toBe(home.get(session) ?? '')
      aheadMs += 20_000
      expect(await ask(caller, 'session 0')).toBe(faulty)
    },
  )

  test('stays where it is if no other channel is healthy', async () => {
    const first = await rig.channel({ key: 'a' })
    const second = await rig.channel({ key: 'b' })
    const caller = await rig.caller()
    const home = await ask(caller, 'alone')
    await rig.gateway.api('PUT', '/api/channel/', { id: home === 'a' ? second : first, status: 2 })
    rig.upstream.forKey(home, broken)
    await ask(caller, 'alone', stream)
    rig.upstream.forKey(home, fake.ok())
    expect(await ask(caller, 'alone', stream)).toBe(home)
    await rig.gateway.api('PUT', '/api/channel/', { id: home === 'a' ? second : first, status: 1 })
    rig.upstream.forKey(home === 'a' ? 'b' : 'a', fake.status(429, { retryAfter: 30 }))
    // The other channel is paused, so the session uses the channel that broke the stream.
    expect(await ask(caller, 'alone', stream)).toBe(home)
    const before = rig.upstream.requests.length
    expect(await ask(caller, 'alone', stream)).toBe(home)
    expect(rig.upstream.requests.length).toBe(before + 1)
  })

  test('does not affect calls without a session: they still use the channel that broke the stream', async () => {
    await rig.gateway.setOption('ChannelAffinity', 'off')
    for (const key of ['a', 'b']) await rig.channel({ key })
    const caller = await rig.caller()
    rig.upstream.always(broken)
    await ask(caller, undefined, stream)
    rig.upstream.always(fake.ok())
    const used = new Set<string>()
    for (let turn = 0; turn < 20; turn++) used.add(await ask(caller, undefined, stream))
    expect(used.size).toBe(2)
  })
})

describe('rendezvous hashing', () => {
  const placeAmong = (session: number, weights: ReadonlyMap<number, number>) =>
    [...weights].reduce(
      (best, [id, weight]) => {
        const rank = rankOf(session, id, weight)
        return rank < best.rank ? { id, rank } : best
      },
      { id: 0, rank: Number.POSITIVE_INFINITY },
    ).id
  const many = Array.from({ length: 1200 }, (_, index) => hashText(hashNumber(0, 7), `session ${index}`))
  const equal = new Map([1, 2, 3, 4, 5, 6].map((id) => [id, 1]))
  const share = (weights: ReadonlyMap<number, number>, id: number) =>
    many.filter((session) => placeAmong(session, weights) === id).length

  test('gives each of 6 equal channels within 25 % of its share of 1,200 sessions', () => {
    for (const id of equal.keys()) expect(share(equal, id)).toBeWithin(150, 251)
  })

  test('follows the weights', () => {
    const weighted = new Map([
      [11, 1],
      [12, 1],
      [13, 4],
    ])
    expect(share(weighted, 13)).toBeWithin(720, 881)
    expect(share(weighted, 11)).toBeWithin(150, 251)
  })

  test('moves to an added channel only its share of the sessions', () => {
    const more = new Map([...equal, [7, 1]])
    const moved = many.filter((session) => placeAmong(session, equal) !== placeAmong(session, more))
    expect(moved.every((session) => placeAmong(session, more) === 7)).toBe(true)
    expect(moved.length).toBeWithin(120, 230)
  })
})
