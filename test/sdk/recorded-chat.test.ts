import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import type { RecordingCase } from '../helpers/recordings.ts'
import {
  isWholeStream,
  openaiCases,
  recordedEvents,
  recordedModels,
  recordedUsage,
  requestOf,
  setupOf,
} from './support/cases.ts'
import { withNumberedCalls } from './support/numbered-calls.ts'
import { collected, type Outcome, outcomeOf } from './support/outcome.ts'
import { expectedCharge, plainCharge } from './support/prices.ts'
import { type Rig, recorded, startRelayRig } from './support/rig.ts'

type Plain = OpenAI.ChatCompletionCreateParamsNonStreaming

const all = [...openaiCases('chat', { status: 'ok' }), ...openaiCases('completions', { status: 'ok' })]
const wholeOnes = all.filter(
  ({ kind, responseJson }) => kind === 'json' && isObject(responseJson) && Array.isArray(responseJson['choices']),
)
const streams = all.filter(({ kind }) => kind === 'sse')

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig(recordedModels(all))
})
afterAll(() => rig[Symbol.asyncDispose]())

const create = (client: OpenAI, recording: RecordingCase, body: JsonObject): Promise<unknown> =>
  recording.api === 'chat'
    ? client.chat.completions.create(body as unknown as Plain)
    : client.completions.create(body as unknown as OpenAI.CompletionCreateParamsNonStreaming)

/**
 * The log row must show the recorded usage and its price. If there is no usage, it must show the gateway's count and be
 * marked as estimated.
 */
async function expectCharge(recording: RecordingCase, outcome = 'complete'): Promise<void> {
  const row = await rig.lastLog()
  const usage = recordedUsage(recording)
  if (!usage) {
    expect([Boolean(row.estimated), row.outcome]).toEqual([true, 'complete'])
    expect(row.prompt_tokens).toBeGreaterThan(0)
    expect(row.quota).toBe(plainCharge(row.prompt_tokens, row.completion_tokens))
    return
  }
  const { prompt, completion, cached, reasoning, quota } = expectedCharge(usage)
  expect({
    content: row.content,
    prompt: row.prompt_tokens,
    completion: row.completion_tokens,
    cached: row.cached_tokens,
    reasoning: row.reasoning_tokens,
    quota: row.quota,
    estimated: Boolean(row.estimated),
    outcome: row.outcome,
  }).toEqual({ content: row.content, prompt, completion, cached, reasoning, quota, estimated: false, outcome })
}

/**
 * The recorded path. If the service's path has no API version, one is added, because channels of these types always
 * send one.
 */
function expectedTarget({ provider, api, request }: RecordingCase): string {
  const version = request.query['api-version']
  if (provider === 'azure' && request.path.includes('/deployments/'))
    return `${request.path.replace('//', '/')}?api-version=${version ?? '2023-06-01-preview'}`
  if (/\/v\d/.test(request.path)) return request.path
  const task = api === 'chat' ? '/chat/completions' : '/completions'
  return `${request.path.slice(0, -task.length)}/v1${task}`
}

describe('recorded answers that are not streamed, through the SDK', () => {
  for (const recording of wholeOnes) {
    test(recording.id, async () => {
      rig.answer(recorded(recording))
      const body = requestOf(recording)
      const client = await rig.through(setupOf(recording))
      const direct = await outcomeOf(() => create(rig.direct, recording, body))
      const through = await outcomeOf(() => create(client, recording, body))
      expect(through).toEqual(direct)
      expect(rig.upstream.last.target).toBe(expectedTarget(recording))
      await expectCharge(recording)
    })
  }
})

/**
 * The chunks that the gateway's caller gets. The event with only usage is withheld if the caller did not request it.
 */
function expectedChunks(direct: Outcome, body: JsonObject): unknown {
  const asked = isObject(body['stream_options']) && body['stream_options']['include_usage'] === true
  const isUsageOnly = (chunk: unknown) =>
    isObject(chunk) && Array.isArray(chunk['choices']) && chunk['choices'].length === 0 && isObject(chunk['usage'])
  return asked ? direct.value : (direct.value as unknown[]).filter((chunk) => !isUsageOnly(chunk))
}

describe('recorded streams through the SDK', () => {
  for (const recording of streams) {
    test(recording.id, async () => {
      const body = requestOf(recording)
      const client = await rig.through(setupOf(recording))
      const open = (sdk: OpenAI) => () => create(sdk, recording, body) as unknown as Promise<AsyncIterable<unknown>>
      rig.answer(recorded(withNumberedCalls(recording)))
      const direct = await collected(open(rig.direct))
      rig.answer(recorded(recording))
      const through = await collected(open(client))
      expect(through.value).toEqual(expectedChunks(direct, body) as unknown[])
      const whole = isWholeStream(recordedEvents(recording), recording.responseText.includes('[DONE]'))
      if (!whole) {
        expect(through.error).toMatchObject({ name: 'APIError', code: 'upstream_stream_incomplete' })
        return
      }
      expect(through.error).toEqual(direct.error)
      await expectCharge(recording, direct.error ? 'interrupted' : 'complete')
    })
  }
})
