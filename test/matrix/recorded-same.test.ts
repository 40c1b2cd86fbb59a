import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { type RecordingCase, replay } from '../helpers/recordings.ts'
import { collected, outcomeOf } from '../sdk/support/outcome.ts'
import type { Clients } from './support/callers.ts'
import { googleParams } from './support/google-params.ts'
import { casesOf, formats } from './support/recorded.ts'
import { type Rig, startMatrixRig } from './support/rig.ts'

// Tests for OpenAI's chat dialect are in test/sdk.
const names = ['openai-responses', 'anthropic-messages', 'gemini'] as const
type Name = Exclude<CallerDialect, 'openai-chat'>

const hello: Readonly<Record<Name, JsonObject>> = {
  'openai-responses': { input: 'Hello' },
  'anthropic-messages': { max_tokens: 1000, messages: [{ role: 'user', content: 'Hello' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
}

/** The recorded request, or one that could have led to the recorded answer if no request was recorded. */
function requestOf({ requestJson, kind }: RecordingCase, name: Name): JsonObject {
  const body: JsonObject = { ...(isObject(requestJson) ? requestJson : hello[name]), model }
  delete body['stream']
  // Only requests to the URLs of Azure and Vertex contain this field.
  delete body['anthropic_version']
  if (name === 'gemini') return googleParams(body)
  // If the request contains the id of an earlier answer, the gateway sends it unchanged, because the token is bound to
  // the channel of the service that stores the answer.
  return kind === 'json' ? body : { ...body, stream: true }
}

const model = 'any-model'

/** Makes the call with the official SDK. */
function call(clients: Clients, name: Name, body: JsonObject, stream: boolean): Promise<unknown> {
  const { openai, anthropic, google } = clients
  if (name === 'openai-responses') return openai.responses.create(body as never)
  if (name === 'anthropic-messages') return anthropic.messages.create(body as never)
  return stream ? google.models.generateContentStream(body as never) : google.models.generateContent(body as never)
}

/** The client's final result, without details of the connection. */
async function outcomeBy(clients: Clients, name: Name, body: JsonObject, stream: boolean): Promise<unknown> {
  const open = () => call(clients, name, body, stream)
  const { value, error } = stream
    ? await collected(open as () => Promise<AsyncIterable<unknown>>)
    : await outcomeOf(open)
  const message = error?.message.replace(/ \(request id: [\w-]+\)|"request_id":"[\w-]+"/, '')
  return { value: withoutConnection(value), error: error && { ...error, message } }
}

function withoutConnection(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(withoutConnection)
  if (!isObject(value)) return value
  const { sdkHttpResponse: _response, _request_id: _id, ...rest } = value
  return rest
}

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig()
  // One of the recordings uses an image tool, which has no price here.
  await rig.gateway.setOption('UnpricedModelPolicy', 'fallback')
})
afterAll(() => rig[Symbol.asyncDispose]())

for (const name of names) {
  const format = formats.find((each) => each.name === name)
  if (!format) throw new Error(`no recordings of ${name}`)
  const setup = name === 'openai-responses' ? { type: 1 } : undefined
  describe(`recorded answers of ${name} are the same through the gateway as without it`, () => {
    for (const recording of casesOf(format, { status: 'ok', without: ['truncated_stream'] })) {
      // No SDK requests Google's response in the form of an array.
      if (Array.isArray(recording.responseJson)) continue
      test(recording.id, async () => {
        rig.answer(replay(recording))
        const body = requestOf(recording, name)
        const stream = recording.kind !== 'json'
        const direct = await outcomeBy(rig.direct, name, body, stream)
        const sent = rig.upstream.last
        const clients = await rig.through(setup ?? format.setup(recording))
        expect(await outcomeBy(clients, name, body, stream)).toEqual(direct)
        expect(rig.upstream.last.fields).toEqual(sent.fields)
        // The channel sets its own version of Google's API: v1beta even if the client uses v1.
        expect(rig.upstream.last.target.replace('/v1beta/', '/v1/')).toBe(sent.target)
      })
    }
  })
}
