// Recorded frames of a service that responds only over WebSocket, read by the SDKs of every dialect.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isObject } from '../../server/lib/json.ts'
import {
  listCases,
  loadCase,
  type RecordingCase,
  recordingsAvailable,
  startWebSocketReplay,
} from '../helpers/recordings.ts'
import { callerNames, callers } from './support/callers.ts'
import { failureIn } from './support/failures.ts'
import { readSpark } from './support/read-china.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'

const served = 'Spark-4.0-Ultra'
const recordings = listCases({ api: 'spark-ws' }).map(loadCase)
const isError = ({ features }: RecordingCase) => features.includes('error')
const framesOf = ({ responseText }: RecordingCase) => responseText.split('\n').filter((line) => line.trim() !== '')

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig([served])
})
afterAll(() => rig[Symbol.asyncDispose]())

async function clientsOf(base: string) {
  const model_mapping = JSON.stringify({ [model]: served })
  return rig.through({ type: 18, key: 'app|secret|key', base, model_mapping })
}

describe.skipIf(!recordingsAvailable)('recorded frames of Spark (skipped without recordings)', () => {
  for (const recording of recordings.filter((each) => !isError(each))) {
    const recorded = readSpark.stream(framesOf(recording))
    const tools = [...new Set(recorded.calls.map(({ name }) => name))]
    for (const to of callerNames) {
      test(`${recording.id} is read in ${to}, streamed and not`, async () => {
        const upstream = startWebSocketReplay(recording)
        try {
          for (const stream of [false, true]) {
            const asked = { model, text: 'What is this? '.repeat(100), stream, ...(tools.length > 0 && { tools }) }
            const learned = await callers[to](await clientsOf(upstream.url), asked)
            const calls = recorded.calls.map((call, at) => ({ ...call, id: learned.calls[at]?.id }))
            const { text, thought, end } = recorded
            const { quota, outcome, prompt_tokens: prompt, completion_tokens: completion } = await rig.lastLog()
            // If the service reports zero tokens, the gateway ignores this, counts the tokens itself, and reports the
            // charged usage at the end of a stream.
            const isBelieved = recorded.usage !== undefined && recorded.usage.completion > 0
            const usage =
              isBelieved || !stream || !recorded.usage ? recorded.usage : { ...recorded.usage, prompt, completion }
            expect(learned).toEqual({ text, thought, calls, end, usage })
            const believed = isBelieved ? recorded.quota : undefined
            expect([quota, outcome]).toEqual([believed ?? quota, 'complete'])
          }
        } finally {
          await upstream.close()
        }
      })
    }
  }

  for (const recording of recordings.filter(isError)) {
    const header: unknown = (JSON.parse(framesOf(recording).at(-1) ?? '{}') as Record<string, unknown>)['header']
    const message = isObject(header) ? String(header['message']) : ''
    for (const to of callerNames) {
      test(`${recording.id} is reported to ${to} as an error`, async () => {
        const upstream = startWebSocketReplay(recording)
        try {
          const clients = await clientsOf(upstream.url)
          const failure = await callers[to](clients, { model, text: 'Hello', stream: true }).then(
            () => undefined,
            failureIn,
          )
          // What a service reports about the operator's account is not shown to callers.
          const told = message.includes('NoAuth') ? 'its operator has to fix this' : message
          expect(failure?.message).toContain(told)
          expect(failure?.status).toBeGreaterThanOrEqual(400)
        } finally {
          await upstream.close()
        }
      })
    }
  }
})
