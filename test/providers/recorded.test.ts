// Recorded answers of services with their own formats, read by the official SDKs of every dialect.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { type Behaviour, behaviour } from '../helpers/fake-upstream.ts'
import {
  listCases,
  loadCase,
  type RecordingCase,
  type RecordingFilter,
  replay,
  sseData,
} from '../helpers/recordings.ts'
import { callerNames, callers } from '../matrix/support/callers.ts'
import type { End, Learned, Recorded, WireReader } from '../matrix/support/learned.ts'
import { readGemini } from '../matrix/support/read-gemini.ts'
import { readMessages } from '../matrix/support/read-messages.ts'
import { model, type Rig, type Setup, startMatrixRig } from '../matrix/support/rig.ts'
import { plainCharge } from '../sdk/support/prices.ts'
import { readCohere, readConverse, readInvokedClaude, readOllama } from './read-own.ts'

setDefaultTimeout(120_000)

interface Own {
  name: string
  setup: Setup
  cases: RecordingFilter
  read(recording: RecordingCase): Recorded
  /** The dialects of the callers. Default: all. */
  by?: readonly CallerDialect[]
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = JSON.stringify({
  client_email: 'robot@example.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  token_uri: 'https://oauth2.googleapis.com/token',
})
const claude = 'claude-3-7-sonnet@20250219'
const asClaude = JSON.stringify({ [model]: claude })
const vertex = { type: 42, key: `us-east5|p|${account}` }
const bedrock = { type: 33, key: 'A|S|us-east-1' }

const readBy =
  (reader: WireReader) =>
  (recording: RecordingCase): Recorded =>
    recording.kind === 'json' ? reader.whole(recording.responseJson as JsonObject) : reader.stream(sseData(recording))

const formats: readonly Own[] = [
  { name: 'Converse', setup: bedrock, cases: { provider: 'bedrock', api: 'converse' }, read: readConverse },
  {
    name: 'Claude on Bedrock',
    setup: { ...bedrock, model_mapping: asClaude },
    cases: { provider: 'bedrock', api: 'invoke', model: /claude-(?:3|opus|haiku|sonnet)/ },
    read: readInvokedClaude,
    by: ['anthropic-messages'],
  },
  {
    name: 'Cohere',
    setup: { type: 35, key: 'k' },
    cases: { provider: 'cohere', api: 'cohere-chat' },
    read: readCohere,
  },
  {
    name: 'Ollama',
    setup: { type: 30, key: 'k' },
    cases: { provider: 'ollama', api: 'ollama-chat' },
    read: readOllama,
  },
  { name: 'Vertex', setup: vertex, cases: { provider: 'vertex', api: 'generateContent' }, read: readBy(readGemini) },
  {
    name: 'Claude on Vertex',
    setup: { ...vertex, model_mapping: asClaude },
    cases: { provider: 'vertex', api: 'messages' },
    read: readBy(readMessages),
  },
]

/** Issues a token if the request is for one, and otherwise sends the given response. */
const tokenOr = (answer: Behaviour) =>
  behaviour(`token or ${answer.name}`, async (exchange) => {
    if (!exchange.request.path.endsWith('/token')) return answer.run(exchange)
    exchange.head(200, [['content-type', 'application/json']])
    await exchange.write(JSON.stringify({ access_token: 't', expires_in: 3600 }))
    exchange.end()
  })

/** The end marker of each format. */
const endMark = /messageStop|message-end|"done": ?true|bWVzc2FnZV9zdG9w|message_stop|"finishReason"/
const cuts = 8

function cutAt(recording: RecordingCase, bytes: number): Behaviour {
  return behaviour(`cut at ${bytes}`, async (exchange) => {
    exchange.head(200, [['content-type', recording.response.headers['content-type'] ?? 'text/event-stream']])
    if (bytes > 0) await exchange.write(recording.response.body.subarray(0, bytes))
    exchange.end()
  })
}

/** The closest value that each dialect has for a finish reason that it lacks. */
const nearest: Readonly<Record<CallerDialect, Partial<Record<End, End>>>> = {
  'openai-chat': { 'stop-sequence': 'stop' },
  'openai-responses': { 'stop-sequence': 'stop' },
  'anthropic-messages': { 'content-filter': 'refusal', other: 'stop' },
  gemini: { 'stop-sequence': 'stop' },
}

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig([claude])
})
afterAll(() => rig[Symbol.asyncDispose]())

async function learnedBy(format: Own, recording: RecordingCase, to: CallerDialect, tools: string[]): Promise<Learned> {
  rig.answer(tokenOr(replay(recording, 13)))
  const clients = await rig.through(format.setup)
  // The prompt is long enough to make the recording's token counts plausible.
  const text = 'What is this? '.repeat(1000)
  const stream = recording.kind !== 'json'
  return callers[to](clients, { model, text, stream, ...(tools.length > 0 && { tools }) })
}

for (const format of formats) {
  const all = listCases(format.cases).map(loadCase)
  describe(`recorded answers of ${format.name}`, () => {
    for (const recording of all.filter(({ status }) => status === 200)) {
      const recorded = format.read(recording)
      const tools = [...new Set(recorded.calls.map(({ name }) => name))]
      for (const to of format.by ?? callerNames) {
        test(`${recording.id} is read in ${to}`, async () => {
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
          const row = await rig.lastLog()
          expect(row.outcome).toBe('complete')
          if (!usage) return
          expect([row.prompt_tokens, row.completion_tokens]).toEqual([usage.prompt, usage.completion])
          const isPlain =
            usage.cached === 0 && !/cacheWrite\w*":\s*[1-9]|image_tokens":\s*[1-9]/.test(recording.responseText)
          const plain = isPlain ? plainCharge(usage.prompt, usage.completion) : row.quota
          expect(row.quota).toBe(recorded.quota ?? plain)
        })
      }
    }

    for (const recording of all.filter(({ status, kind }) => status === 200 && kind !== 'json')) {
      test(`${recording.id} is reported as an error if it is cut off before its end`, async () => {
        const { body } = recording.response
        const end = Buffer.from(body).toString('latin1').search(endMark)
        expect(end).toBeGreaterThan(0)
        const by = format.by ?? callerNames
        for (let cut = 0; cut < cuts; cut++) {
          const bytes = Math.floor((end * cut) / (cuts - 1))
          rig.answer(tokenOr(cutAt(recording, bytes)))
          const clients = await rig.through(format.setup)
          const to = by[cut % by.length] ?? 'openai-chat'
          const text = 'What is this? '.repeat(1000)
          const learned = await callers[to](clients, { model, text, stream: true }).catch(() => 'told as broken off')
          expect([to, bytes, learned]).toEqual([to, bytes, 'told as broken off'])
        }
      })
    }

    for (const recording of all.filter(({ status }) => status >= 400)) {
      test(`${recording.id} keeps its status`, async () => {
        for (const to of format.by ?? callerNames) {
          const fault = await learnedBy(format, recording, to, []).then(
            () => undefined,
            (error: { status?: number; message?: string }) => error,
          )
          // Callers get status 503 for errors about the account.
          const status = [401, 402, 403].includes(recording.status) ? 503 : recording.status
          expect([to, fault?.status]).toEqual([to, status])
        }
      })
    }
  })
}
