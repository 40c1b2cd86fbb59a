import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { type RecordingCase, recordingsAvailable } from '../helpers/recordings.ts'
import { allOpenaiCases, openaiCases, recordedModels, recordedUsage, requestOf, setupOf } from './support/cases.ts'
import { collected, outcomeOf } from './support/outcome.ts'
import { expectedCharge, imageCharge, plainCharge, soundCharge } from './support/prices.ts'
import { type Rig, recorded, startRelayRig } from './support/rig.ts'

const ok = { status: 'ok' } as const
const embeddings = openaiCases('embeddings', ok)
const images = openaiCases('images', ok)
const edits = openaiCases('images-edit', ok)
const moderations = openaiCases('moderations', ok)
const speeches = openaiCases('speech', ok)
const transcriptions = openaiCases('transcriptions', ok)
const all = [embeddings, images, edits, moderations, speeches, transcriptions].flat()

const speechModel = 'tts-1'
const editModel = 'gpt-image-1'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig([...recordedModels(all), speechModel, editModel, 'whisper-1'])
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Makes the same call to the upstream and through the gateway, and checks that both return or throw the same. */
async function expectSame(recording: RecordingCase, call: (client: OpenAI) => Promise<unknown>): Promise<void> {
  rig.answer(recorded(recording))
  const client = await rig.through(setupOf(recording))
  const direct = await outcomeOf(() => call(rig.direct))
  expect(direct.error).toBeUndefined()
  expect(await outcomeOf(() => call(client))).toEqual(direct)
}

async function expectTokens(usage: JsonObject): Promise<void> {
  const { prompt, completion, quota } = expectedCharge(usage)
  const { prompt_tokens, completion_tokens, quota: charged, estimated } = await rig.lastLog()
  expect([prompt_tokens, completion_tokens, charged, Boolean(estimated)]).toEqual([prompt, completion, quota, false])
}

describe.skipIf(!recordingsAvailable)('recorded embeddings (skipped without recordings)', () => {
  for (const recording of embeddings) {
    test(recording.id, async () => {
      const data = (recording.responseJson as { data: { embedding: unknown }[] }).data
      const body: JsonObject = { ...requestOf(recording) }
      // Without the field, the SDK requests base64 and decodes it, which is correct only if base64 was recorded.
      if (Array.isArray(data[0]?.embedding)) body['encoding_format'] = 'float'
      await expectSame(recording, (client) => client.embeddings.create(body as unknown as OpenAI.EmbeddingCreateParams))
      const usage = recordedUsage(recording) ?? {}
      await expectTokens({ ...usage, prompt_tokens: usage['prompt_tokens'] ?? usage['total_tokens'] })
    })
  }
})

describe.skipIf(!recordingsAvailable)('recorded images (skipped without recordings)', () => {
  for (const recording of images) {
    test(recording.id, async () => {
      const body = requestOf(recording) as unknown as OpenAI.ImageGenerateParamsNonStreaming
      await expectSame(recording, (client) => client.images.generate(body))
      expect((await rig.lastLog()).quota).toBe(imageCharge(body.n ?? 1))
    })
  }
  for (const recording of edits) {
    test(recording.id, async () => {
      if (recording.requestJson) {
        // The SDK's own method supports only multipart forms. Services that accept JSON are called by path.
        const body = requestOf(recording)
        await expectSame(recording, (client) => client.post('/images/edits', { body }))
        expect(rig.upstream.last.json).toEqual(body)
        expect((await rig.lastLog()).quota).toBe(imageCharge(1))
        return
      }
      const image = await toFile(Buffer.from('not really a picture'), 'a.png', { type: 'image/png' })
      await expectSame(recording, (client) => client.images.edit({ model: editModel, image, prompt: 'greener' }))
      const row = await rig.lastLog()
      expect(row.quota).toBeGreaterThan(0)
      expect(Boolean(row.estimated)).toBe(true)
    })
  }
})

describe.skipIf(!recordingsAvailable)('recorded moderations (skipped without recordings)', () => {
  for (const recording of moderations) {
    test(recording.id, async () => {
      const body = requestOf(recording) as unknown as OpenAI.ModerationCreateParams
      await expectSame(recording, (client) => client.moderations.create(body))
      const row = await rig.lastLog()
      expect([row.quota, row.completion_tokens]).toEqual([plainCharge(row.prompt_tokens, 0), 0])
      expect(row.prompt_tokens).toBeGreaterThan(0)
    })
  }
})

