// A prompt that exceeds the context length is reported in a form that every client recognises, whatever the upstream's
// wording is.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { errorDetail } from '../helpers/error-detail.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { type CallerName, callerCalls, callers, chargedUnits, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '3' }))

const answers = (status: number, body: unknown) =>
  fake.behaviour(`${status} ${JSON.stringify(body).slice(0, 100)}`, async (exchange) => {
    exchange.head(status, [['content-type', 'application/json']])
    await exchange.write(JSON.stringify(body))
    exchange.end()
  })
const streams = (...data: object[]) =>
  fake.behaviour(`a stream that begins with ${JSON.stringify(data.at(-1)).slice(0, 100)}`, async (exchange) => {
    exchange.head(200, [['content-type', 'text/event-stream']])
    await exchange.write(data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''))
    exchange.end()
  })

async function ask(caller: CallerName, stream = false) {
  const { path, body } = callerCalls[caller]
  const account = await rig.caller()
  const isGemini = caller === 'gemini'
  const address = stream && isGemini ? '/v1beta/models/m:streamGenerateContent?alt=sse' : path
  const asked = stream && !isGemini ? { ...body, stream: true } : body
  return { account, seen: await see(rig.gateway.post(address, asked, account.token)) }
}

/** Checks the status, the dialect's error type, and the wording by which clients recognise the error. */
function expectTooLong(caller: CallerName, seen: Awaited<ReturnType<typeof see>>): void {
  const { kind, message } = errorDetail(seen.text)
  const wanted = {
    chat: ['context_length_exceeded', /maximum context length is|context window/i],
    responses: ['context_length_exceeded', /maximum context length is|context window/i],
    messages: ['invalid_request_error', /^(?:prompt is too long|input length and `max_tokens` exceed context limit)/i],
    gemini: ['INVALID_ARGUMENT', /./],
  } as const
  expect([caller, seen.status, kind]).toEqual([caller, 400, wanted[caller][0]])
  expect(message).toMatch(wanted[caller][1])
  if (caller === 'chat' || caller === 'responses') expect(seen.error?.type).toBe('invalid_request_error')
}

const openAi = (message: string, code: string | number | null, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
})
const length = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."

const upstreams: readonly (readonly [type: number, reply: fake.Behaviour])[] = [
  [1, answers(400, openAi(length, 'context_length_exceeded'))],
  [1, answers(400, openAi(length, 'invalid_request_error'))],
  [1, answers(400, { object: 'error', message: length, type: 'BadRequestError', param: null, code: 400 })],
  [1, answers(400, { error: { message: length, code: 400, metadata: { provider_name: 'x' } } })],
  [
    1,
    answers(422, {
      error: 'Input validation error: `inputs` must have less than 10 tokens. Given: 12',
      error_type: 'validation',
    }),
  ],
  [1, answers(500, openAi('the request exceeds the available context size', 500, 'exceed_context_size_error'))],
  [
    1,
    answers(400, {
      object: 'error',
      message: 'Prompt contains 40 tokens, too large for model with 32 maximum context length',
      type: 'invalid_request_error',
      code: '3051',
    }),
  ],
  [1, answers(200, openAi(length, 400))],
  [
    14,
    answers(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
    }),
  ],
  [
    14,
    answers(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Input is too long for requested model.' },
    }),
  ],
  [14, answers(413, { type: 'error', error: { type: 'request_too_large', message: 'Prompt is too long' } })],
  [
    24,
    answers(400, {
      error: {
        code: 400,
        message: 'The input token count (12) exceeds the maximum number of tokens allowed (10).',
        status: 'INVALID_ARGUMENT',
      },
    }),
  ],
]

describe('a prompt that is too long is reported from every upstream to every caller:', () => {
  test.each(upstreams.map(([type, reply]) => [type, reply.name, reply] as const))(
    'type %d, %s',
    async (type, _, reply) => {
      await rig.channel({ type, key: 'key-a' })
      await rig.channel({ type, key: 'key-b' })
      rig.upstream.always(reply)
      for (const caller of callers) {
        const before = rig.upstream.requests.length
        const { account, seen } = await ask(caller)
        expectTooLong(caller, seen)
        expect(rig.upstream.requests.length).toBe(before + 1)
        expect((await chargedUnits(rig, account)).units).toBe(0)
      }
    },
  )
})

describe('a prompt that is too long is reported even if the error comes in a stream, before any content:', () => {
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
  test.each(
    [
      [1, streams(openAi(length, 400))],
      [
        14,
        streams(start, {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'Input is too long for requested model.' },
        }),
      ],
    ].map(([type, reply]) => [type as number, (reply as fake.Behaviour).name, reply as fake.Behaviour] as const),
  )('type %d, %s', async (type, _, reply) => {
    await rig.channel({ type })
    rig.upstream.always(reply)
    for (const caller of callers) {
      const { account, seen } = await ask(caller, true)
      expectTooLong(caller, seen)
      expect((await chargedUnits(rig, account)).units).toBe(0)
    }
  })
})

test('the error tells Claude Code by how many tokens to shorten its request', async () => {
  await rig.channel()
  rig.upstream.always(
    answers(
      400,
      openAi(
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (6000 in the messages, 3000 in the completion).",
        'context_length_exceeded',
      ),
    ),
  )
  const { seen } = await ask('messages')
  expect(errorDetail(seen.text).message).toBe(
    'input length and `max_tokens` exceed context limit: 6000 + 3000 > 8192, decrease input length or `max_tokens` and try again',
  )
})

test('an exceeded rate limit is reported as a rate limit error, not as a prompt that is too long', async () => {
  await rig.channel()
  rig.upstream.always(
    answers(
      429,
      openAi(
        'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30601.',
        'rate_limit_exceeded',
        'tokens',
      ),
    ),
  )
  const { seen } = await ask('messages')
  expect([seen.status, errorDetail(seen.text).kind]).toEqual([429, 'rate_limit_error'])
})

describe('errors about the upstream’s account or the upstream’s own problems are retried on another channel:', () => {
  test.each([
    [403, 'This token has exceeded its spending limit'],
    [403, 'You have exceeded your monthly token allowance'],
    [503, 'Too many tokens in flight: server exceeded capacity'],
    [500, 'worker crashed: tokens exceeded internal buffer'],
  ])('%d %s', async (status, message) => {
    await rig.channel({ key: 'key-a' })
    await rig.channel({ key: 'key-b' })
    for (const caller of callers) {
      const before = rig.upstream.requests.length
      rig.upstream.next(answers(status, openAi(message, null)))
      const { seen } = await ask(caller)
      expect([caller, seen.status]).toEqual([caller, 200])
      expect(rig.upstream.requests.length).toBeGreaterThan(before + 1)
    }
  })
})
