// Recorded answers of services with formats of their own, learned by the official SDKs of every dialect.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import {
  listCases,
  loadCase,
  type RecordingCase,
  type RecordingFilter,
  recordingsAvailable,
  replay,
} from '../helpers/recordings.ts'
import { type Bench, model, startMatrixBench } from '../matrix/support/bench.ts'
import { callerNames, callers } from '../matrix/support/callers.ts'
import type { End, Learned } from '../matrix/support/learned.ts'
import { plainCharge } from '../sdk/support/prices.ts'
import { readCohere, readConverse, readOllama } from './read-own.ts'

interface Own {
  name: string
  type: number
  key: string
  cases: RecordingFilter
  read(recording: RecordingCase): Learned
}

const formats: readonly Own[] = [
  {
    name: 'Converse',
    type: 33,
    key: 'A|S|us-east-1',
    cases: { provider: 'bedrock', api: 'converse' },
    read: readConverse,
  },
  { name: 'Cohere', type: 35, key: 'k', cases: { provider: 'cohere', api: 'cohere-chat' }, read: readCohere },
  { name: 'Ollama', type: 30, key: 'k', cases: { provider: 'ollama', api: 'ollama-chat' }, read: readOllama },
]

/** The nearest word that each dialect has for an end it has no word for. */
const nearest: Readonly<Record<CallerDialect, Partial<Record<End, End>>>> = {
  'openai-chat': { 'stop-sequence': 'stop' },
  'openai-responses': { 'stop-sequence': 'stop' },
  'anthropic-messages': { 'content-filter': 'refusal', other: 'stop' },
  gemini: { 'stop-sequence': 'stop' },
}

let bench: Bench
beforeAll(async () => {
  bench = await startMatrixBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

async function learnedBy(format: Own, recording: RecordingCase, to: CallerDialect, tools: string[]): Promise<Learned> {
  bench.answer(replay(recording, 13))
  const clients = await bench.through({ type: format.type, key: format.key })
  // Long enough for the counts of the recording to be believed.
  const text = 'What is this? '.repeat(1000)
  const stream = recording.kind !== 'json'
  return callers[to](clients, { model, text, stream, ...(tools.length > 0 && { tools }) })
}

for (const format of formats) {
  const all = listCases(format.cases).map(loadCase)
  describe.skipIf(!recordingsAvailable)(`recorded answers of ${format.name} (skipped without recordings)`, () => {
    for (const recording of all.filter(({ status }) => status === 200)) {
      const recorded = format.read(recording)
      const tools = [...new Set(recorded.calls.map(({ name }) => name))]
      for (const to of callerNames) {
        test(`${recording.id} by ${to}`, async () => {
          const learned = await learnedBy(format, recording, to, tools)
          const hasWordForCalls = to === 'openai-chat' || to === 'anthropic-messages'
          const end =
            recorded.calls.length > 0 && !hasWordForCalls ? 'tool-calls' : (nearest[to][recorded.end] ?? recorded.end)
          const { text, thought, calls, usage } = recorded
          expect({ ...learned, usage: undefined, end: recorded.end === 'other' ? end : learned.end }).toEqual({
            text,
            thought,
            calls: calls.map((call, at) => ({ ...call, id: call.id ?? learned.calls[at]?.id })),
            end,
            usage: undefined,
          })
          const row = await bench.lastLog()
          expect(row.outcome).toBe('complete')
          if (!usage) return
          expect([row.prompt_tokens, row.completion_tokens]).toEqual([usage.prompt, usage.completion])
          const isPlain =
            usage.cached === 0 && !/cacheWrite\w*":\s*[1-9]|image_tokens":\s*[1-9]/.test(recording.responseText)
          if (isPlain) expect(row.quota).toBe(plainCharge(usage.prompt, usage.completion))
        })
      }
    }

    for (const recording of all.filter(({ status }) => status >= 400)) {
      test(`${recording.id} keeps its status`, async () => {
        for (const to of callerNames) {
          const fault = await learnedBy(format, recording, to, []).then(
            () => undefined,
            (error: { status?: number; message?: string }) => error,
          )
          expect([to, fault?.status]).toEqual([to, recording.status])
        }
      })
    }
  })
}
