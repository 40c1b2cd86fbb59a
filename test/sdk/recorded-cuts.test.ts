import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type OpenAI from 'openai'
import { isObject, type JsonObject, tryParse } from '../../server/lib/json.ts'
import { behaviour } from '../helpers/fake-upstream.ts'
import { type RecordingCase, sseData } from '../helpers/recordings.ts'
import { isWholeStream, openaiCases, recordedModels, recordedUsage, requestOf } from './support/cases.ts'
import { numberedCalls } from './support/numbered-calls.ts'
import { collected } from './support/outcome.ts'
import { plainCharge } from './support/prices.ts'
import { type Rig, startRelayRig } from './support/rig.ts'

const streams = ['chat', 'completions'].flatMap((api) => openaiCases(api, { kind: 'sse', status: 'ok' }))

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig(recordedModels(streams))
})
afterAll(() => rig[Symbol.asyncDispose]())

/**
 * How the connection ends after the cut. `end`: properly, as if the answer were complete. `fin`: in the middle of the
 * body.
 */
type Ending = 'end' | 'fin'

function cutAt(recording: RecordingCase, bytes: number, ending: Ending) {
  return behaviour(`cut at ${bytes} by ${ending}`, async (exchange) => {
    exchange.head(200, [['content-type', 'text/event-stream']])
    if (bytes > 0) await exchange.write(recording.response.body.subarray(0, bytes))
    if (ending === 'end') exchange.end()
    else exchange.fin()
  })
}

/** The offsets after each blank line. */
function boundaries({ response }: RecordingCase): number[] {
  const text = Buffer.from(response.body).toString('latin1')
  return [...text.matchAll(/\r\n\r\n|\n\n|\r\r/g)].map(({ index, 0: mark }) => index + mark.length)
}

/**
 * Every boundary. In streams with more than `most` events, the middle is represented by some boundaries that are spread
 * evenly.
 */
function sampled(all: readonly number[], most = 60): number[] {
  if (all.length <= most) return [...all]
  const ends = most / 4
  const step = (all.length - 2 * ends) / (most - 2 * ends)
  return all.filter((_, at) => at < ends || at >= all.length - ends || Math.floor((at - ends) % step) === 0)
}

/** Positions inside events, spread over the stream. They are the same in every run. */
function inside({ response }: RecordingCase, count: number): number[] {
  return Array.from({ length: count }, (_, index) => 1 + Math.floor(((index + 0.37) * response.body.length) / count))
}

interface Prefix {
  chunks: JsonObject[]
  isComplete: boolean
}

/** The complete events before the cut. */
function prefixOf(recording: RecordingCase, bytes: number, choices: number): Prefix {
  const responseText = Buffer.from(recording.response.body.subarray(0, bytes)).toString()
  const data = sseData({ ...recording, responseText }).filter((text) => text.trim() !== '')
  // The text after the last blank line is included if it is a complete event.
  const last = data.at(-1)
  if (last !== undefined && last !== '[DONE]' && tryParse(last) === undefined) data.pop()
  const hasEndMark = data.includes('[DONE]')
  const chunks = data.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text) as JsonObject)
  return { chunks, isComplete: hasEndMark || isWholeStream(chunks, false, choices) }
}

/** The text that a caller has received, in the form in which the gateway counts it. */
function deliveredText(chunks: readonly JsonObject[]): string {
  const parts: unknown[] = []
  for (const choice of chunks.flatMap((chunk) =>
    Array.isArray(chunk['choices']) ? (chunk['choices'] as JsonObject[]) : [],
  )) {
    const delta = isObject(choice['delta']) ? choice['delta'] : {}
    const content: unknown[] = Array.isArray(delta['content'])
      ? delta['content'].flatMap(partTexts)
      : [delta['content']]
    parts.push(choice['text'], ...content, delta['reasoning_content'] ?? delta['reasoning'], delta['refusal'])
    for (const call of [delta, ...(Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as JsonObject[]) : [])]) {
      const named = call['function'] ?? call['function_call']
      if (isObject(named)) parts.push(named['name'], named['arguments'])
    }
  }
  return parts.filter((part) => typeof part === 'string').join('')
}

function partTexts(part: JsonObject): unknown[] {
  const thinking = Array.isArray(part['thinking']) ? part['thinking'].flatMap(partTexts) : [part['thinking']]
  return [part['text'], ...thinking]
}

