// Some usage reports do not say which tokens their totals include. These tests check what callers are charged for them,
// whether the answer is streamed or not, and passed on or translated.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sendBody, sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { chargedUnits, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  const only = (ratio: number) => JSON.stringify({ m: ratio })
  const settings = {
    ModelRatio: only(1),
    CompletionRatio: only(5),
    CacheRatio: only(0.1),
    ImageRatio: only(2),
    AudioRatio: only(2),
  }
  rig = await startRelayRig({ channels: false, settings })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear())

/** The channel types of a service that supports only chat, and of Google. */
type Type = 28 | 24

const message = { role: 'assistant', content: 'Hello.' }
const chatAnswer = (usage: object) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
})
const chunk = (rest: object) => ({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...rest })
const said = chunk({ choices: [{ index: 0, delta: message, finish_reason: 'stop' }] })

const content = { role: 'model', parts: [{ text: 'Hello.' }] }
const geminiAnswer = (usageMetadata: object) => ({
  candidates: [{ index: 0, content, finishReason: 'STOP' }],
  usageMetadata,
})

/** An upstream that reports the last of these usages in a non-streamed response, or each one in a chunk of a stream. */
function reports(type: Type, usages: readonly object[]) {
  return fake.behaviour('reports', (exchange) => {
    const isStream = exchange.request.fields['stream'] === true || exchange.request.path.includes(':stream')
    const last = usages.at(-1) ?? {}
    if (!isStream) return sendJson(exchange, 200, type === 24 ? geminiAnswer(last) : chatAnswer(last))
    const events =
      type === 24
        ? [...usages.map((usage, at) => (at === 0 ? geminiAnswer(usage) : { usageMetadata: usage }))]
        : [said, ...usages.map((usage) => chunk({ choices: [], usage }))]
    const end = type === 24 ? '' : 'data: [DONE]\n\n'
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end
    return sendBody(exchange, 200, text, [['content-type', 'text/event-stream']])
  })
}

const hi = [{ role: 'user', content: 'Hi' }]
const callers = {
  chat: (stream: boolean) => ['/v1/chat/completions', { model: 'm', messages: hi, stream }] as const,
  Messages: (stream: boolean) => ['/v1/messages', { model: 'm', max_tokens: 9000, messages: hi, stream }] as const,
  Responses: (stream: boolean) => ['/v1/responses', { model: 'm', input: 'Hi', stream }] as const,
  Gemini: (stream: boolean) =>
    [
      `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    ] as const,
}

async function rowOf(type: Type, name: keyof typeof callers, stream: boolean, usages: readonly object[]) {
  await rig.channel({ type })
  const caller = await rig.caller()
  rig.upstream.next(reports(type, usages))
  const [path, body] = callers[name](stream)
  const seen = await see(rig.gateway.post(path, body, caller.token))
  expect({ status: seen.status, broken: seen.broken, error: seen.error }).toEqual({
    status: 200,
    broken: false,
    error: undefined,
  })
  const { units, rows } = await chargedUnits(rig, caller)
  return { units, row: rows[0] }
}

const names = Object.keys(callers) as (keyof typeof callers)[]
const each = names.flatMap((name) => [false, true].map((stream) => [name, stream ? 'streamed' : 'whole'] as const))

describe.each([28, 24] as const)('with an upstream of type %d,', (type) => {
  const openThoughts =
    type === 24
      ? { promptTokenCount: 9, candidatesTokenCount: 664, totalTokenCount: 1994 }
      : { prompt_tokens: 9, completion_tokens: 664, total_tokens: 1994 }
  const zeros =
    type === 24
      ? { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 }
      : { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const cachedImages =
    type === 24
      ? {
          promptTokenCount: 1000,
          candidatesTokenCount: 31,
          totalTokenCount: 1031,
          cachedContentTokenCount: 1000,
          promptTokensDetails: [
            { modality: 'TEXT', tokenCount: 100 },
            { modality: 'IMAGE', tokenCount: 900 },
          ],
          cacheTokensDetails: [
            { modality: 'TEXT', tokenCount: 100 },
            { modality: 'IMAGE', tokenCount: 900 },
          ],
        }
      : {
          prompt_tokens: 1000,
          completion_tokens: 31,
          total_tokens: 1031,
          prompt_tokens_details: { cached_tokens: 1000, image_tokens: 900 },
        }

  test.each(each)(
    'a %s caller, %s: thoughts that are included only in the total are charged and logged',
    async (name, how) => {
      const { units, row } = await rowOf(type, name, how === 'streamed', [openThoughts])
      expect(units).toBe(9 + 1985 * 5)
      expect(row).toMatchObject({ prompt_tokens: 9, completion_tokens: 1985, estimated: 0 })
      expect(row?.content).toContain('usage of the upstream doubtful: 1321 tokens of the total')
    },
  )

  test.each(each)('a %s caller, %s: cached images cost a fraction of the image price', async (name, how) => {
    const { units, row } = await rowOf(type, name, how === 'streamed', [cachedImages])
    expect(units).toBe(10 + 180 + 31 * 5)
    expect(row?.content).not.toContain('doubtful')
  })

  test.each(names)('a %s caller: if usage of zero follows real usage, the real usage is charged', async (name) => {
    const { units, row } = await rowOf(type, name, true, [openThoughts, zeros])
    expect(units).toBe(9 + 1985 * 5)
    expect(row).toMatchObject({ estimated: 0 })
  })
})

test.each(names)(
  'a %s caller: if there are more reasoning tokens than completion tokens, both are charged',
  async (name) => {
    const usage = { prompt_tokens: 36, completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 690 } }
    const { units, row } = await rowOf(28, name, false, [usage])
    expect(units).toBe(36 + 700 * 5)
    expect(row?.content).toContain('690 of a completion of 10')
  },
)
