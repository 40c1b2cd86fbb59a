import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { isObject } from '../../server/lib/json.ts'
import { isAboutAccount, isTooLong, unavailable } from '../helpers/recorded-failures.ts'
import type { RecordingCase } from '../helpers/recordings.ts'
import { openaiCases, recordedModels, requestOf, setupOf } from './support/cases.ts'
import { outcomeOf } from './support/outcome.ts'
import { type Rig, recorded, startRelayRig } from './support/rig.ts'

const apis = ['chat', 'completions', 'embeddings', 'images', 'images-edit', 'moderations', 'speech', 'transcriptions']
const failed = apis.flatMap((api) => openaiCases(api, { status: 'error' }))
/** Errors that were sent with status 200. */
const hidden = openaiCases('chat', { status: 'ok', kind: 'json' }).filter(
  ({ responseJson }) => isObject(responseJson) && !Array.isArray(responseJson['choices']),
)

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig(recordedModels([...failed, ...hidden]))
})
afterAll(() => rig[Symbol.asyncDispose]())

function call(client: OpenAI, recording: RecordingCase): Promise<unknown> {
  const body = requestOf(recording)
  const path = { embeddings: '/embeddings', images: '/images/generations', 'images-edit': '/images/edits' }[
    recording.api
  ]
  if (path !== undefined) return client.post(path, { body })
  if (recording.api === 'completions') return client.post('/completions', { body })
  return client.chat.completions.create(body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming)
}

/** The upstream's error message, in whatever field it is. */
function upstreamMessage({ responseJson }: RecordingCase): string {
  const body = Array.isArray(responseJson) ? responseJson[0] : responseJson
  if (!isObject(body)) return 'bad response status code'
  const error = body['error']
  const found = [isObject(error) ? error['message'] : error, body['message'], body['msg'], body['detail']]
  return found.find((text): text is string => typeof text === 'string') ?? 'bad response status code'
}

describe('recorded errors through the SDK', () => {
  for (const recording of failed) {
    test(recording.id, async () => {
      rig.answer(recorded(recording))
      const client = await rig.through(setupOf(recording))
      const charged = await rig.logCount()
      const { error: direct } = await outcomeOf(() => call(rig.direct, recording))
      const { error: through } = await outcomeOf(() => call(client, recording))
      expect(await rig.logCount()).toBe(charged)
      if (isAboutAccount(recording)) {
        expect(through).toMatchObject({ name: 'InternalServerError', status: 503, code: 'upstream_unavailable' })
        expect(through?.message).toContain(unavailable)
        return
      }
      expect(through).toMatchObject({ name: direct?.name, status: direct?.status })
      if (isTooLong(recording)) {
        expect(through?.code).toBe('context_length_exceeded')
        expect(through?.message).toContain('maximum context length')
        return
      }
      expect(through?.message).toContain(upstreamMessage(recording))
      expect(through?.message).toMatch(/\(request id: [\w-]+\)$/)
      expect(through?.retryAfter ?? null).toBe(direct?.retryAfter ?? null)
      const body = recording.responseJson
      if (isObject(body) && isObject(body['error'])) {
        const told = { code: direct?.code, type: direct?.type, param: direct?.param }
        expect([through?.code ?? null, through?.param ?? null]).toEqual([told.code ?? null, told.param ?? null])
        // OpenAI's errors always have a type. If the upstream's error has none, the gateway sets the type
        // `upstream_error`.
        expect(through?.type).toEqual(told.type === undefined ? 'upstream_error' : told.type)
      } else {
        // The error is not in OpenAI's format, so the gateway sets its type and code.
        expect(through).toMatchObject({ type: 'upstream_error', code: 'bad_response_status_code' })
      }
    })
  }

  for (const recording of hidden) {
    test(`${recording.id}: an error with status 200 is reported as an error`, async () => {
      rig.answer(recorded(recording))
      const client = await rig.through(setupOf(recording))
      const charged = await rig.logCount()
      const { error } = await outcomeOf(() => call(client, recording))
      expect(error?.name).toBe('InternalServerError')
      expect(error?.message).toContain(upstreamMessage(recording))
      expect(await rig.logCount()).toBe(charged)
    })
  }
})
