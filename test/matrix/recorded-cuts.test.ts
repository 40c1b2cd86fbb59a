import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { behaviour } from '../helpers/fake-upstream.ts'
import type { RecordingCase } from '../helpers/recordings.ts'
import { callerNames, callers } from './support/callers.ts'
import { failureIn } from './support/failures.ts'
import { givingTokens } from './support/fakes/index.ts'
import { casesOf, type Format, formats, mappedModels, readRecorded } from './support/recorded.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(mappedModels)
})
afterAll(() => rig[Symbol.asyncDispose]())

/**
 * The maximum number of cuts per recording. In long recordings the cuts are spread evenly and always include the last
 * events.
 */
const mostCuts = 8

/** The end marker of each format. A cut after this marker loses nothing. */
const endMarks: Readonly<Record<string, RegExp>> = {
  'openai-chat': /"finish_reason":\s*"[^"]|data: ?\[DONE\]/g,
  'openai-responses': /"type":\s*"response\.(?:completed|incomplete)"/g,
  'anthropic-messages': /"type":\s*"message_stop"/g,
  gemini: /"finishReason"/g,
  ernie: /"is_end":\s*true/g,
  hunyuan: /"FinishReason":\s*"[^"]/g,
  dashscope: /"finish_reason":\s*"(?!null)/g,
}

/** The offsets after each event, up to the event that ends the answer. */
function boundaries(recording: RecordingCase, endMark: RegExp): number[] {
  const text = Buffer.from(recording.response.body).toString('latin1')
  const end = text.search(new RegExp(endMark.source))
  const all = [...text.matchAll(/\r\n\r\n|\n\n|\r\r/g)].map(({ index, 0: mark }) => index + mark.length)
  const before = all.filter((at) => end < 0 || at <= end)
  if (before.length <= mostCuts) return [0, ...before]
  const step = (before.length - 2) / (mostCuts - 2)
  const spread = Array.from({ length: mostCuts - 2 }, (_, at) => before[Math.floor(at * step)] ?? 0)
  return [0, ...new Set([...spread, ...before.slice(-2)])]
}

function cutAt(recording: RecordingCase, bytes: number, ending: 'end' | 'fin') {
  return behaviour(`cut at ${bytes} by ${ending}`, async (exchange) => {
    exchange.head(200, [['content-type', recording.response.headers['content-type'] ?? 'text/event-stream']])
    if (bytes > 0) await exchange.write(recording.response.body.subarray(0, bytes))
    if (ending === 'end') exchange.end()
    else exchange.fin()
  })
}

async function expectHonestEnd(format: Format, recording: RecordingCase, bytes: number, turn: number): Promise<void> {
  // `turn` selects the caller's dialect and how the stream ends, so that all combinations are tested across the
  // recordings.
  const to = callerNames[turn % callerNames.length] ?? 'openai-chat'
  const ending = turn % 2 === 0 ? 'end' : 'fin'
  rig.answer(givingTokens(cutAt(recording, bytes, ending)))
  const clients = await rig.through(format.setup(recording))
  const before = await rig.logCount()
  const names = readRecorded(format, recording)?.calls.map(({ name }) => name) ?? []
  const tools = names.length > 0 ? { tools: [...new Set(names)] } : {}
  const text = 'What is this? '.repeat(1000)
  const outcome = await callers[to](clients, { model, text, stream: true, ...tools }).then(
    (learned): unknown => ({ whole: learned }),
    failureIn,
  )
  const where = `${recording.id} cut at ${bytes} by ${ending} for ${to}`
  expect([where, outcome]).toEqual([where, expect.objectContaining({ message: expect.any(String) })])
  const { message, status } = outcome as ReturnType<typeof failureIn>
  expect([where, message]).toEqual([where, expect.stringMatching(honest)])
  // The SDK must recognise the event as an error.
  expect([where, message]).toEqual([where, expect.not.stringContaining('Unhandled')])
  const charged = (await rig.logCount()) - before
  // A failure before the first byte gets an ordinary error response and is not charged.
  expect([where, charged]).toEqual([where, status === undefined || charged > 0 ? 1 : 0])
  if (charged > 0) expect([where, (await rig.lastLog()).outcome]).toEqual([where, 'interrupted'])
}

/**
 * Matches what the gateway reports for an answer that broke off, and what an SDK reports for a stream without an end.
 */
const honest =
  /before it was complete|interrupted|was lost|empty stream|connection|ended without|without a reason|request ended|missing finish_reason|closed/i

for (const format of formats) {
  describe(`recorded streams of ${format.name} cut between events end with an error in every SDK`, () => {
    const streams = casesOf(format, { kind: 'sse', status: 'ok', without: ['midstream_error', 'error_in_200'] })
    for (const [number, recording] of streams.entries()) {
      const endMark = endMarks[format.name]
      if (!endMark) throw new Error(`no end mark of ${format.name} is known`)
      test(recording.id, { timeout: 120_000 }, async () => {
        for (const [index, bytes] of boundaries(recording, endMark).entries())
          await expectHonestEnd(format, recording, bytes, number + index)
      })
    }
  })
}
