import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, chatStream, promptTokens, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

const text = 'word0 word1 word2 word3 word4'
/** The number of tokens that the gateway counts for `text`. */
const textTokens = 10
const words = ['word0', ' word1', ' word2', ' word3', ' word4']
const counted = { estimated: 1, prompt_tokens: promptTokens, completion_tokens: textTokens }

async function call(kind: 'plain' | 'stream', upstream: fake.Behaviour, body: object = {}) {
  const caller = await rig.caller()
  rig.upstream.next(upstream)
  const answer = rig.gateway.post(
    '/v1/chat/completions',
    { ...(kind === 'plain' ? chat : chatStream), ...body },
    caller.token,
  )
  const seen = await see(answer)
  expect(seen.status).toBe(200)
  expect(seen.broken).toBe(false)
  if (kind === 'stream') expect(seen.text).toEndWith('data: [DONE]\n\n')
  return { caller, seen }
}

for (const kind of ['plain', 'stream'] as const) {
  describe(`impossible usage of a ${kind} answer is rejected, and the gateway’s count is charged:`, () => {
    for (const name of Object.keys(fake.WRONG_USAGE) as (keyof typeof fake.WRONG_USAGE)[]) {
      test(name, async () => {
        const { caller } = await call(kind, fake.wrongUsage(name, { text, chunks: words }))
        const [row] = await charged(rig, caller, promptTokens + textTokens)
        expect(row).toMatchObject({ outcome: 'complete', ...counted })
        expect(row?.content).toContain('usage of the upstream refused')
      })
    }

    test('missing usage is not reported as rejected usage', async () => {
      const { caller } = await call(kind, fake.missingUsage({ text, chunks: words }))
      const [row] = await charged(rig, caller, promptTokens + textTokens)
      expect(row).toMatchObject({ outcome: 'complete', ...counted })
      expect(row?.content).not.toContain('refused')
    })
  })
}

describe('usage that is reported more than once', () => {
  test('is charged once if both reports are equal', async () => {
    const { caller } = await call('stream', fake.duplicateUsage({ chunks: words }))
    const [row] = await charged(rig, caller, 15)
    expect(row).toMatchObject({ estimated: 0, prompt_tokens: 10, completion_tokens: 5 })
  })

  test('is charged according to the last report if the reports are running totals', async () => {
    const { caller } = await call('stream', fake.runningUsage({ chunks: words }))
    const [row] = await charged(rig, caller, 15)
    expect(row).toMatchObject({ estimated: 0, prompt_tokens: 10, completion_tokens: 5 })
  })

  test('is charged according to the gateway’s count if the last total is impossible, even if an earlier one was plausible', async () => {
    const { caller } = await call('stream', fake.wrongUsage('negative', { chunks: words, usageChunk: 'twice' }))
    const [row] = await charged(rig, caller, promptTokens + textTokens)
    expect(row).toMatchObject(counted)
  })
})

describe('an upstream that ignores max_tokens', () => {
  test('is charged for the usage that it reports, if the usage is plausible', async () => {
    const { caller } = await call('plain', fake.ignoresMaxTokens(50), { max_tokens: 5 })
    await charged(rig, caller, 60)
  })

  test('cannot reduce the balance below zero', async () => {
    const caller = await rig.caller({ user: 40, token: 40 })
    rig.upstream.next(fake.ignoresMaxTokens(100))
    const seen = await see(rig.gateway.post('/v1/chat/completions', { ...chat, max_tokens: 5 }, caller.token))
    expect(seen.status).toBe(200)
    const [row] = await charged(rig, caller, 40, 40)
    expect(row).toMatchObject({ prompt_tokens: 10, completion_tokens: 100, quota: 40 })
  })

  test('the balance limits the length of a non-streamed answer', async () => {
    const caller = await rig.caller({ user: 40, token: 40 })
    rig.upstream.next(fake.okChat({ text: 'word '.repeat(100).trim() }))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
    expect(seen.status).toBe(200)
    const cap = rig.upstream.last.fields['max_tokens'] as number
    expect(cap).toBeGreaterThan(20)
    expect(cap).toBeLessThanOrEqual(40 - promptTokens)
    await charged(rig, caller, Math.min(40, 10 + cap), 40)
  })
})

test('reading the metrics does not change them: they report the usage of all calls each time', async () => {
  const figures = async () => {
    const metrics = await fetch(`${rig.gateway.url}/metrics`).then((response) => response.text())
    const figure = (name: string) =>
      Number(
        metrics
          .split('\n')
          .find((line) => line.startsWith(`tollgate_${name} `))
          ?.split(' ')[1] ?? 0,
      )
    return {
      calls: figure('calls_total{mode="chat",outcome="complete"}'),
      quota: figure('quota_charged_total'),
      prompt: figure('tokens_total{class="prompt"}'),
      completion: figure('tokens_total{class="completion"}'),
      estimated: figure('estimated_calls_total'),
    }
  }
  const before = await figures()
  await call('plain', fake.missingUsage({ text, chunks: words }))
  await figures()
  await call('stream', fake.duplicateUsage({ chunks: words }))
  await figures()
  expect(await figures()).toEqual({
    calls: before.calls + 2,
    quota: before.quota + promptTokens + textTokens + 15,
    prompt: before.prompt + promptTokens + 10,
    completion: before.completion + textTokens + 5,
    estimated: before.estimated + 1,
  })
})