/** Audio and plain text that the source stored as JSON, with the content type that such a response has. */
function withType(recording: RecordingCase, type: string): RecordingCase {
  const { response, kind } = recording
  if (kind === 'json' || !String(response.headers['content-type'] ?? '').includes('json')) return recording
  return { ...recording, response: { ...response, headers: { ...response.headers, 'content-type': type } } }
}

describe.skipIf(!recordingsAvailable)('recorded speech (skipped without recordings)', () => {
  for (const recording of speeches) {
    test(recording.id, async () => {
      const asked = isObject(recording.requestJson)
        ? requestOf(recording)
        : { model: speechModel, input: 'Good morning!' }
      const body = { voice: 'alloy', ...asked } as unknown as OpenAI.Audio.SpeechCreateParams
      await expectSame(withType(recording, 'audio/mpeg'), async (client) => {
        const response = await client.audio.speech.create(body)
        return [response.headers.get('content-type'), Buffer.from(await response.arrayBuffer()).toString('base64')]
      })
      expect((await rig.lastLog()).quota).toBeGreaterThan(0)
    })
  }
})

/** The fields of the recorded form, or plausible fields if there is none. */
async function formOf(recording: RecordingCase): Promise<OpenAI.Audio.TranscriptionCreateParams> {
  const { request, kind, responseText } = recording
  const form = request.body && (await new Response(request.body, { headers: { ...request.headers } }).formData())
  if (form) return Object.fromEntries(form.entries()) as unknown as OpenAI.Audio.TranscriptionCreateParams
  const format = kind !== 'text' ? 'verbose_json' : responseText.startsWith('WEBVTT') ? 'vtt' : 'text'
  const file = await toFile(Buffer.alloc(4000), 'speech.wav')
  return { model: recording.model ?? 'whisper-1', file, response_format: format }
}

describe.skipIf(!recordingsAvailable)('recorded transcriptions (skipped without recordings)', () => {
  for (const recording of transcriptions) {
    test(recording.id, async () => {
      const body = (await formOf(recording)) as OpenAI.Audio.TranscriptionCreateParamsNonStreaming
      if (recording.kind === 'sse') {
        rig.answer(recorded(recording))
        const client = await rig.through(setupOf(recording))
        const open = (sdk: OpenAI) => () =>
          sdk.audio.transcriptions.create({ ...body, stream: true }) as unknown as Promise<AsyncIterable<unknown>>
        const direct = await collected(open(rig.direct))
        expect(await collected(open(client))).toEqual(direct)
      } else {
        await expectSame(withType(recording, 'text/plain'), (client) => client.audio.transcriptions.create(body))
      }
      const usage = [recordedUsage(recording), recording.responseJson].find(isObject)
      const row = await rig.lastLog()
      const seconds = usage?.['seconds'] ?? usage?.['duration'] ?? usage?.['prompt_audio_seconds']
      if (typeof seconds === 'number') expect(row.quota).toBe(soundCharge(seconds))
      else if (recordedUsage(recording)) await expectTokens(recordedUsage(recording) ?? {})
      else expect([row.quota > 0, Boolean(row.estimated)]).toEqual([true, true])
    })
  }
})

describe.skipIf(!recordingsAvailable)('recorded model lists (skipped without recordings)', () => {
  test('if a channel has the models of the recorded lists, the gateway lists each of them and returns it by its name', async () => {
    const listed = allOpenaiCases('models', ok)
      .filter(({ responseJson }) => isObject(responseJson) && Array.isArray(responseJson['data']))
      .flatMap(({ responseJson }) => (responseJson as { data: { id: string }[] }).data.map(({ id }) => id))
    const ids = [...new Set(listed)]
    expect(ids.length).toBeGreaterThan(50)
    await rig.gateway.addChannel({ type: 8, base_url: rig.upstream.url, models: ids.join(',') })
    const client = new OpenAI({ apiKey: rig.gateway.token, baseURL: `${rig.gateway.url}/v1`, maxRetries: 0 })
    const found = new Map<string, OpenAI.Model>()
    for await (const model of client.models.list()) found.set(model.id, model)
    expect(ids.filter((id) => !found.has(id))).toEqual([])
    for (const id of ids.slice(0, 20)) {
      const model = await client.models.retrieve(id)
      expect(model).toMatchObject({ id, object: 'model' })
      expect(model).toEqual(found.get(id) as OpenAI.Model)
    }
  })
})
