// What callers get when they reach the limits of their token, account or group. A test with three processes is in
// test/money.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { untilDayEndIsFar } from '../helpers/day-end.ts'
import * as fake from '../helpers/fake-upstream.ts'
import {
  type Caller,
  chargedUnits,
  chat,
  chatStream,
  expectError,
  expectErrorEvent,
  promptTokens,
  type Rig,
  see,
  startRelayRig,
  textOf,
} from './setup.ts'

const plenty = { user: 1_000_000, token: 1_000_000 }
const path = '/v1/chat/completions'
const headerNames = ['requests', 'tokens'].flatMap((kind) =>
  ['limit', 'remaining', 'reset'].map((part) => `x-ratelimit-${part}-${kind}`),
)
const limitsIn = (headers: Headers) =>
  Object.fromEntries(headerNames.flatMap((name) => (headers.has(name) ? [[name.slice(12), headers.get(name)]] : [])))

forEachDatabaseUrl((name, freshUrl) => {
  let rig: Rig
  beforeAll(async () => {
    rig = await startRelayRig(name === 'postgres' ? { databaseUrl: await freshUrl() } : {})
  }, 120_000)
  afterAll(() => rig[Symbol.asyncDispose]())

  const call = (caller: Caller, body: unknown = chat) => see(rig.gateway.post(path, body, caller.token))
  const get = (caller: Caller, where: string) =>
    see(fetch(rig.gateway.url + where, { headers: { authorization: `Bearer ${caller.token}` } }))
  /** Makes the upstream's responses wait until `open` is called. */
  function gate() {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const gated = fake.behaviour('gated', async (exchange) => {
      await opened
      await fake.ok().run(exchange)
    })
    return { gated, open: () => open() }
  }

  describe('requests per minute', () => {
    test('a call above the limit gets 429 in OpenAI’s format with Retry-After, and is not charged, logged or sent', async () => {
      const caller = await rig.caller(plenty, { token: { rpm_limit: 2 } })
      const sent = rig.upstream.requests.length
      expect((await call(caller)).status).toBe(200)
      expect((await call(caller, chatStream)).text).toEndWith('data: [DONE]\n\n')
      for (const body of [chat, chatStream]) {
        const seen = await call(caller, body)
        expectError(seen, 429, 'rate_limit_exceeded')
        expect(seen.error?.type).toBe('rate_limit_error')
        expect(seen.error?.message).toContain('2 requests per minute for this token')
        const wait = Number(seen.headers.get('retry-after'))
        expect(wait).toBeGreaterThan(0)
        expect(wait).toBeLessThanOrEqual(61)
        expect(limitsIn(seen.headers)).toMatchObject({ 'limit-requests': '2', 'remaining-requests': '0' })
      }
      expect(rig.upstream.requests.length).toBe(sent + 2)
      const { rows } = await chargedUnits(rig, caller)
      expect(rows).toHaveLength(2)
    })

    test('every response reports the state of the caller’s limits, never of the upstream’s limits', async () => {
      const caller = await rig.caller(plenty, { token: { rpm_limit: 100, tpm_limit: 90_061 } })
      const theirs = [
        ['x-ratelimit-limit-requests', '7'],
        ['x-ratelimit-remaining-tokens', '8'],
        ['x-ratelimit-limit-project-tokens', '9'],
      ] as const
      rig.upstream.next(fake.withHeaders(theirs, fake.ok()), fake.withHeaders(theirs, fake.ok()))
      const reserved = promptTokens + 50
      const plain = await call(caller, { ...chat, max_tokens: 50 })
      const first = limitsIn(plain.headers)
      // The quick estimate of the prompt is usually higher than the actual number of tokens.
      expect(Number(first['remaining-tokens'])).toBeLessThanOrEqual(90_061 - reserved)
      expect(Number(first['remaining-tokens'])).toBeGreaterThan(90_061 - 2 * reserved)
      expect(first).toMatchObject({ 'limit-requests': '100', 'remaining-requests': '99', 'limit-tokens': '90061' })
      expect(first['reset-requests']).toMatch(/^(1m1s|1m0s|\d\ds)$/)
      expect(plain.headers.has('x-ratelimit-limit-project-tokens')).toBe(false)
      const streamed = await call(caller, chatStream)
      expect(streamed.text).toEndWith('data: [DONE]\n\n')
      expect(limitsIn(streamed.headers)).toMatchObject({ 'limit-requests': '100', 'remaining-requests': '98' })
      // The next calls are one that is refused before it reaches the ledger, one that fails at the upstream, and some
      // that do not count towards the limit.
      const unread = await call(caller, { ...chat, model: '' })
      expect(unread.status).toBe(400)
      expect(limitsIn(unread.headers)).toMatchObject({ 'remaining-requests': '98' })
      rig.upstream.next(fake.status(500))
      const failed = await call(caller)
      expect(failed.status).toBe(500)
      expect(limitsIn(failed.headers)).toMatchObject({ 'remaining-requests': '97' })
      for (const where of ['/v1/models', '/v1/models/none', '/dashboard/billing/subscription']) {
        const seen = await get(caller, where)
        expect(Object.keys(limitsIn(seen.headers)).sort()).toEqual(headerNames.map((name) => name.slice(12)).sort())
        expect(limitsIn(seen.headers)).toMatchObject({ 'remaining-requests': '97' })
      }
      expect(plain.headers.get('access-control-expose-headers')).toContain('x-ratelimit-remaining-requests')
      expect(plain.headers.get('access-control-expose-headers')).toContain('X-Oneapi-Request-Id')
    })

    test('a caller without limits gets no limit headers', async () => {
      const caller = await rig.caller(plenty, { token: { concurrency_limit: 5, daily_budget: 500_000 } })
      for (const each of [caller, await rig.caller()]) expect(limitsIn((await call(each)).headers)).toEqual({})
    })
  })

  test('tokens per minute: a call counts with its maximum output until its actual output is known', async () => {
    const caller = await rig.caller(plenty, { token: { tpm_limit: 1000 } })
    rig.upstream.always(fake.ok({ text: 'a b c d e', promptTokens: 10 }))
    const tooMany = await call(caller, { ...chat, max_tokens: 2000 })
    expectError(tooMany, 429, 'rate_limit_exceeded')
    expect(tooMany.error?.message).toContain('max_tokens')
    for (const body of [chat, chatStream]) {
      expect((await call(caller, { ...body, max_tokens: 900 })).status).toBe(200)
      const { rows } = await chargedUnits(rig, caller)
      expect(rows[0]).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 })
    }
    const { gated, open } = gate()
    rig.upstream.always(gated)
    const slow = call(caller, { ...chat, max_tokens: 900 })
    await rig.upstream.until(({ openStreams }) => openStreams === 1)
    const refused = await call(caller, { ...chat, max_tokens: 100 })
    expectError(refused, 429, 'rate_limit_exceeded')
    expect(refused.error?.message).toContain('1000 tokens per minute')
    open()
    expect((await slow).status).toBe(200)
    rig.upstream.always(fake.ok())
    expect((await call(caller, { ...chat, max_tokens: 100 })).status).toBe(200)
  })

  test('concurrent calls: at the limit, further calls are refused until a call or a stream ends', async () => {
    const caller = await rig.caller(plenty, { token: { concurrency_limit: 2 } })
    const { gated, open } = gate()
    rig.upstream.next(gated, gated)
    const slow = [call(caller), call(caller, chatStream)]
    await rig.upstream.until(({ openStreams }) => openStreams === 2)
    const refused = await call(caller)
    expectError(refused, 429, 'rate_limit_exceeded')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.error?.message).toContain('2 calls at once')
    open()
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200])
    expect((await call(caller)).status).toBe(200)
  })

  describe('counting tokens', () => {
    const counts = [
      ['/v1/messages/count_tokens', { ...chat, max_tokens: 900 }],
      ['/v1beta/models/m:countTokens', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
    ] as const
    const count = (caller: Caller, [where, body]: (typeof counts)[number]) =>
      see(rig.gateway.post(where, body, caller.token))

    test('counts towards the requests per minute but not the tokens per minute, and is neither charged nor logged', async () => {
      for (const limits of [{ token: { rpm_limit: 2, tpm_limit: 500 } }, { user: { rpm_limit: 2, tpm_limit: 500 } }]) {
        const caller = await rig.caller(plenty, limits)
        for (const [at, each] of counts.entries()) {
          const seen = await count(caller, each)
          expect([each[0], seen.status, seen.text]).toEqual([each[0], 200, expect.stringMatching(/okens":[1-9]/)])
          expect(limitsIn(seen.headers)).toMatchObject({
            'remaining-requests': String(1 - at),
            'remaining-tokens': '500',
          })
        }
        for (const each of counts) {
          const refused = await count(caller, each)
          expect([refused.status, refused.error?.message]).toEqual([429, expect.stringContaining('2 requests per')])
          expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
        }
        expectError(await call(caller), 429, 'rate_limit_exceeded')
        expect(await chargedUnits(rig, caller)).toEqual({ units: 0, rows: [] })
      }
    })

    test('counts as an open call until it ends', async () => {
      const caller = await rig.caller(plenty, { token: { concurrency_limit: 1 } })
      const { gated, open } = gate()
      rig.upstream.next(gated)
      const slow = call(caller)
      await rig.upstream.until(({ openStreams }) => openStreams === 1)
      for (const each of counts) {
        const refused = await count(caller, each)
        expect([refused.status, refused.error?.message]).toEqual([429, expect.stringContaining('1 calls at once')])
      }
      open()
      expect((await slow).status).toBe(200)
      for (const each of [...counts, ...counts]) expect((await count(caller, each)).status).toBe(200)
    })

    test('requires quota in the account, the token and their budgets', async () => {
      await untilDayEndIsFar()
      const spent = { daily_budget: 1, spent_today: 1, spent_at: Math.floor(Date.now() / 1000) }
      const refusals = [
        [await rig.caller({ user: 0, token: 1000 }), 403, 'user quota is not enough'],
        [await rig.caller({ user: 1000, token: 0 }), 401, 'is exhausted: raise it, or use another token'],
        [await rig.caller(plenty, { token: spent }), 403, 'the daily budget of this token'],
      ] as const
      for (const [caller, status, message] of refusals) {
        const refused = await count(caller, counts[0])
        expect([refused.status, refused.error?.message]).toEqual([status, expect.stringContaining(message)])
      }
      // Quota for the cheapest possible call is sufficient, and none of it is used.
      const poor = await rig.caller({ user: 1, token: 1 })
      for (const each of counts) expect((await count(poor, each)).status).toBe(200)
      expect(await chargedUnits(rig, poor, 1)).toEqual({ units: 0, rows: [] })
    })
  })

  describe('budgets', () => {
    beforeEach(untilDayEndIsFar)

    test('of a token: a call may use what is left; after that, calls get 403 with the time until the next period', async () => {
      const caller = await rig.caller(plenty, { token: { daily_budget: 40 } })
      rig.upstream.always(fake.ok({ text: 'a b c d e', promptTokens: 10 }))
      expect((await call(caller, { ...chat, max_tokens: 20 })).status).toBe(200)
      // 15 of the 40 units are spent. The prompt costs 8 of the remaining 25 units, so 17 are left for the answer.
      expect((await call(caller)).status).toBe(200)
      expect(rig.upstream.last.fields).toMatchObject({ max_tokens: 17 })
      const { units } = await chargedUnits(rig, caller)
      expect(units).toBe(30)
      expect((await call(caller, { ...chat, max_tokens: 2 })).status).toBe(200)
      const { units: spent, rows } = await chargedUnits(rig, caller)
      expect(spent).toBe(40)
      const refused = await call(caller)
      expectError(refused, 403, 'daily_budget_exceeded')
      const wait = Number(refused.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(86_400)
      expect((await chargedUnits(rig, caller)).rows).toHaveLength(rows.length)
      rig.upstream.always(fake.ok())
    })

    test('of an account, monthly: the budget covers all of the account’s tokens, and a stream ends when the budget is used up', async () => {
      const caller = await rig.caller(plenty, { user: { monthly_budget: 100 } })
      rig.upstream.next(fake.endlessStream())
      const seen = await call(caller, chatStream)
      expectErrorEvent(seen, 'quota_exhausted_mid_stream')
      expect(textOf(seen.text.slice(0, seen.text.lastIndexOf('data: {"error"'))).length).toBeGreaterThan(20)
      const { units } = await chargedUnits(rig, caller)
      // Text that arrived in the same chunk as text that the quota does not cover is neither delivered nor charged.
      expect(units).toBeWithin(25, 101)
      const refused = await call(caller, { ...chat, messages: [{ role: 'user', content: 'a '.repeat(100) }] })
      expectError(refused, 403, 'monthly_budget_exceeded')
      expect(refused.error?.message).toContain('this account')
    })
  })

  describe('limits of accounts and groups', () => {
    test('an admin sets the limits of an account, which apply to all its tokens immediately', async () => {
      const caller = await rig.caller()
      expect((await call(caller)).status).toBe(200)
      await rig.gateway.api('PUT', '/api/user/', { id: caller.userId, rpm_limit: 1 })
      expect((await call(caller)).status).toBe(200)
      const refused = await call(caller)
      expectError(refused, 429, 'rate_limit_exceeded')
      expect(refused.error?.message).toContain('1 requests per minute for this account')
      await rig.gateway.api('PUT', '/api/user/', { id: caller.userId, rpm_limit: 0 })
      expect((await call(caller)).status).toBe(200)
    })

    test('a group has default limits for its users; each can be overridden separately', async () => {
      await rig.channel({ group: 'trial' })
      const limits = { trial: { rpm_limit: 1, tpm_limit: 5000 }, default: { rpm_limit: 0 } }
      await rig.gateway.setOption('GroupLimits', JSON.stringify(limits))
      const [usual, favoured] = [
        await rig.caller(plenty, { user: { group: 'trial' } }),
        await rig.caller(plenty, { user: { group: 'trial', rpm_limit: 3 } }),
      ]
      expect(limitsIn((await call(usual)).headers)).toMatchObject({ 'limit-requests': '1', 'limit-tokens': '5000' })
      expectError(await call(usual), 429, 'rate_limit_exceeded')
      expect(limitsIn((await call(favoured)).headers)).toMatchObject({ 'limit-requests': '3', 'limit-tokens': '5000' })
      await rig.gateway.api('PUT', '/api/user/', { id: usual.userId, group: 'default' })
      const moved = await call(usual)
      expect({ status: moved.status, limits: limitsIn(moved.headers) }).toEqual({ status: 200, limits: {} })
      await rig.gateway.setOption('GroupLimits', '{}')
      expect(limitsIn((await call(favoured)).headers)).toMatchObject({ 'limit-requests': '3' })
    })

    test('if the token and the account both have a limit, the headers report the limit of which less is left', async () => {
      const caller = await rig.caller(plenty, {
        token: { rpm_limit: 10, tpm_limit: 3000 },
        user: { rpm_limit: 5, tpm_limit: 9000 },
      })
      expect(limitsIn((await call(caller)).headers)).toMatchObject({
        'limit-requests': '5',
        'remaining-requests': '4',
        'limit-tokens': '3000',
      })
    })

    test('a limit that is set while calls are open counts those calls', async () => {
      const caller = await rig.caller()
      const { gated, open } = gate()
      rig.upstream.next(gated, gated)
      const slow = [call(caller), call(caller)]
      await rig.upstream.until(({ openStreams }) => openStreams === 2)
      await rig.gateway.api('PUT', '/api/user/', { id: caller.userId, concurrency_limit: 2 })
      expectError(await call(caller), 429, 'rate_limit_exceeded')
      open()
      await Promise.all(slow)
      expect((await call(caller)).status).toBe(200)
    })
  })
})
