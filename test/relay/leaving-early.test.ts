// The charge for callers who disconnect before the last event, in dialects that report usage in the last event or in
// the first.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pause } from '../helpers/fake-upstream/types.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, chargedUnits, type Rig, see, startRelayRig, until } from './setup.ts'

let rig: Rig
/** The time at which the clock is stopped; undefined if the clock is running. */
let stoppedAtMs: number | undefined

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, clock: { nowMs: () => stoppedAtMs ?? Date.now() } })
  await rig.channel()
  await rig.channel({ type: 14, models: 'm2' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const reasoning = 20_000
const answer = 'The answer is 42.'

const at = { output_index: 1, content_index: 0, item_id: 'msg_1' }
const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' }
const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'answer' }
const begun = [
  { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [], usage: null } },
  { type: 'response.output_item.added', output_index: 0, item: { id: 'rs_1', type: 'reasoning', summary: [] } },
  { type: 'response.output_item.done', output_index: 0, item: { id: 'rs_1', type: 'reasoning', summary: [] } },
]
const responseEnd = {
  type: 'response.completed',
  response: {
    id: 'resp_1',
    status: 'completed',
    output: [],
    usage: {
      input_tokens: 10,
      output_tokens: reasoning + 6,
      total_tokens: reasoning + 16,
      output_tokens_details: { reasoning_tokens: reasoning },
    },
  },
}
const textBegun = [
  ...begun,
  { type: 'response.output_item.added', output_index: 1, item: { ...message, content: [] } },
  { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '', annotations: [] } },
  { type: 'response.output_text.delta', ...at, delta: answer },
]
const textDone = { type: 'response.output_text.done', ...at, text: answer }
const callBegun = [
  ...begun,
  { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
  { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'fc_1', delta: '{"of":"all"}' },
]
const callDone = {
  type: 'response.function_call_arguments.done',
  output_index: 1,
  item_id: 'fc_1',
  arguments: '{"of":"all"}',
}

const block = (index: number, type: object, delta: object) => [
  { type: 'content_block_start', index, content_block: type },
  { type: 'content_block_delta', index, delta },
]
const thinking = { type: 'thinking', thinking: '', signature: '' }
const claudeBegun = [
  {
    type: 'message_start',
    message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 10, output_tokens: 2 } },
  },
  ...block(0, thinking, { type: 'thinking_delta', thinking: 'A summary.' }),
  { type: 'content_block_stop', index: 0 },
  ...block(1, { type: 'text', text: '' }, { type: 'text_delta', text: answer }),
]
const claudeEnd = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: reasoning + 6 } },
  { type: 'message_stop' },
]

