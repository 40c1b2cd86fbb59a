// Formats that resemble OpenAI's chat but use other names: their recordings are decoded, both complete and cut off.
import { describe, expect, test } from 'bun:test'
import { aiProxyLibrary } from '../../server/dialects/aiproxy-library/index.ts'
import { GrowingText } from '../../server/dialects/dashscope/growing-text.ts'
import { dashscope } from '../../server/dialects/dashscope/index.ts'
import { ernie } from '../../server/dialects/ernie/index.ts'
import { hunyuan } from '../../server/dialects/hunyuan/index.ts'
import type { UpstreamDialect } from '../../server/dialects/neutral/dialect.ts'
import type { Reply, ReplyPart } from '../../server/dialects/neutral/reply.ts'
import { palm } from '../../server/dialects/palm/index.ts'
import { joinFrames, spark } from '../../server/dialects/spark/index.ts'
import { sparkModel } from '../../server/dialects/spark/model.ts'
import { zhipuV3 } from '../../server/dialects/zhipu-v3/index.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { assemble, decodeAll, dialects, frameOf } from '../helpers/dialects.ts'
import { listCases, loadCase, type RecordingCase, recordingsAvailable, sseData } from '../helpers/recordings.ts'

const sparkMax = spark(sparkModel('Spark-Max', ''), 'app')

/** The dialect of each recorded format, by the name that the recordings use. */
const kin: Readonly<Record<string, UpstreamDialect>> = {
  ernie,
  hunyuan,
  palm,
  'spark-ws': sparkMax,
  'zhipu-v3': zhipuV3,
  'dashscope-text': dashscope,
  'dashscope-multimodal': dashscope,
}

const cases = recordingsAvailable ? Object.keys(kin).flatMap((api) => listCases({ api }).map(loadCase)) : []
const isGood = ({ status, features }: RecordingCase) =>
  status === 200 && !features.some((feature) => /error/.test(feature))
const dialectOf = ({ api }: RecordingCase) => kin[api] ?? ernie

/** The events of a recorded stream. */
function eventsOf(recorded: RecordingCase): string[] {
  return recorded.kind === 'ws' ? recorded.responseText.split('\n').filter((line) => line !== '') : sseData(recorded)
}

/** All strings under the given names at any depth, in order, found by the simplest possible parser. */
function textsUnder(value: unknown, names: readonly string[]): string {
  if (Array.isArray(value)) return value.map((each) => textsUnder(each, names)).join('')
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([name, each]) => (names.includes(name) && typeof each === 'string' ? each : textsUnder(each, names)))
    .join('')
}

const textNames = ['result', 'Content', 'content', 'text']

const joined = ({ choices }: Reply, type: ReplyPart['type']) =>
  choices
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === type && 'text' in part ? part.text : '')))
    .join('')

