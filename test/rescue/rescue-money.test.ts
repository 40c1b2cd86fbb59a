// A rescued stream is a stream that broke off and that another attempt continues. These tests check its charge, and
// that no hold is left in any case.
import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { audit } from '../../server/commands/audit.ts'
import { AnswerBody } from '../../server/relay/stream/answer-body.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import type { LogRow } from '../helpers/test-gateway.ts'
import { type Caller, charged, expectErrorEvent, promptTokens, see, until } from '../relay/setup.ts'
import { answerIn } from './answers.ts'
import { goesOn, type RescueRig, says, startRescueRig } from './stage.ts'
import { texts } from './texts.ts'

const text = texts.plain
const cut = 100
const breaksOff = (at = cut) => says({ text: text.slice(0, at), breaks: 'end' })

/** The attempts in a log row. */
const attemptsOf = (row: LogRow | undefined) =>
  JSON.parse(row?.attempts || '[]') as { channelId: number; status: number; error: string }[]

forEachDatabaseUrl((name, freshUrl) => {
  let rig: RescueRig
  let first: number
  let second: number

  beforeAll(async () => {
    rig = await startRescueRig({
      ...(name === 'postgres' && { databaseUrl: await freshUrl() }),
      settings: { PreConsumedQuota: '20', HoldWaitTime: '0.2', ApproximateTokenEnabled: 'false' },
    })
  })
  afterAll(() => rig[Symbol.asyncDispose]())
  beforeEach(async () => {
    ;[first = 0, second = 0] = await rig.services('openai-chat', 'openai-chat')
  })

  const isSound = async () => {
    const { faults, openHolds } = await audit(rig.gateway.context.store)
    expect({ faults, openHolds }).toEqual({ faults: [], openHolds: 0 })
    const { relay } = rig.gateway.context.relay
    expect(relay.ledger.openHolds()).toBe(0)
  }
  const used = async ({ userId, tokenId }: Caller) => (await rig.gateway.balances(userId, tokenId)).used
  const settled = ({ userId, tokenId }: Caller) =>
    until(async () => (await rig.gateway.balances(userId, tokenId)).holds === 0)
  const rowsOf = async ({ tokenId }: Caller) => (await rig.gateway.logs()).filter((row) => row.token_id === tokenId)

  test('both attempts are charged, in one row, and the caller gets the sum', async () => {
    const caller = await rig.caller()
    rig.next(breaksOff(), goesOn(text, { usage: { promptTokens: 60, completionTokens: 90 } }))
    const seen = await rig.whole('openai-chat', {}, caller)
    const answer = answerIn('openai-chat', seen)
    expect(answer.text).toBe(text)
    const units = await used(caller)
    const [row, ...others] = await charged(rig, caller, units)
    expect(others).toEqual([])
    expect(row).toMatchObject({ outcome: 'rescued', channel_id: second, quota: units })
    expect(Boolean(row?.estimated)).toBe(true)
    const [prompt = 0, completion = 0] = [row?.prompt_tokens, row?.completion_tokens]
    expect(units).toBe(prompt + completion)
    expect(prompt).toBe(60 + promptTokens)
    // The first service reported no usage, so the gateway counted the delivered tokens.
    expect(completion - 90).toBeGreaterThan(10)
    expect(completion - 90).toBeLessThan(60)
    expect(answer.usage).toMatchObject({ promptTokens: prompt, completionTokens: completion })
    expect(attemptsOf(row).map(({ channelId, status, error }) => [channelId, status, error !== ''])).toEqual([
      [first, 200, true],
      [second, 200, false],
    ])
    await isSound()
  })

  test.each(['2', '0'])(
    'a stream of a virtual model continues at the next step, twice, each at its own price (RetryTimes %s)',
    async (retryTimes) => {
      await rig.services()
      await rig.gateway.setOption('RetryTimes', retryTimes)
      await rig.gateway.setOption('ModelRatio', '{"m":1,"m2":3,"m3":5}')
      await rig.gateway.setOption('CompletionRatio', '{"m":1,"m2":1,"m3":1}')
      await rig.channel({ type: 31, models: 'm', key: 'key-1' })
      await rig.channel({ type: 14, models: 'm2', key: 'key-2' })
      await rig.channel({ type: 24, models: 'm3', key: 'key-3' })
      const { id } = await rig.gateway.api<{ id: number }>('POST', '/api/virtual-model/', {
        ...{ name: 'best', steps: ['m', 'm2', 'm3'].map((model) => ({ model })), stream_rescue: true },
      })
      const caller = await rig.caller()
      rig.next(
        says({ text: text.slice(0, cut), breaks: 'end', usage: undefined }),
        goesOn(text, { most: 150, breaks: 'end' }),
        goesOn(text, { usage: { promptTokens: 60, completionTokens: 90 } }),
      )
      const answer = answerIn('openai-chat', await rig.whole('openai-chat', { model: 'best' }, caller))
      await rig.gateway.api('DELETE', `/api/virtual-model/${id}`)
      await rig.gateway.setOption('RetryTimes', '2')
      expect(answer.text).toBe(text)
      expect(rig.upstream.requests.map(({ key }) => key)).toEqual(['key-1', 'key-2', 'key-3'])
      const units = await used(caller)
      const [row, ...others] = await charged(rig, caller, units)
      expect(others).toEqual([])
      expect(row).toMatchObject({ outcome: 'rescued', model_name: 'm3', asked_model: 'best' })
      // The last step is charged 150 tokens at 5 units each. The rest is the charge for the other attempts.
      const before = units - 150 * 5
      expect(before).toBeGreaterThan(promptTokens + 20)
      expect(before).toBeLessThan((row?.prompt_tokens ?? 0) * 3 + (row?.completion_tokens ?? 0) * 3)
      expect(attemptsOf(row)).toMatchObject([{ model: 'm' }, { model: 'm2' }, { model: 'm3', error: '' }])
      await isSound()
    },
  )

  test('a broken stream of a virtual model is not continued if the virtual model’s list of failures does not contain this failure', async () => {
    await rig.services('openai-chat')
    await rig.channel({ type: 14, models: 'm2', key: 'key-2' })
    await rig.gateway.setOption('SameChannelRetries', '0')
    const { id } = await rig.gateway.api<{ id: number }>('POST', '/api/virtual-model/', {
      ...{ name: 'best', steps: [{ model: 'm' }, { model: 'm2' }], stream_rescue: true, failures: ['rate_limited'] },
    })
    rig.next(breaksOff())
    const seen = await rig.whole('openai-chat', { model: 'best' }, await rig.caller())
    await rig.gateway.api('DELETE', `/api/virtual-model/${id}`)
    await rig.gateway.setOption('SameChannelRetries', '1')
    expectErrorEvent(seen, 'upstream_stream_incomplete')
    expect(rig.upstream.requests).toHaveLength(1)
    await isSound()
  })

  test('usage that the first service has reported is charged', async () => {
    await rig.services('anthropic-messages', 'openai-chat')
    const caller = await rig.caller()
    const early = says({
      text: text.slice(0, cut),
      breaks: 'end',
      early: { promptTokens: 33, completionTokens: 1, cachedTokens: 30 },
    })
    rig.next(early, goesOn(text, { usage: { promptTokens: 60, completionTokens: 90 } }))
    expect(answerIn('openai-chat', await rig.whole('openai-chat', {}, caller)).text).toBe(text)
    const [row] = await charged(rig, caller, await used(caller))
    expect(row).toMatchObject({ prompt_tokens: 93, cached_tokens: 30 })
    await isSound()
  })

  test('if the quota does not cover the second attempt, it is not sent, and the stream ends with an error', async () => {
    const caller = await rig.caller({ user: 75, token: 75 })
    rig.next(breaksOff(), goesOn(text))
    const seen = await rig.whole('openai-chat', {}, caller)
    expectErrorEvent(seen, 'upstream_stream_incomplete')
    expect(rig.upstream.requests).toHaveLength(1)
    const [row] = await charged(rig, caller, await used(caller), 75)
    expect(row).toMatchObject({ outcome: 'interrupted', channel_id: first, prompt_tokens: promptTokens })
    await isSound()
  })

  test('the hold covers both attempts before the second one is sent', async () => {
    const caller = await rig.caller()
    const leave = new AbortController()
    rig.next(breaksOff(), fake.neverAnswers())
    const answer = see(rig.ask('openai-chat', {}, caller.token, { signal: leave.signal })).catch(() => undefined)
    await rig.upstream.received(2)
    const [hold] = await rig.gateway.context.store.read.selectFrom('holds').selectAll().execute()
    // The hold must cover the first prompt and the delivered text, and also the prompt of the second attempt, which
    // contains the delivered text.
    const least = promptTokens + 20 + promptTokens + 20
    expect(hold?.crash_charge).toBeGreaterThan(least)
    expect(hold?.amount).toBeGreaterThanOrEqual(hold?.crash_charge ?? 0)
    expect(hold).toMatchObject({ channel_id: second })
    expect((hold?.prompt_tokens ?? 0) + (hold?.completion_tokens ?? 0)).toBe(hold?.crash_charge ?? 0)
    leave.abort()
    await answer
    await settled(caller)
    // The second service has received the prompt, so the prompt is charged.
    const [row] = await charged(rig, caller, await used(caller))
    expect(row).toMatchObject({ outcome: 'aborted', channel_id: second })
    expect(row?.prompt_tokens).toBeGreaterThan(promptTokens + promptTokens + 20)
    await isSound()
  })

  test('a caller who disconnects during the second attempt pays for both attempts', async () => {
    const caller = await rig.caller()
    const leave = new AbortController()
    rig.next(breaksOff(), goesOn(text, { most: 80, size: 200, breaks: 'hang' }))
    const answer = await rig.ask('openai-chat', {}, caller.token, { signal: leave.signal })
    const decoder = new TextDecoder()
    let got = ''
    try {
      for await (const bytes of answer.body ?? []) {
        got += decoder.decode(bytes, { stream: true })
        if (got.includes('railway tracks')) leave.abort()
      }
    } catch {
      // The caller has disconnected, so reading the response fails.
    }
    await settled(caller)
    const [row] = await charged(rig, caller, await used(caller))
    expect(row).toMatchObject({ outcome: 'aborted', channel_id: second })
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
    await isSound()
  })

  test('a caller who stops reading for too long before the second service answers pays for both attempts, and no third attempt is made', async () => {
    const { relay } = rig.gateway.context.relay
    const { deadlineWatch } = relay
    const add = deadlineWatch.add.bind(deadlineWatch)
    let body: AnswerBody<unknown> | undefined
    const watching = spyOn(deadlineWatch, 'add').mockImplementation((wait) => {
      if (wait instanceof AnswerBody) body = wait
      add(wait)
    })
    const caller = await rig.caller()
    rig.next(breaksOff(), fake.neverAnswers(), goesOn(text))
    const answering = see(rig.ask('openai-chat', {}, caller.token))
    await rig.upstream.received(2)
    watching.mockRestore()
    body?.due()
    expect((await answering).broken).toBe(true)
    await settled(caller)
    const [row] = await charged(rig, caller, await used(caller))
    expect(row).toMatchObject({ outcome: 'aborted', channel_id: second })
    expect(attemptsOf(row).map(({ channelId, error }) => [channelId, error !== ''])).toEqual([
      [first, true],
      [second, true],
    ])
    expect(rig.upstream.requests).toHaveLength(2)
    // The end of the attempt does not count as a failure of the channel.
    expect(relay.breaker.snapshot().filter(({ channelId }) => channelId === second)).toEqual([])
    await isSound()
  })

  test('a stream that breaks several times is rescued until no retries are left, and then ends with an error', async () => {
    const caller = await rig.caller()
    rig.next(breaksOff(60), goesOn(text, { most: 60, breaks: 'end' }), goesOn(text))
    expect(answerIn('openai-chat', await rig.whole('openai-chat', {}, caller)).text).toBe(text)
    const [row] = await charged(rig, caller, await used(caller))
    expect(row?.outcome).toBe('rescued')
    expect(attemptsOf(row)).toHaveLength(3)

    const other = await rig.caller()
    rig.next()
    rig.upstream.always(goesOn(text, { most: 40, breaks: 'end' }))
    const seen = await rig.whole('openai-chat', {}, other)
    expectErrorEvent(seen, 'upstream_stream_incomplete')
    expect(rig.upstream.requests).toHaveLength(3)
    const [broken] = await charged(rig, other, await used(other))
    expect(broken).toMatchObject({ outcome: 'interrupted' })
    await isSound()
  })

  test('an endless second attempt is ended when the quota is used up', async () => {
    const caller = await rig.caller({ user: 400, token: 400 })
    rig.next(breaksOff(), fake.endlessStream(3))
    const seen = await rig.whole('openai-chat', {}, caller)
    expectErrorEvent(seen, 'quota_exhausted_mid_stream')
    await settled(caller)
    expect(await used(caller)).toBeLessThanOrEqual(400)
    await isSound()
  })

  test.each([
    { promptTokens: 1e9, completionTokens: 1e9 },
    { promptTokens: 900, completionTokens: 60_000 },
  ])('a second service that reports %o cannot charge more than the balance', async (usage) => {
    const caller = await rig.caller({ user: 1000, token: 1000 })
    rig.next(breaksOff(), goesOn(text, { usage }))
    await rig.whole('openai-chat', {}, caller)
    await settled(caller)
    const { quota, remain } = await rig.gateway.balances(caller.userId, caller.tokenId)
    expect(Math.min(quota, remain)).toBeGreaterThanOrEqual(0)
    await isSound()
  })

  describe('the limits of channels', () => {
    const calls = (most: number) => ({ metric: 'calls', window: 'now', most })
    const capped = async (...most: number[]) => {
      await rig.clear()
      const ids: number[] = []
      for (const [index, each] of most.entries())
        ids.push(await rig.channel({ type: 31, key: `key-${index}`, priority: 9 - index, limits: [calls(each)] }))
      return ids
    }
    const openPlaces = () =>
      rig.gateway.context.store.read.selectFrom('holds').selectAll().where('counted', '>=', 8).execute()

    test('count the call for the channel that serves it', async () => {
      const [, to] = await capped(1, 1)
      const caller = await rig.caller()
      const leave = new AbortController()
      rig.next(breaksOff(), fake.neverAnswers())
      const answer = see(rig.ask('openai-chat', {}, caller.token, { signal: leave.signal })).catch(() => undefined)
      await rig.upstream.received(2)
      expect((await openPlaces()).map(({ channel_id: id }) => id)).toEqual([to ?? 0])
      leave.abort()
      await answer
      await settled(caller)
      expect(await openPlaces()).toEqual([])
      await isSound()
    })

    test('no longer count the call if no channel can continue it', async () => {
      const [from] = await capped(1, 1)
      const caller = await rig.caller()
      rig.next(breaksOff(), ...Array.from({ length: 6 }, () => fake.status(500)))
      expectErrorEvent(await rig.whole('openai-chat', {}, caller), 'upstream_stream_incomplete')
      await settled(caller)
      const [row] = await charged(rig, caller, await used(caller))
      expect(row).toMatchObject({ outcome: 'interrupted', channel_id: from })
      expect(row?.prompt_tokens).toBe(promptTokens)
      expect(await openPlaces()).toEqual([])
      await isSound()
    })

    test('are not waited for: if the other channel is full, the channel that broke off the stream is called again', async () => {
      const [, left] = await capped(1, 1)
      const [busy, caller] = [await rig.caller(), await rig.caller()]
      const leave = new AbortController()
      rig.next(fake.neverAnswers())
      const blocked = see(rig.ask('openai-chat', {}, busy.token, { signal: leave.signal })).catch(() => undefined)
      await rig.upstream.received(1)
      rig.upstream.next(breaksOff(), goesOn(text))
      expect(answerIn('openai-chat', await rig.whole('openai-chat', {}, caller)).text).toBe(text)
      expect(rig.upstream.requests.slice(1).map(({ key }) => key)).toEqual(['key-1', 'key-1'])
      leave.abort()
      await blocked
      await Promise.all([settled(busy), settled(caller)])
      const [row] = await rowsOf(caller)
      expect(attemptsOf(row).map(({ channelId }) => channelId)).toEqual([left ?? 0, left ?? 0])
      expect(await openPlaces()).toEqual([])
      await isSound()
    })
  })

  test('if the option is off, a broken stream is not rescued and ends with an error', async () => {
    await rig.gateway.setOption('StreamRescue', 'false')
    const caller = await rig.caller()
    rig.next(breaksOff(), goesOn(text))
    expectErrorEvent(await rig.whole('openai-chat', {}, caller), 'upstream_stream_incomplete')
    expect(rig.upstream.requests).toHaveLength(1)
    await rig.gateway.setOption('StreamRescue', 'true')
    expect((await rowsOf(caller))[0]?.outcome).toBe('interrupted')
    await isSound()
  })
})