const textOf = (events: readonly { type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

interface Leaving {
  path: string
  body: object
  /** The events that the upstream sends before the caller disconnects. */
  said: readonly { type: string }[]
  /**
   * The events that the upstream sends after the caller has disconnected. If the list is empty, the upstream sends
   * nothing more.
   */
  rest: readonly { type: string }[]
  /** The text that the caller waits for before disconnecting. By default, it is the last event of `said`. */
  sign?: string
}

/** Makes a call and disconnects when all of `said` has arrived. Only then does the upstream send the rest. */
async function leave({ path, body, said, rest, sign = JSON.stringify(said.at(-1)) }: Leaving): Promise<Caller> {
  const caller = await rig.caller()
  const left = Promise.withResolvers<void>()
  rig.upstream.next(
    fake.behaviour('says the rest when the caller has left', async (exchange) => {
      exchange.head(200, fake.streamHeaders())
      await exchange.write(textOf(said))
      await left.promise
      if (rest.length === 0) return exchange.hang()
      // If the gateway closed the upstream call immediately, it would do so during this pause.
      await pause(300, exchange.callerLeft)
      await exchange.write(textOf(rest))
      exchange.end()
    }),
  )
  const controller = new AbortController()
  const response = await rig.gateway.post(path, body, caller.token, { signal: controller.signal })
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (!text.includes(sign)) continue
    // Stops the gateway's clock, so that the rest arrives before its time limit even on a slow machine. The `break`
    // disconnects the caller.
    if (rest.length > 0) stoppedAtMs = Date.now()
    break
  }
  expect(text).toContain(sign)
  controller.abort()
  left.resolve()
  await rig.upstream.until(({ openStreams }) => openStreams === 0)
  await until(async () => (await rig.gateway.balances(caller.userId, caller.tokenId)).holds === 0)
  stoppedAtMs = undefined
  return caller
}

const responses = { path: '/v1/responses', body: { model: 'm', input: 'Hi', stream: true } }
const messages = {
  path: '/v1/messages',
  body: {
    model: 'm2',
    max_tokens: 30_000,
    messages: [{ role: 'user', content: 'Hi' }],
    thinking: { type: 'enabled', budget_tokens: 25_000 },
    stream: true,
  },
}

describe('a caller who disconnects pays for reasoning even if the reasoning was not shown', () => {
  const textItem = {
    type: 'response.output_item.done',
    output_index: 1,
    item: { ...message, content: [{ type: 'output_text', text: answer }] },
  }
  const cases: readonly (Leaving & { name: string })[] = [
    { name: 'at the end of a text', ...responses, said: [...textBegun, textDone], rest: [textItem, responseEnd] },
    { name: 'at the end of an item', ...responses, said: [...textBegun, textDone, textItem], rest: [responseEnd] },
    { name: 'at the end of a call', ...responses, said: [...callBegun, callDone], rest: [responseEnd] },
    {
      name: 'at the end of a content block from Claude',
      ...messages,
      said: [...claudeBegun, { type: 'content_block_stop', index: 1 }],
      rest: claudeEnd,
    },
  ]
  for (const each of cases) {
    test(each.name, async () => {
      const { units, rows } = await chargedUnits(rig, await leave(each))
      expect(rows[0]).toMatchObject({ prompt_tokens: 10, completion_tokens: reasoning + 6, estimated: 0 })
      expect(units).toBe(reasoning + 16)
    })
  }
})

describe('if a caller disconnects before usage is reported, the gateway counts the tokens', () => {
  const cases: readonly (Leaving & { name: string })[] = [
    { name: 'when the upstream falls silent', ...responses, said: [...textBegun, textDone], rest: [] },
    { name: 'in the middle of a text', ...responses, said: textBegun, rest: [] },
  ]
  for (const each of cases) {
    test(each.name, async () => {
      const { rows } = await chargedUnits(rig, await leave(each))
      expect(rows[0]).toMatchObject({ outcome: 'aborted', estimated: 1 })
      expect(rows[0]?.completion_tokens).toBeGreaterThan(0)
      expect(rows[0]?.completion_tokens).toBeLessThan(50)
      expect(rig.upstream.last.aborted).toBe(true)
    })
  }
})

describe('a prompt whose usage was reported at the start of the stream', () => {
  const cached = 150_000
  const start = {
    type: 'message_start',
    message: {
      id: 'msg_1',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 10, cache_read_input_tokens: cached, cache_creation_input_tokens: 0, output_tokens: 3 },
    },
  }
  const delta = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  const words = (count: number) => Array.from({ length: count }, (_, at) => delta(` word${at}`))
  const said = (count: number) => [
    start,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...words(count),
  ]
  const chat = {
    path: '/v1/chat/completions',
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'word '.repeat(20_000) }],
      stream: true,
    },
  }
  const cases = [
    { name: 'twenty deltas', count: 20, path: '/v1/messages' },
    { name: 'fewer deltas than the upstream reported tokens', count: 1, path: '/v1/messages' },
    { name: 'twenty deltas in another dialect', count: 20, path: '/v1/chat/completions' },
  ]

  beforeAll(() => rig.channel({ type: 14, models: 'claude-sonnet-4-5' }))

  for (const { name, count, path } of cases) {
    test(`keeps its lower price for cached tokens if the caller disconnects after ${name}`, async () => {
      const last = ` word${count - 1}`
      const caller = await leave({ ...chat, path, said: said(count), rest: [], sign: last })
      const { units, rows } = await chargedUnits(rig, caller)
      expect(rows[0]).toMatchObject({
        outcome: 'aborted',
        estimated: 1,
        prompt_tokens: cached + 10,
        cached_tokens: cached,
      })
      const written = rows[0]?.completion_tokens ?? 0
      expect(written).toBeGreaterThanOrEqual(Math.max(3, count))
      expect(written).toBeLessThan(100)
      // The prices per million tokens are $3 for prompt tokens, a tenth of this for cached tokens, and $15 for
      // completion tokens.
      expect(units).toBe(Math.ceil(cached * 0.15 + 10 * 1.5 + written * 7.5))
    })
  }

  test('keeps its lower price for cached tokens if the upstream breaks off', async () => {
    const caller = await rig.caller()
    rig.upstream.next(
      fake.behaviour('breaks off', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(textOf(said(20)))
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post('/v1/messages', chat.body, caller.token))
    expect(seen.text).toContain('event: error')
    const { rows } = await chargedUnits(rig, caller)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted', estimated: 1, cached_tokens: cached })
  })
})

test('the hold is released even if an unreadable event arrives after the caller has disconnected', async () => {
  const deep = `${'{"text":['.repeat(90_000)}"x"${']}'.repeat(90_000)}`
  const caller = await rig.caller()
  const left = Promise.withResolvers<void>()
  rig.upstream.next(
    fake.behaviour('says something unreadable when the caller has left', async (exchange) => {
      exchange.head(200, fake.streamHeaders())
      const stop = { choices: [{ index: 0, delta: { content: answer }, finish_reason: 'stop' }] }
      await exchange.write(`data: ${JSON.stringify(stop)}\n\n`)
      await left.promise
      await exchange.write(`data: {"choices":[{"index":0,"delta":{"content":[${deep}]}}]}\n\n`)
      exchange.hang()
    }),
  )
  const controller = new AbortController()
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }
  const response = await rig.gateway.post('/v1/chat/completions', body, caller.token, { signal: controller.signal })
  await response.body?.getReader().read()
  stoppedAtMs = Date.now()
  controller.abort()
  left.resolve()
  await rig.upstream.until(({ openStreams }) => openStreams === 0)
  stoppedAtMs = undefined
  const { rows } = await chargedUnits(rig, caller)
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({ outcome: 'complete', estimated: 1 })
})
