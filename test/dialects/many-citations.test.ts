import { expect, test } from 'bun:test'
import { cohereChat } from '../../server/dialects/cohere-chat/index.ts'
import type { Citation } from '../../server/dialects/neutral/conversation.ts'
import type { Reply, StreamEvent } from '../../server/dialects/neutral/reply.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { dataOf, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'

// The time limit of each test in milliseconds. The gateway serves all callers from one thread, so the work must not
// grow with the square of the answer's length. If it did, these tests would take minutes.
const patience = 60_000

const { gemini, 'anthropic-messages': anthropic } = dialects
const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at))
const citationsOf = (reply: Reply): (readonly Citation[])[] =>
  (reply.choices[0]?.parts ?? []).map((part) => (part.type === 'text' ? (part.citations ?? []) : []))

/** Expects each citation to start at its own index in the list, and to be one unit long. */
function standWhereTold(found: readonly Citation[]): void {
  expect(found.every(({ start, end }, at) => start === at && end === at + 1)).toBe(true)
}

/** The alternating blocks that an Anthropic caller receives: their names and their final inputs. */
function blocksOf(events: readonly StreamEvent[]) {
  const names: unknown[] = []
  const inputs: string[] = []
  for (const data of dataOf(encodeAll(anthropic, events, frameOf('anthropic-messages')))) {
    const { type, content_block, delta } = JSON.parse(data) as Record<string, JsonObject | undefined>
    if (String(type) === 'content_block_start') names.push(content_block?.['name'] ?? content_block?.['type'])
    if (String(type) === 'content_block_start') inputs.push('')
    if (delta?.['type'] === 'input_json_delta') inputs.push((inputs.pop() ?? '') + String(delta['partial_json']))
  }
  return { names, inputs }
}

const call = (index: number, input = ''): StreamEvent => ({
  type: 'part',
  choice: 0,
  index,
  part: { type: 'tool-call', id: `c${index}`, name: `f${index}`, input },
})
const more = (index: number, text: string): StreamEvent => ({ type: 'delta', choice: 0, index, text })
const partEnd = (index: number): StreamEvent => ({ type: 'part-end', choice: 0, index })
const text: StreamEvent = { type: 'part', choice: 0, index: 0, part: { type: 'text', text: 'Hi' } }
const calls = 150_000
const names = ['text', ...list(calls, (at) => `f${at + 1}`)]

test(
  'many calls that wait for the end of a text follow it in the order in which they started',
  () => {
    const heads = list(calls, (at) => call(at + 1))
    const ends = list(calls, (at) => [more(at + 1, '{'), partEnd(at + 1)]).flat()
    const shown = blocksOf([text, ...heads, partEnd(0), ...ends, { type: 'end' }])
    expect(shown.names).toEqual(names)
    expect(shown.inputs.every((input, at) => input === (at === 0 ? '' : '{'))).toBe(true)
  },
  patience,
)

test(
  'many waiting calls follow the text in the order in which they started, even if the last call ends first',
  () => {
    const heads = list(calls, (at) => call(at + 1, '{'))
    const ends = list(calls, (at) => partEnd(calls - at))
    expect(blocksOf([text, ...heads, ...ends, partEnd(0), { type: 'end' }]).names).toEqual(names)
  },
  patience,
)

test(
  'a long input is not read again for every call that begins before it ends',
  () => {
    const piece = `${'x'.repeat(500)}}`
    const events = list(40_000, (at) => [more(0, piece), call(at + 1, '{}')]).flat()
    const shown = blocksOf([call(0, '{"a":"'), ...events, more(0, '"}'), partEnd(0), { type: 'end' }])
    expect(shown.names).toHaveLength(40_001)
    expect(JSON.parse(shown.inputs[0] ?? '')).toEqual({ a: piece.repeat(40_000) })
  },
  patience,
)

const url = 'https://a.org'
const answer = (parts: readonly JsonObject[], groundingSupports: readonly JsonObject[]) =>
  gemini.decodeReply(
    {
      candidates: [
        {
          content: { parts },
          finishReason: 'STOP',
          groundingMetadata: { groundingChunks: [{ web: { uri: url } }], groundingSupports },
        },
      ],
    },
    'seed',
  )

test(
  'many grounding supports of a long text have the positions that Google gave',
  () => {
    const supports = list(50_000, (at) => ({
      segment: { startIndex: at * 3, endIndex: at * 3 + 6 },
      groundingChunkIndices: [0],
    }))
    const [found = []] = citationsOf(answer([{ text: '€'.repeat(2_000_000) }], supports))
    expect(found).toHaveLength(50_000)
    expect(found.every(({ start, end }, at) => start === at && end === at + 2)).toBe(true)
  },
  patience,
)