describe.skipIf(!recordingsAvailable)('recorded answers', () => {
  const streamed = cases.filter((each) => isGood(each) && (each.kind === 'sse' || each.kind === 'ws'))
  const whole = cases.filter((each) => isGood(each) && each.kind === 'json')

  test('number more than 15 of each kind', () => {
    expect(streamed.length).toBeGreaterThan(15)
    expect(whole.length).toBeGreaterThan(15)
  })

  for (const recorded of whole) {
    test(`${recorded.id} is decoded to a complete answer`, () => {
      const wire = recorded.responseJson as JsonObject
      const dialect = dialectOf(recorded)
      expect(dialect.failureWithin?.(wire)).toBeUndefined()
      const reply = dialect.decodeReply(wire, 'seed')
      expect(reply.choices.length).toBe(1)
      const parts = reply.choices[0]?.parts ?? []
      expect(parts.length).toBeGreaterThan(0)
      for (const part of parts) if (part.type === 'tool-call') expect(JSON.parse(part.input)).toBeObject()
      const hasCalls = recorded.features.includes('tool_calls')
      expect(parts.some(({ type }) => type === 'tool-call')).toBe(hasCalls)
      if (hasCalls) expect(reply.choices[0]?.stop.reason).toBe('tool-calls')
      const isCounted = recorded.features.includes('usage') && !parts.some(({ type }) => type === 'media')
      if (isCounted) expect(reply.usage?.promptTokens).toBeGreaterThan(0)
      // The decoded answer can be written in every dialect.
      for (const other of Object.values(dialects)) {
        const told = other.decodeReply(other.encodeReply(reply, frameOf(other.name)), 'seed')
        expect(joined(told, 'text')).toBe(joined(reply, 'text'))
      }
    })
  }

  for (const recorded of streamed) {
    // The last event of a deep-research answer looks like the events before it, so a truncated stream cannot be
    // detected.
    if (/deep-research/.test(recorded.id)) continue
    test(`${recorded.id} is decoded completely, and is reported as incomplete after whichever event it is cut off`, () => {
      const dialect = dialectOf(recorded)
      const events = eventsOf(recorded)
      const { reply, ended, failure } = assemble(decodeAll(dialect, events))
      expect({ ended, failure }).toEqual({ ended: true, failure: undefined })
      const said = events.map((each) => textsUnder(JSON.parse(each)['output'] ?? JSON.parse(each), textNames))
      const repeats = said.length > 2 && said.every((each, at) => at === 0 || each.startsWith(said[at - 1] ?? ''))
      expect(joined(reply, 'text')).toBe(repeats ? (said.at(-1) ?? '') : said.join(''))
      for (const part of reply.choices[0]?.parts ?? [])
        if (part.type === 'tool-call') expect(JSON.parse(part.input)).toBeObject()
      expect(reply.usage?.promptTokens).toBeGreaterThan(0)
      for (let length = 0; length < events.length - 1; length++) {
        const last = decodeAll(dialect, events.slice(0, length)).at(-1)
        expect({ length, type: last?.type }).toEqual({ length, type: 'error' })
      }
    })
  }

  test('joining the frames of Spark yields the complete answer', () => {
    for (const recorded of streamed.filter(({ kind }) => kind === 'ws')) {
      const frames = eventsOf(recorded).map((each) => JSON.parse(each) as JsonObject)
      const streamedReply = assemble(decodeAll(sparkMax, eventsOf(recorded))).reply
      const reply = sparkMax.decodeReply(joinFrames(frames), 'seed')
      expect(joined(reply, 'text')).toBe(joined(streamedReply, 'text'))
      expect(reply.usage).toEqual(streamedReply.usage)
    }
  })

  test('errors are reported as errors, with a matching status', () => {
    const failures = cases.filter((each) => !isGood(each) && !/midway/.test(each.id))
    expect(failures.length).toBeGreaterThan(8)
    for (const recorded of failures) {
      const dialect = dialectOf(recorded)
      const body = JSON.parse(recorded.responseText) as JsonObject
      const { status = 0, message = '' } =
        (recorded.status === 200 ? dialect.failureWithin?.(body) : dialect.decodeFailure(recorded.status, body)) ?? {}
      expect({ id: recorded.id, isFailure: status >= 400, isTold: message !== '' }).toEqual({
        id: recorded.id,
        isFailure: true,
        isTold: true,
      })
    }
  })
})

describe('a text that a service may repeat in full in every event', () => {
  const read = (...texts: string[]) => {
    const growing = new GrowingText()
    return texts.map((text, at) => growing.push(text, at === texts.length - 1))
  }

  test('is passed on in pieces if it arrives in pieces', () => {
    expect(read('a', 'b', 'a', '')).toEqual(['a', 'b', 'a', ''])
    expect(read('1', '1', '2').join('')).toBe('112')
    expect(read('1', '12', '3').join('')).toBe('1123')
    expect(read('ha', 'ha', '').join('')).toBe('haha')
    expect(read('', '', 'x', 'xy', '').join('')).toBe('xxy')
  })

  test('yields only the new part if it is repeated', () => {
    expect(read('1', '1,', '1, ', '1, 2', '1, 2')).toEqual(['1', '', ', ', '2', ''])
    expect(read('A long beginning', 'A long beginning and', 'A long beginning and end').join('')).toBe(
      'A long beginning and end',
    )
    expect(read('Yes', 'Yes').join('')).toBe('Yes')
  })
})

test('request fields that a format cannot express are listed under the caller’s names for them', () => {
  const openai = dialects['openai-chat'].decodeRequest({
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    seed: 1,
    presence_penalty: 1,
    n: 1,
    logit_bias: { 5: 1 },
    metadata: { a: 'b' },
    store: true,
  })
  expect([...aiProxyLibrary.encodeRequest(openai).dropped].sort()).toEqual([
    'logit_bias',
    'metadata',
    'presence_penalty',
    'seed',
  ])
  const google = dialects.gemini.decodeRequest(
    {
      contents: [{ parts: [{ text: 'Hi' }] }],
      generationConfig: { topK: 5, seed: 2, maxOutputTokens: 9 },
      safetySettings: [],
    },
    { model: 'm' },
  )
  expect([...palm.encodeRequest(google).dropped].sort()).toContain('generationConfig.seed')
  expect(palm.encodeRequest(google).body).toMatchObject({ topK: 5 })
  expect(sparkMax.encodeRequest(google).body).toMatchObject({ parameter: { chat: { top_k: 5, max_tokens: 9 } } })
})
