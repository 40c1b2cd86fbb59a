import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import type { RecordingCase } from '../helpers/recordings.ts'
import { callerNames, callers } from './support/callers.ts'
import type { End, Learned, Recorded } from './support/learned.ts'
import { casesOf, type Format, formats, mappedModels, readRecorded, replayed } from './support/recorded.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(mappedModels)
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Tags of recordings whose answer is an error or is incomplete. */
const failing = ['error_in_200', 'midstream_error', 'truncated_stream']

/** The closest value that each dialect has for a finish reason that it lacks. */
const nearest: Readonly<Record<CallerDialect, Partial<Record<End, End>>>> = {
  'openai-chat': { 'stop-sequence': 'stop', pause: 'length', refusal: 'stop' },
  'openai-responses': { 'stop-sequence': 'stop', pause: 'length' },
  'anthropic-messages': { 'content-filter': 'refusal' },
  gemini: { 'stop-sequence': 'stop', pause: 'length', refusal: 'content-filter' },
}

/** What a client of a dialect can receive from an answer. */
function expected(recorded: Recorded, learned: Learned, to: CallerDialect): Learned {
  const { text, spoken, thought, calls, end, usage } = recorded
  const hasWordForCalls = to === 'openai-chat' || to === 'anthropic-messages'
  return {
    text: to === 'gemini' || to === 'openai-chat' ? text : text + spoken,
    thought,
    calls: calls.map((call, at) => ({ ...call, id: idFor(to, call.id) ?? learned.calls[at]?.id })),
    end: end === 'stop' && calls.length > 0 && !hasWordForCalls ? 'tool-calls' : (nearest[to][end] ?? end),
    usage: usage ?? learned.usage,
  }
}

/** Anthropic's ids allow only these characters. An id with other characters is encoded in a valid id. */
function idFor(to: CallerDialect, id: string | undefined): string | undefined {
  if (id === undefined || to !== 'anthropic-messages' || /^[\w-]+$/.test(id)) return id
  return `tgid_${Buffer.from(id).toString('base64url')}`
}

async function expectSame(format: Format, recording: RecordingCase, recorded: Recorded, to: CallerDialect) {
  rig.answer(replayed(recording))
  const clients = await rig.through(format.setup(recording))
  const text = 'What is this? '.repeat(1 + Math.ceil((recorded.usage?.prompt ?? 0) / 40))
  const tools = [...new Set(recorded.calls.map(({ name }) => name))]
  const stream = recording.kind !== 'json'
  const learned = await callers[to](clients, { model, text, stream, ...(tools.length > 0 && { tools }) })
  expect({ to, ...learned }).toEqual({ to, ...expected(recorded, learned, to) })
  const { quota, estimated, outcome, content } = await rig.lastLog()
  expect({ quota, estimated: Boolean(estimated), outcome, content }).toEqual({
    quota: recorded.quota ?? quota,
    estimated: recorded.quota === undefined,
    outcome: 'complete',
    content,
  })
}

for (const format of formats) {
  describe(`recorded answers of ${format.name} can be read by every SDK`, () => {
    for (const recording of casesOf(format, { status: 'ok', without: failing })) {
      const recorded = readRecorded(format, recording)
      if (!recorded) continue
      test(recording.id, { timeout: 120_000 }, async () => {
        const faults: string[] = []
        for (const to of callerNames.filter((name) => name !== format.name))
          await expectSame(format, recording, recorded, to).catch((fault: Error) =>
            faults.push(`${to}: ${fault.message}`),
          )
        expect(faults.join('\n\n')).toBe('')
      })
    }
  })
}
