import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import {
  type Caller,
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
  untilHeard,
} from './setup.ts'

let rig: Rig
let caller: Caller

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

async function post(body: unknown, init: RequestInit = {}): Promise<Response> {
  caller = await rig.caller()
  return rig.gateway.post('/v1/chat/completions', body, caller.token, init)
}

describe('a stream releases its hold once, on', () => {
  test('the normal end', async () => {
    const seen = await see(post(chatStream))
    expect(seen.text).toEndWith('data: [DONE]\n\n')
    const [row, ...more] = await charged(rig, caller, 15)
    expect(more).toEqual([])
    expect(row).toMatchObject({
      outcome: 'complete',
      estimated: 0,
      prompt_tokens: 10,
      completion_tokens: 5,
      is_stream: 1,
    })
  })

  test('an upstream that breaks off: what was delivered is charged according to the gateway’s own count', async () => {
    rig.upstream.next(fake.cutsStream('reset', { after: 4, when: untilHeard('word2') }))
    const seen = await see(post(chatStream))
    expectErrorEvent(seen, 'upstream_stream_error')
    const { rows } = await chargedUnits(rig, caller)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted', estimated: 1, prompt_tokens: promptTokens })
    expect(rows[0]?.content).toContain('ended: upstream_stream_error')
    expect(rows[0]?.completion_tokens).toBeGreaterThan(2)
  })

  test('a caller who disconnects midway: the upstream is stopped, and what was produced is charged', async () => {
    rig.upstream.next(fake.stallsStream({ after: 5 }))
    const leave = new AbortController()
    const response = await post(chatStream, { signal: leave.signal })
    const reader = response.body?.getReader()
    let text = ''
    while (!text.includes('word3')) text += Buffer.from((await reader?.read())?.value ?? []).toString()
    leave.abort()
    await rig.upstream.until(({ last }) => last.aborted)
    const { rows } = await chargedUnits(rig, caller)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ outcome: 'aborted', estimated: 1, prompt_tokens: promptTokens })
    expect(rows[0]?.completion_tokens).toBeGreaterThan(3)
  })

  test('a caller who disconnects before the first read', async () => {
    rig.upstream.next(fake.stallsStream({ after: 2 }))
    const leave = new AbortController()
    await post(chatStream, { signal: leave.signal })
    leave.abort()
    await rig.upstream.until(({ last }) => last.aborted)
    const { rows } = await chargedUnits(rig, caller)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ outcome: 'aborted', prompt_tokens: promptTokens })
  })

  test('an error event', async () => {
    rig.upstream.next(fake.errorEvent({ after: 3, message: 'out of order' }))
    const seen = await see(post(chatStream))
    expect(seen.error?.message).toContain('out of order')
    expect(seen.text).not.toContain('[DONE]')
    const { rows } = await chargedUnits(rig, caller)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted', estimated: 1 })
  })

  test('a final charge above the hold', async () => {
    rig.upstream.next(fake.ok({ chunks: 5, usage: { prompt_tokens: 10, completion_tokens: 3000, total_tokens: 3010 } }))
    await see(post(chatStream))
    const [row] = await charged(rig, caller, 3010)
    expect(row).toMatchObject({ outcome: 'complete', completion_tokens: 3000 })
  })
})

describe('a caller who disconnects from a non-streamed call', () => {
  test('stops the upstream while it is working, and pays for the prompt', async () => {
    rig.upstream.next(fake.neverAnswers())
    const leave = new AbortController()
    const before = rig.upstream.requests.length
    const answer = post(chat, { signal: leave.signal }).catch(() => 'left')
    await rig.upstream.received(before + 1)
    leave.abort()
    await rig.upstream.until(({ last }) => last.aborted)
    await answer
    const [row] = await charged(rig, caller, promptTokens)
    expect(row).toMatchObject({ outcome: 'aborted', estimated: 1, prompt_tokens: promptTokens, completion_tokens: 0 })
  })
})

test('with HoldWaitTime 0, a call does not wait for quota that an open call may release, as the option’s description says', async () => {
  const options = await rig.gateway.api<{ key: string; description: string }[]>('GET', '/api/option/definitions')
  const { description = '' } = options.find(({ key }) => key === 'HoldWaitTime') ?? {}
  expect(description).toEndWith(' 0 = the call does not wait.')
  await rig.gateway.setOption('HoldWaitTime', '0')
  const caller = await rig.caller({ user: 20, token: 1000 })
  rig.upstream.next(fake.stallsStream({ after: 2 }))
  const leave = new AbortController()
  const init = { signal: leave.signal }
  await rig.gateway.post('/v1/chat/completions', chatStream, caller.token, init)
  const before = rig.upstream.requests.length
  const second = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
  expectError(second, 403, 'insufficient_user_quota')
  expect(rig.upstream.requests.length).toBe(before)
  leave.abort()
  await rig.upstream.until(({ last }) => last.aborted)
  await rig.gateway.setOption('HoldWaitTime', '5')
})
