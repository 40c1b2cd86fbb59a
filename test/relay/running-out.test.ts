import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import {
  charged,
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
  until,
} from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ settings: { PreConsumedQuota: '20', HoldWaitTime: '0.2' } })
})
afterAll(() => rig[Symbol.asyncDispose]())

describe('quota that runs out in the middle of a stream', () => {
  for (const who of ['user', 'token'] as const) {
    test(`of the ${who}: an error event is sent, the delivered part is charged, and no balance falls below zero`, async () => {
      const quota = { user: 1000, token: 1000, [who]: 100 }
      const caller = await rig.caller(quota)
      rig.upstream.next(fake.endlessStream())
      const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
      expectErrorEvent(seen, 'quota_exhausted_mid_stream')
      await rig.upstream.until(({ openStreams }) => openStreams === 0)
      expect(rig.upstream.last.aborted).toBe(true)
      const balances = await rig.gateway.balances(caller.userId, caller.tokenId)
      expect(balances.holds).toBe(0)
      expect(balances.quota).toBe(quota.user - balances.used)
      expect(balances.remain).toBe(quota.token - balances.used)
      // The chunk that exceeds the quota contains about 70 words. It is neither delivered nor charged.
      expect(balances.used).toBeWithin(100 - 75, 101)
      const [row] = (await rig.gateway.logs()).filter((each) => each.token_id === caller.tokenId)
      expect(row).toMatchObject({ outcome: 'interrupted', quota: balances.used, estimated: 1 })
      expect(row?.content).toContain('ended: quota_exhausted_mid_stream')
      const delivered = textOf(seen.text.slice(0, seen.text.lastIndexOf('data: {"error"')))
      expect(delivered.length).toBeGreaterThan(20)
    })
  }

  test('output that the quota does not cover is neither delivered nor charged, even if one event contains a lot of text', async () => {
    const caller = await rig.caller({ user: 1000, token: 1000 })
    rig.upstream.next(fake.endlessStream(300))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expectErrorEvent(seen, 'quota_exhausted_mid_stream')
    const delivered = textOf(seen.text.slice(0, seen.text.lastIndexOf('data: {"error"')))
    const words = delivered.length / 'word '.length
    expect(words).toBeWithin(300, 992)
    const { units, rows } = await chargedUnits(rig, caller, 1000)
    // Some tokenizers count one additional token at the end.
    expect(units - promptTokens).toBeWithin(words, words + 2)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted', completion_tokens: units - promptTokens })
  })

  const words = (count: number) => ({ choices: [{ index: 0, delta: { content: 'word '.repeat(count) } }] })
  const stop = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  test.each([
    ['chat', '/v1/chat/completions', chatStream],
    ['messages', '/v1/messages', { ...chatStream, max_tokens: 5000 }],
  ])(
    'an event that exceeds the quota is not delivered, even if the whole answer arrives at once (%s)',
    async (_, path, body) => {
      const caller = await rig.caller({ user: 1000, token: 20 })
      rig.upstream.next(
        fake.behaviour('all at once', async (exchange) => {
          exchange.head(200, fake.streamHeaders())
          const events = [words(1), words(1000), stop].map((each) => `data: ${JSON.stringify(each)}\n\n`)
          await exchange.write(`${events.join('')}data: [DONE]\n\n`)
          exchange.end()
        }),
      )
      const seen = await see(rig.gateway.post(path, body, caller.token))
      expect(seen.text).toContain('the quota ran out during the response')
      expect(seen.text).not.toContain('word word')
      expect(seen.text).not.toContain('[DONE]')
      expect(seen.text).not.toContain('message_stop')
      await until(async () => (await rig.gateway.balances(caller.userId, caller.tokenId)).holds === 0)
      const balances = await rig.gateway.balances(caller.userId, caller.tokenId)
      expect(balances.used).toBe(balances.tokenUsed)
      expect(balances.used).toBeWithin(promptTokens, 20)
    },
  )

  test('text with one or more tokens per character is not underestimated', async () => {
    const caller = await rig.caller({ user: 1000, token: 120 })
    const content = '餳鯔籤鑾麤'.repeat(60)
    rig.upstream.next(
      fake.behaviour('rare words', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        const event = { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] }
        await exchange.write(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`)
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expectErrorEvent(seen, 'quota_exhausted_mid_stream')
    expect(seen.text).not.toContain('餳')
  })

  test('the upstream’s count of the prompt is charged when the quota runs out', async () => {
    await rig.channel({ models: 'claude', type: 14, key: 'cached' })
    await rig.gateway.setOption('ModelRatio', '{"m":1,"claude":1}')
    await rig.gateway.setOption('CompletionRatio', '{"m":1,"claude":1}')
    await rig.gateway.setOption('CacheRatio', '{"claude":0.1}')
    const prompt = 'word '.repeat(3000)
    const caller = await rig.caller({ user: 100_000, token: 3500 })
    const usage = { input_tokens: 10, cache_read_input_tokens: 3000, output_tokens: 1 }
    const message = { id: 'msg', type: 'message', role: 'assistant', model: 'claude', content: [], usage }
    const start = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ]
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word '.repeat(20) } }
    const eventOf = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
    rig.upstream.next(
      fake.behaviour('a cached prompt', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(start.map(eventOf).join(''))
        while (await exchange.write(eventOf(delta))) await new Promise((resolve) => setImmediate(resolve))
      }),
    )
    const body = { model: 'claude', max_tokens: 9000, stream: true, messages: [{ role: 'user', content: prompt }] }
    const seen = await see(rig.gateway.post('/v1/messages', body, caller.token))
    expect(seen.text).toContain('the quota ran out')
    const delivered = seen.text.split('word').length - 1
    expect(delivered).toBeGreaterThan(100)
    const [row] = (await rig.gateway.logs()).filter((each) => each.token_id === caller.tokenId)
    expect(row).toMatchObject({ prompt_tokens: 3010, outcome: 'interrupted' })
    // The prompt costs 310 units: 10 tokens at full price and 3,000 cached tokens at a tenth of the price.
    expect((row?.quota ?? 0) - 310).toBeWithin(delivered, delivered + 3)
  })

  test('an answer that arrives in one piece is charged by the usage that it reports, not by the gateway’s count', async () => {
    // With this option, the gateway holds more quota at a time.
    await rig.gateway.setOption('PreConsumedQuota', '500')
    const caller = await rig.caller({ user: 1000, token: 100 })
    const usage = { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 }
    rig.upstream.next(
      fake.behaviour('words that are few tokens there', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        const events = [words(150), stop, { choices: [], usage }].map((each) => `data: ${JSON.stringify(each)}\n\n`)
        await exchange.write(`${events.join('')}data: [DONE]\n\n`)
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    await rig.gateway.setOption('PreConsumedQuota', '20')
    expect(seen.text).toEndWith('[DONE]\n\n')
    const balances = await rig.gateway.balances(caller.userId, caller.tokenId)
    expect(balances).toMatchObject({ used: 60, holds: 0 })
  })

  test('does not count as a fault of the upstream', () => {
    expect(rig.gateway.context.relay.relay.breaker.snapshot()).toEqual([])
  })

  test('does not happen if the balance exactly covers the stream, which is delivered completely', async () => {
    const caller = await rig.caller({ user: 1000, token: 1000 })
    rig.upstream.next(fake.okStream({ chunks: 400 }))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expect(seen.text).toEndWith('[DONE]\n\n')
    await charged(rig, caller, 410, 1000)
  })

  test('does not end a stream under one-api’s policy, which allows overdrafts', async () => {
    await rig.gateway.setOption('QuotaPolicy', 'compat')
    const caller = await rig.caller({ user: 100, token: 100 })
    rig.upstream.next(fake.okStream({ chunks: 400 }))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    await rig.gateway.setOption('QuotaPolicy', 'strict')
    expect(seen.text).toEndWith('[DONE]\n\n')
    await charged(rig, caller, 410, 100)
  })
})

describe('a call that costs more than the balance', () => {
  test('of the user gets 403 insufficient_user_quota', async () => {
    const caller = await rig.caller({ user: 5, token: 1000 })
    expectError(await see(rig.gateway.post('/v1/chat/completions', chat, caller.token)), 403, 'insufficient_user_quota')
    expect((await chargedUnits(rig, await rig.caller())).units).toBe(0)
  })

  test('of the token gets 403 pre_consume_token_quota_failed', async () => {
    const caller = await rig.caller({ user: 1000, token: 5 })
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
    expectError(seen, 403, 'pre_consume_token_quota_failed')
  })

  test('of an empty token gets 401 token_exhausted every time', async () => {
    const caller = await rig.caller({ user: 1000, token: 0 })
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
    expectError(seen, 401, 'token_exhausted')
    const again = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
    expectError(again, 401, 'token_exhausted')
  })

  test('is not sent to any upstream', () => {
    // Only the streams of the tests above have reached the upstream.
    expect(rig.upstream.requests).toHaveLength(10)
  })
})

describe('a non-streamed answer to a streamed request', () => {
  const body = { ...chatStream, model: 'claude-whole' }
  const usage = { input_tokens: 10, output_tokens: 50 }
  const whole = fake.behaviour('answers whole', async (exchange) => {
    exchange.head(200, [['content-type', 'application/json']])
    const content = [{ type: 'text', text: 'word '.repeat(50) }]
    const message = { id: 'msg', type: 'message', role: 'assistant', model: 'claude', content, stop_reason: 'end_turn' }
    await exchange.write(JSON.stringify({ ...message, usage }))
    exchange.end()
  })

  beforeAll(async () => {
    await rig.channel({ models: 'claude-whole', type: 14, key: 'whole' })
    await rig.gateway.setOption('ModelRatio', '{"m":1,"claude-whole":1}')
    await rig.gateway.setOption('CompletionRatio', '{"m":1,"claude-whole":1}')
  })

  test('is delivered as a stream and charged according to its usage', async () => {
    const caller = await rig.caller()
    rig.upstream.next(whole)
    const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token))
    expect(textOf(seen.text)).toBe('word '.repeat(50))
    expect(seen.text).toEndWith('[DONE]\n\n')
    const [row] = await charged(rig, caller, 60)
    expect(row).toMatchObject({ outcome: 'complete', is_stream: 1, estimated: 0 })
  })

  test('is not delivered if the quota does not cover it', async () => {
    const caller = await rig.caller({ user: 1000, token: promptTokens + 20 })
    rig.upstream.next(whole)
    const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token))
    expectErrorEvent(seen, 'quota_exhausted_mid_stream')
    expect(seen.text).not.toContain('word')
    const balances = await rig.gateway.balances(caller.userId, caller.tokenId)
    expect(balances).toMatchObject({ used: 10, holds: 0 })
  })
})

describe('a thinking budget', () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const claude = 'claude-sonnet-4-5'
  type Sent = { max_tokens: number; thinking?: { type: string; budget_tokens?: number } }

  beforeAll(async () => {
    await rig.channel({ models: claude, type: 14, key: 'thinks' })
    await rig.gateway.setOption('ModelRatio', `{"m":1,"${claude}":1}`)
    await rig.gateway.setOption('CompletionRatio', `{"m":1,"${claude}":1}`)
  })

  /** The request that reaches the upstream for a caller who can pay for `units` tokens in addition to the prompt. */
  async function sent(path: string, fields: object, units: number): Promise<Sent> {
    const caller = await rig.caller({ user: 1_000_000, token: promptTokens + units })
    rig.upstream.next(fake.status(400))
    const before = rig.upstream.requests.length
    await see(rig.gateway.post(path, { model: claude, messages, ...fields }, caller.token))
    expect(rig.upstream.requests.length).toBe(before + 1)
    return rig.upstream.last.json as Sent
  }

  test('is no larger than the output limit that the hold covers', async () => {
    const one = await sent('/v1/chat/completions', { max_completion_tokens: 1, reasoning_effort: 'high' }, 50)
    expect(one).toMatchObject({ max_tokens: 1 })
    expect(one.thinking).toBeUndefined()
  })

  for (const [path, fields] of [
    ['/v1/chat/completions', { reasoning_effort: 'high' }],
    ['/v1/messages', { max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 24_576 } }],
  ] as const) {
    test(`stays below what the balance covers at ${path}`, async () => {
      const many = await sent(path, fields, 5000)
      expect(many.max_tokens).toBeWithin(4900, 5010)
      expect(many.thinking).toEqual({ type: 'enabled', budget_tokens: Math.floor(many.max_tokens * 0.8) })
      const few = await sent(path, fields, 500)
      expect(few.max_tokens).toBeWithin(400, 510)
      expect(few.thinking?.budget_tokens).toBeUndefined()
    })
  }
})

describe('if nothing is held for output in advance', () => {
  beforeAll(() => rig.gateway.setOption('PreConsumedQuota', '0'))
  afterAll(() => rig.gateway.setOption('PreConsumedQuota', '20'))

  test.each(['user', 'token'])('a stream continues until the quota of the %s runs out', async (who) => {
    const enough = await rig.caller({ user: 1000, token: 1000 })
    rig.upstream.next(fake.okStream({ chunks: 100 }))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, enough.token))
    expect(seen.text).toEndWith('[DONE]\n\n')
    await charged(rig, enough, 110, 1000)
    const caller = await rig.caller({ user: 1000, token: 1000, [who]: 100 })
    rig.upstream.next(fake.endlessStream())
    const cut = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expectErrorEvent(cut, 'quota_exhausted_mid_stream')
    expect((await rig.gateway.balances(caller.userId, caller.tokenId)).used).toBeWithin(9, 101)
  })

  test('a call can still be retried on another channel', async () => {
    await rig.gateway.setOption('RetryTimes', '1')
    await rig.channel()
    const caller = await rig.caller({ user: 1000, token: 1000 })
    rig.upstream.next(fake.status(503), fake.okStream({ chunks: 5 }))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expect(seen.text).toEndWith('[DONE]\n\n')
    await charged(rig, caller, 15, 1000)
  })
})