test(
  'many grounding supports whose quoted text does not occur in a long text keep their positions',
  () => {
    const supports = list(50_000, (at) => ({
      segment: { startIndex: at, endIndex: at + 1, text: `b${at}` },
      groundingChunkIndices: [0],
    }))
    const [found = []] = citationsOf(answer([{ text: 'a'.repeat(5_000_000) }], supports))
    standWhereTold(found)
  },
  patience,
)

test(
  'many grounding supports are assigned to their own parts, in the order of arrival',
  () => {
    const count = 150_000
    const supports = list(count, (at) => count - 1 - at).flatMap((at) => [
      { segment: { startIndex: at * 2, endIndex: at * 2 + 2 }, groundingChunkIndices: [0] },
      { segment: { startIndex: at * 2, endIndex: at * 2 + 1 }, groundingChunkIndices: [0] },
    ])
    const parts = list(count, () => [{ text: 'ab' }, { functionCall: { name: 'f' } }]).flat()
    const found = citationsOf(answer(parts, supports))
    const own = JSON.stringify([
      { url, start: 0, end: 2 },
      { url, start: 0, end: 1 },
    ])
    expect(found.every((each, at) => JSON.stringify(each) === (at % 2 === 0 ? own : '[]'))).toBe(true)
  },
  patience,
)

test(
  'many URLs cited in a long text become separate chunks',
  () => {
    const count = 200_000
    const citations = list(count * 2, (at) => ({ url: `${url}/${at % count}`, title: `${at}`, start: at, end: at + 1 }))
    const out = gemini.encodeReply(
      {
        choices: [{ parts: [{ type: 'text', text: '€'.repeat(1_000_000), citations }], stop: { reason: 'stop' } }],
      },
      frameOf('gemini'),
    )
    const [candidate] = out['candidates'] as { groundingMetadata: Record<string, JsonObject[]> }[]
    const { groundingChunks, groundingSupports } = candidate?.groundingMetadata ?? {}
    expect(groundingChunks).toHaveLength(count)
    expect(groundingChunks?.[7]).toEqual({ web: { uri: `${url}/7`, title: '7' } })
    expect(groundingSupports?.[count + 7]).toEqual({
      segment: { startIndex: (count + 7) * 3, endIndex: (count + 8) * 3, text: '€' },
      groundingChunkIndices: [7],
    })
  },
  patience,
)

const cohere = (content: readonly JsonObject[], citations: readonly JsonObject[]) =>
  cohereChat.decodeReply({ message: { content, citations }, finish_reason: 'COMPLETE' }, 'seed')

test(
  'many Cohere citations in a long text with wide characters have the right positions',
  () => {
    const said = '😀b'.repeat(1_000_000)
    const citations = list(50_000, (at) => ({ start: at * 2 + 1, end: at * 2 + 2, text: 'b' }))
    const [found = []] = citationsOf(cohere([{ type: 'text', text: said }], citations))
    // Cohere's positions count characters. If the quoted text is at the same position counted in UTF-16 code units, the
    // position is not converted.
    const place = (at: number) => (said[at * 2 + 1] === 'b' ? at * 2 + 1 : at * 3 + 2)
    expect(found.every(({ start }, at) => start === place(at))).toBe(true)
    expect(found).toHaveLength(50_000)
  },
  patience,
)

test(
  'many Cohere citations whose quoted text does not occur in a long text keep their positions',
  () => {
    const citations = list(50_000, (at) => ({ start: at, end: at + 1, text: `b${at}` }))
    const [found = []] = citationsOf(cohere([{ type: 'text', text: 'a'.repeat(5_000_000) }], citations))
    standWhereTold(found)
  },
  patience,
)

test(
  'many Cohere citations that name no block are each assigned to one block',
  () => {
    const count = 100_000
    const content = list(count, (at) => ({ type: 'text', text: at === 1 ? 'two' : 'one' }))
    const citations = list(count, (at) => ({ start: 0, end: 3, text: ['one', 'two', 'six'][at % 3] }))
    const found = citationsOf(cohere(content, citations))
    expect(found.reduce((sum, { length }) => sum + length, 0)).toBe(count)
  },
  patience,
)

test('a Cohere citation that names no block goes to the first block that it matches, or else to the first text', () => {
  const content = [
    { type: 'thinking', thinking: 'two' },
    { type: 'text', text: 'one' },
    { type: 'text', text: '😀two' },
    { type: 'text', text: '😀two' },
  ]
  const citations = [
    { start: 0, end: 3, text: 'one' },
    { start: 1, end: 4, text: 'two' },
    { start: 0, end: 3, text: 'six' },
    { start: 1, end: 4, text: 'two', content_index: 3 },
  ]
  expect(citationsOf(cohere(content, citations))).toEqual([
    [],
    [
      { start: 0, end: 3 },
      { start: 0, end: 3 },
    ],
    [{ start: 2, end: 5 }],
    [{ start: 2, end: 5 }],
  ])
})
