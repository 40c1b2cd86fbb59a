import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { type RecordingCase, recordingsAvailable } from '../helpers/recordings.ts'
import { runsAll } from '../helpers/sweeps.ts'
import { isWholeStream, openaiCases, recordedEvents, recordedModels, requestOf, setupOf } from './support/cases.ts'
import { withNumberedCalls } from './support/numbered-calls.ts'
import { outcomeOf } from './support/outcome.ts'
import { type Rig, recorded, startRelayRig } from './support/rig.ts'

type StreamParams = Parameters<OpenAI['chat']['completions']['stream']>[0]

const chats = openaiCases('chat', { status: 'ok' })
const streams = chats.filter(
  (one) => one.kind === 'sse' && isWholeStream(recordedEvents(one), one.responseText.includes('[DONE]')),
)
/** Recordings whose request sets a JSON schema for the answer. */
const structured = chats.filter((one) => schemaOf(one) !== undefined)

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig(recordedModels(chats))
})
afterAll(() => rig[Symbol.asyncDispose]())

function schemaOf({ requestJson }: RecordingCase): { name: string; schema: JsonObject } | undefined {
  const format = isObject(requestJson) ? requestJson['response_format'] : undefined
  const named = isObject(format) && format['type'] === 'json_schema' ? format['json_schema'] : undefined
  if (!isObject(named) || !isObject(named['schema'])) return undefined
  return { name: String(named['name'] ?? 'answer'), schema: { additionalProperties: false, ...named['schema'] } }
}

/** Every event of the SDK's stream helper with its content, and the completion that the helper assembles. */
async function helped(client: OpenAI, body: JsonObject): Promise<unknown> {
  const stream = client.chat.completions.stream(body as unknown as StreamParams)
  const events: [name: string, carried: unknown][] = []
  const names = [
    ...(['connect', 'chunk', 'content', 'content.delta', 'content.done', 'refusal.delta', 'refusal.done'] as const),
    ...(['tool_calls.function.arguments.delta', 'tool_calls.function.arguments.done', 'message'] as const),
    ...(['logprobs.content.delta', 'logprobs.content.done', 'finalContent', 'finalMessage', 'totalUsage'] as const),
    ...(['functionToolCall', 'finalFunctionToolCall', 'chatCompletion', 'finalChatCompletion', 'end'] as const),
  ]
  for (const name of names) {
    stream.on(name, (carried?: unknown) => {
      // The snapshot in an event only repeats the previous events, so it is not compared.
      const { snapshot: _whole, ...rest } = isObject(carried) ? carried : { value: carried }
      events.push([name, JSON.parse(JSON.stringify(rest))])
    })
  }
  const outcome = await outcomeOf(() => stream.finalChatCompletion())
  return { outcome, events }
}

describe.skipIf(!recordingsAvailable)('recorded streams through the stream helper (skipped without recordings)', () => {
  for (const recording of streams) {
    test(recording.id, async () => {
      const body: JsonObject = { ...requestOf(recording), stream_options: { include_usage: true } }
      delete body['response_format']
      const client = await rig.through(setupOf(recording))
      rig.answer(recorded(withNumberedCalls(recording)))
      const direct = await helped(rig.direct, body)
      rig.answer(recorded(recording))
      expect(await helped(client, body)).toEqual(direct)
    })
  }
})

describe.skipIf(!recordingsAvailable)('recorded structured outputs through parse (skipped without recordings)', () => {
  for (const recording of structured) {
    test(recording.id, async () => {
      rig.answer(recorded(recording))
      const { name, schema } = schemaOf(recording) ?? { name: '', schema: {} }
      const body: JsonObject = { ...requestOf(recording) }
      body['response_format'] = zodResponseFormat(z.fromJSONSchema(schema), name)
      // The SDK's `parse` accepts only strict tools, which another helper creates. So this test removes the tools.
      delete body['tools']
      delete body['tool_choice']
      const run = (client: OpenAI) =>
        outcomeOf(() =>
          recording.kind === 'sse'
            ? client.chat.completions.stream(body as unknown as StreamParams).finalChatCompletion()
            : client.chat.completions.parse(body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming),
        )
      const direct = await run(rig.direct)
      const through = await run(await rig.through(setupOf(recording)))
      if (!body['stream_options'] && isObject(direct.value)) delete (direct.value as JsonObject)['usage']
      if (!body['stream_options'] && isObject(through.value)) delete (through.value as JsonObject)['usage']
      expect(through).toEqual(direct)
    })
  }
  test.skipIf(!runsAll)('some of the answers are parsed (skipped if only a tenth of the recordings is run)', () =>
    expect(structured.length).toBeGreaterThan(5),
  )
})
