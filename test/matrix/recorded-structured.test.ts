// Recorded answers with a JSON schema, parsed by the AI SDK in a dialect other than the recorded one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateText, jsonSchema, Output, streamText } from 'ai'
import { isObject, type JsonObject, tryParse } from '../../server/lib/json.ts'
import { type RecordingCase, recordingsAvailable } from '../helpers/recordings.ts'
import { callerNames } from './support/callers.ts'
import { casesOf, formats, mappedModels, readRecorded, replayed } from './support/recorded.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'
import { vercelModels } from './support/vercel.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(mappedModels)
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Where the requests of each dialect contain the schema of the answer. */
const places = [
  ['response_format', 'json_schema', 'schema'],
  ['text', 'format', 'schema'],
  ['output_config', 'format', 'schema'],
  ['output_format', 'schema'],
  ['generationConfig', 'responseJsonSchema'],
  ['generationConfig', 'responseSchema'],
  ['generation_config', 'response_schema'],
]

function schemaOf({ requestJson }: RecordingCase): JsonObject | undefined {
  const at = (path: readonly string[]) =>
    path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), requestJson)
  return places.map(at).find(isObject)
}

describe.skipIf(!recordingsAvailable)('recorded answers with a schema (skipped without recordings)', () => {
  for (const [formatNumber, format] of formats.entries()) {
    for (const [number, recording] of casesOf(format, { status: 'ok' }).entries()) {
      const schema = schemaOf(recording)
      const recorded = schema && readRecorded(format, recording)
      const said = tryParse(recorded?.text ?? '')
      // Some answers end in a tool call or in a refusal.
      if (!schema || !recorded || !isObject(said) || recorded.calls.length > 0) continue
      const others = callerNames.filter((name) => name !== format.name)
      const to = others[(number + formatNumber) % others.length] ?? 'openai-chat'
      test(`${recording.id} is parsed in ${to}`, async () => {
        rig.answer(replayed(recording))
        const options = {
          model: vercelModels(rig.gateway.url, await rig.token(format.setup(recording)), model)[to],
          prompt: 'What is this? '.repeat(1 + Math.ceil((recorded.usage?.prompt ?? 0) / 40)),
          output: Output.object({ schema: jsonSchema(schema) }),
          maxRetries: 0,
        }
        const result = recording.kind === 'json' ? await generateText(options) : streamText(options)
        expect(await result.output).toEqual(said)
        // Every property name of the schema was sent to the upstream.
        const sent = Buffer.from(rig.upstream.last.body).toString()
        const properties = isObject(schema['properties']) ? Object.keys(schema['properties']) : []
        expect(properties.filter((name) => !sent.includes(name))).toEqual([])
      })
    }
  }
})