/** A chat chunk as the SDK returns it, where a choice without a finish reason has null. */
function asRead(chunk: JsonObject): JsonObject {
  if (!Array.isArray(chunk['choices'])) return chunk
  const choices = (chunk['choices'] as JsonObject[]).map((each) => ({
    ...each,
    finish_reason: each['finish_reason'] ?? null,
  }))
  return { ...chunk, choices }
}

/**
 * False if a chunk contains only a role, empty texts and filter results. If only such chunks arrive before the cut, the
 * SDK returns no chunks.
 */
function saysSomething(chunk: JsonObject): boolean {
  const isThere = (value: unknown) =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)
  if (!Array.isArray(chunk['choices'])) return true
  return (chunk['choices'] as JsonObject[]).some(({ delta, text, finish_reason }) => {
    const said = Object.entries((delta ?? {}) as JsonObject).filter(
      ([name, value]) => name !== 'role' && isThere(value),
    )
    return said.length > 0 || isThere(text) || isThere(finish_reason)
  })
}

/**
 * Tests one cut. The SDK must return the chunks before the cut, and must throw if they are not the complete answer. The
 * charge must match.
 */
async function expectHonestEnd(client: OpenAI, recording: RecordingCase, bytes: number, ending: Ending): Promise<void> {
  rig.answer(cutAt(recording, bytes, ending))
  const body: JsonObject = { ...requestOf(recording), stream_options: { include_usage: true } }
  const choices = typeof body['n'] === 'number' ? body['n'] : 1
  const { chunks, isComplete } = prefixOf(recording, bytes, choices)
  const before = await rig.logCount()
  const call = () =>
    (recording.api === 'chat'
      ? client.chat.completions.create(body as unknown as OpenAI.ChatCompletionCreateParamsStreaming)
      : client.completions.create(body as unknown as OpenAI.CompletionCreateParamsStreaming)) as Promise<
      AsyncIterable<unknown>
    >
  const got = await collected(call)
  const where = `${recording.id} cut at ${bytes} by ${ending}`
  // When a connection breaks, data that had arrived but had not been read yet can be lost. In that case the SDK must
  // throw.
  const begun = chunks.some(saysSomething) ? chunks : []
  const read = recording.api === 'chat' ? numberedCalls(begun.map(asRead)) : begun
  const expected = ending === 'fin' && got.error ? read.slice(0, got.value.length) : read
  expect([where, got.value]).toEqual([where, expected])
  if (!isComplete || got.value.length < chunks.length) expect([where, got.error?.name]).not.toEqual([where, undefined])
  else if (ending === 'end') expect([where, got.error]).toEqual([where, undefined])
  const charged = (await rig.logCount()) - before
  if (got.error?.status !== undefined) {
    // The call failed before its first byte, so it got an ordinary error response and no charge.
    expect([where, got.value, charged]).toEqual([where, [], 0])
    return
  }
  expect([where, got.error, charged]).toEqual([where, got.error, 1])
  if (!got.error) return
  const row = await rig.lastLog()
  expect([where, row.outcome]).toEqual([where, 'interrupted'])
  const sent = got.value as JsonObject[]
  const responseText = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
  const counted = countTokens(deliveredText(sent), { disallowedSpecial: new Set() })
  if (recordedUsage({ ...recording, responseText })) {
    // Some services report usage during the stream. The gateway charges this usage unless it is less than the delivered
    // tokens.
    expect([where, row.completion_tokens >= counted * 0.7 - 2]).toEqual([where, true])
    return
  }
  expect([where, Boolean(row.estimated)]).toEqual([where, true])
  expect([where, row.prompt_tokens > 0, row.quota]).toEqual([
    where,
    true,
    plainCharge(row.prompt_tokens, row.completion_tokens),
  ])
  // Long texts are counted in pieces, and older models use a different vocabulary, so small differences are allowed.
  const difference = Math.abs(row.completion_tokens - counted)
  expect([where, difference <= 2 + counted * 0.1, counted, row.completion_tokens]).toEqual([
    where,
    true,
    counted,
    row.completion_tokens,
  ])
}

describe('recorded streams that are cut', () => {
  for (const recording of streams) {
    test(recording.id, { timeout: 120_000 }, async () => {
      const client = await rig.through()
      const ends: Ending[] = ['end', 'fin']
      for (const [index, bytes] of [0, ...sampled(boundaries(recording).slice(0, -1))].entries())
        await expectHonestEnd(client, recording, bytes, ends[index % 2] ?? 'end')
      for (const [index, bytes] of inside(recording, 5).entries())
        await expectHonestEnd(client, recording, bytes, ends[index % 2] ?? 'end')
    })
  }
})
