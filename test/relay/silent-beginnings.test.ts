// An empty event does not count as the beginning of an answer: a failure after it is retried on the next channel and
// costs nothing.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { chargedUnits, chat, eventsOf, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '1', AutomaticDisableChannelEnabled: 'false' }))

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const calls = {
  chat: { path: '/v1/chat/completions', body: { ...chat, stream: true } },
  responses: { path: '/v1/responses', body: { model: 'm', input: 'Hi', stream: true } },
  messages: { path: '/v1/messages', body: { ...chat, max_tokens: 10, stream: true } },
  gemini: { path: '/v1beta/models/m:streamGenerateContent?alt=sse', body: { contents } },
} as const
const callers = Object.keys(calls) as (keyof typeof calls)[]

const chunk = (delta: object, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
})
const start = {
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'm',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}
const silent: readonly (readonly [name: string, type: number, events: readonly object[]])[] = [
  ['a role with an empty text', 1, [chunk({ role: 'assistant', content: '' })]],
  ['a role without text', 1, [chunk({ role: 'assistant', content: null })]],
  ['an empty object', 1, [{}]],
  ['an empty delta', 1, [chunk({})]],
  [
    'the result of a content filter',
    1,
    [{ choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }],
  ],
  ['an empty thought', 1, [chunk({ role: 'assistant', content: null, reasoning_content: '' })]],
  [
    'the usage of the prompt',
    1,
    [chunk({ role: 'assistant', content: '' }, { usage: { prompt_tokens: 10, completion_tokens: 0 } })],
  ],
  ['several events without content', 1, [{ choices: [] }, chunk({ role: 'assistant' }), chunk({ content: '' })]],
  [
    'an empty block',
    14,
    [start, { type: 'ping' }, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
  ],
  ['an empty part', 24, [{ candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, index: 0 }] }]],
]
const faults: readonly (readonly [name: string, run: (exchange: fake.Exchange) => Promise<void> | void])[] = [
  ['ends', (exchange) => exchange.end()],
  [
    'reports an error',
    async (exchange) => {
      const error = { message: 'It broke.', type: 'api_error', code: 500, status: 'INTERNAL' }
      await exchange.write(`data: ${JSON.stringify({ type: 'error', error })}\n\n`)
      exchange.end()
    },
  ],
  [
    'sends an unreadable event',
    async (exchange) => {
      await exchange.write('data: {"choices":[{"del\n\n')
      exchange.end()
    },
  ],
]

describe.each(silent)('after %s', (_, type, events) => {
  test.each(faults)('a stream that %s is retried on the next channel', async (_name, fault) => {
    // Mistral supports only chat, whatever the caller's dialect.
    await rig.channel({ type: type === 1 ? 28 : type, key: 'key-a', priority: 1 })
    await rig.channel({ type: 28, key: 'key-b' })
    rig.upstream.forKey(
      'key-a',
      ...callers.map(() =>
        fake.behaviour('begins without a word', async (exchange) => {
          exchange.head(200, [['content-type', 'text/event-stream']])
          await exchange.write(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''))
          await fault(exchange)
        }),
      ),
    )
    rig.upstream.forKey('key-b', ...callers.map(() => fake.okStream({ text: 'Hello there' })))
    for (const caller of callers) {
      const account = await rig.caller()
      const { path, body } = calls[caller]
      const seen = await see(rig.gateway.post(path, body, account.token))
      expect([caller, seen.status, seen.text.includes('there'), seen.error]).toEqual([caller, 200, true, undefined])
      expect((await chargedUnits(rig, account)).rows).toMatchObject([{ outcome: 'complete' }])
    }
  })
})

test('an empty answer counts as an answer if it ends properly', async () => {
  await rig.channel()
  const events = [
    chunk({ role: 'assistant', content: '' }),
    { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
  rig.upstream.next(
    fake.behaviour('says nothing', async (exchange) => {
      exchange.head(200, [['content-type', 'text/event-stream']])
      await exchange.write(`${events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`)
      exchange.end()
    }),
  )
  const seen = await see(rig.gateway.post('/v1/chat/completions', calls.chat.body))
  expect(seen.status).toBe(200)
  expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
})
