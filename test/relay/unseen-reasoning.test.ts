import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'
import { until } from './setup.ts'

let gateway: TestGateway
let upstream: fake.FakeUpstream

const reasoning = 20_000
const usage = {
  prompt_tokens: 10,
  completion_tokens: reasoning + 5,
  total_tokens: reasoning + 15,
  completion_tokens_details: { reasoning_tokens: reasoning },
}

beforeAll(async () => {
  gateway = await startTestGateway()
  upstream = await fake.startFakeUpstream()
  await gateway.addChannel({ base_url: upstream.url, models: 'o4-mini' })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const question = { model: 'o4-mini', stream: true, messages: [{ role: 'user', content: 'hi' }] }

/** Reads a stream up to its finish reason and then disconnects, as `for await … break` does. */
async function leaveAtFinish(token: string): Promise<void> {
  const leave = new AbortController()
  const response = await gateway.post('/v1/chat/completions', question, token, { signal: leave.signal })
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes)
    if (text.includes('"finish_reason":"stop"')) break
  }
  leave.abort()
}

describe('reasoning that is not shown in a stream', () => {
  test('is charged even if the caller disconnects after the last word', async () => {
    const caller = await gateway.addCaller({ user: 1_000_000, token: 1_000_000 })
    upstream.next(fake.okStream({ usage, usageChunk: 'asked', delayMs: 30 }))
    await leaveAtFinish(caller.token)
    await until(async () => (await gateway.balances(caller.userId, caller.tokenId)).holds === 0)
    const [row] = await gateway.logs()
    expect(row).toMatchObject({ outcome: 'complete', completion_tokens: reasoning + 5, reasoning_tokens: reasoning })
  })

  test('is covered by the hold for any model for which thinking is requested', async () => {
    await gateway.addChannel({ base_url: upstream.url, models: 'gpt-4o' })
    const caller = await gateway.addCaller({ user: 1_000_000, token: 700 })
    const ask = async (fields: object) => {
      upstream.next(fake.okStream({ promptTokens: 10 }))
      const question = { model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: 'hi' }] }
      await (await gateway.post('/v1/chat/completions', { ...question, ...fields }, caller.token)).text()
      return (upstream.last.json as { max_tokens?: number }).max_tokens
    }
    expect(await ask({ reasoning_effort: 'high' })).toBeLessThan(300)
    expect(await ask({ thinking: { type: 'enabled', budget_tokens: 2000 } })).toBeLessThan(300)
    expect(await ask({ thinking: { type: 'disabled' } })).toBeUndefined()
    expect(await ask({ reasoning_effort: 'none' })).toBeUndefined()
  })

  test('is covered by the hold, so the balance limits the length of the stream', async () => {
    const caller = await gateway.addCaller({ user: 1_000_000, token: 700 })
    upstream.next(fake.okStream({ promptTokens: 10 }))
    const response = await gateway.post('/v1/chat/completions', question, caller.token)
    await response.text()
    const sent = upstream.last?.json as { max_completion_tokens?: number }
    // The balance of 700 units, minus the prompt, pays for this many completion tokens at 2.2 units each.
    expect(sent.max_completion_tokens).toBeGreaterThan(100)
    expect(sent.max_completion_tokens).toBeLessThan(320)
  })
})

describe('the larger of two limits determines the hold, and each is lowered to what the balance covers', () => {
  const sentFor = async (model: string) => {
    const caller = await gateway.addCaller({ user: 1_000_000, token: 700 })
    const body = { ...question, model, stream: false, max_completion_tokens: 1, max_tokens: 9_000 }
    await gateway.post('/v1/chat/completions', body, caller.token).then((response) => response.text())
    return upstream.last?.json as { max_completion_tokens?: number; max_tokens?: number }
  }

  test('if the model accepts both names', async () => {
    await gateway.addChannel({ base_url: upstream.url, models: 'gpt-4o' })
    const sent = await sentFor('gpt-4o')
    expect(sent.max_completion_tokens).toBe(1)
    expect(sent.max_tokens).toBeLessThan(320)
  })

  test('if the model refuses the older name, so that it is dropped', async () => {
    expect(await sentFor('o4-mini')).toMatchObject({ max_completion_tokens: 1 })
    expect(upstream.last?.json).not.toHaveProperty('max_tokens')
  })
})

test('if the price exceeds the balance, the log row mentions the full price', async () => {
  await gateway.addChannel({ base_url: upstream.url, models: 'gpt-4.1' })
  const caller = await gateway.addCaller({ user: 1_000_000, token: 1_000 })
  upstream.next(fake.okChat({ usage: { prompt_tokens: 10, completion_tokens: 20_000, total_tokens: 20_010 } }))
  const body = { model: 'gpt-4.1', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }
  await gateway.post('/v1/chat/completions', body, caller.token).then((response) => response.text())
  const [row] = await gateway.logs()
  expect(row?.quota).toBe(1_000)
  expect(row?.content).toMatch(/price \d+, only 1000 could be charged/)
  expect((await gateway.balances(caller.userId, caller.tokenId)).remain).toBe(0)
})

test('a field that affects the price is refused if it is given in a second spelling', async () => {
  const caller = await gateway.addCaller({ user: 1_000, token: 1_000 })
  for (const field of ['Model', 'MAX_TOKENS', 'N']) {
    const response = await gateway.post('/v1/chat/completions', { ...question, [field]: 1 }, caller.token)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_field_value', param: field } })
  }
})
