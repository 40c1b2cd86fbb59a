// Recorded requests, with everything that real clients put into them, are sent to services of every other format. Each
// request is served, or refused before it is sent, with a message that gives the reason.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import type { RecordingCase } from '../helpers/recordings.ts'
import { callerNames } from './support/callers.ts'
import { fakeOf, says } from './support/fakes/index.ts'
import { scenarios } from './support/features.ts'
import { casesOf, formats, mappedModels } from './support/recorded.ts'
import { model, type Rig, type Setup, startMatrixRig } from './support/rig.ts'

/** Services by format, each with a channel. Each model is served under the name of the service's most capable model. */
const services: readonly { provider: string; dialect: string; setup: Setup; served: string }[] = [
  { provider: 'custom', dialect: 'openai-chat', setup: { type: 8 }, served: 'gpt-5.1' },
  { provider: 'openai', dialect: 'openai-responses', setup: { type: 1 }, served: 'gpt-5-pro' },
  { provider: 'anthropic', dialect: 'anthropic-messages', setup: { type: 14 }, served: 'claude-sonnet-4-6' },
  { provider: 'gemini', dialect: 'gemini', setup: { type: 24 }, served: 'gemini-3-flash-preview' },
  {
    provider: 'bedrock',
    dialect: 'bedrock-converse',
    setup: { type: 33, key: 'api-key|us-east-1' },
    served: 'us.amazon.nova-2-lite-v1:0',
  },
  { provider: 'cohere', dialect: 'cohere-chat', setup: { type: 35 }, served: 'command-a-plus-05-2026' },
  { provider: 'ollama', dialect: 'ollama-chat', setup: { type: 30 }, served: 'qwen3-vl' },
  { provider: 'ali', dialect: 'dashscope', setup: { type: 17 }, served: 'qwen3-vl-plus' },
  { provider: 'tencent', dialect: 'hunyuan', setup: { type: 23, key: '1|id|secret' }, served: 'hunyuan-vision' },
  { provider: 'baidu', dialect: 'ernie', setup: { type: 15, key: 'id|secret' }, served: 'ERNIE-4.0-8K' },
]

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig([...mappedModels, ...services.map(({ served }) => served)])
})
afterAll(() => rig[Symbol.asyncDispose]())

const paths: Readonly<Record<CallerDialect, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  'anthropic-messages': '/v1/messages',
  gemini: `/v1beta/models/${model}:generateContent`,
}

async function send(from: CallerDialect, body: JsonObject, setup: Setup, served: string): Promise<Response> {
  const token = await rig.token({ ...setup, model_mapping: JSON.stringify({ [model]: served }) })
  return rig.gateway.post(paths[from], from === 'gemini' ? body : { ...body, model }, token)
}

for (const from of callerNames) {
  const format = formats.find(({ name }) => name === from)
  const asked = (format ? casesOf(format, {}) : []).filter(({ requestJson }) => isObject(requestJson))
  describe(`recorded requests of ${from}`, () => {
    for (const { provider, dialect, setup, served } of services.filter((each) => each.dialect !== from)) {
      test(`reach a service that uses ${dialect}, or are refused with a reason`, { timeout: 60_000 }, async () => {
        const fake = fakeOf(provider, dialect)
        rig.answer(says(fake, scenarios.plain.said))
        const outcomes = new Map<string, number>()
        for (const recording of asked) {
          const sent = rig.upstream.requests.length
          const response = await send(from, requestOf(recording), setup, served)
          const answer = await response.text()
          const where = { id: recording.id, status: response.status, answer: response.ok ? '' : answer }
          outcomes.set(String(response.status), (outcomes.get(String(response.status)) ?? 0) + 1)
          if (response.ok) {
            expect([recording.id, answer]).toEqual([recording.id, expect.stringContaining(scenarios.plain.said.text)])
            continue
          }
          expect(where).toEqual({ ...where, status: 400 })
          expect([recording.id, rig.upstream.requests.length]).toEqual([recording.id, sent])
        }
        expect(outcomes.get('200') ?? 0).toBeGreaterThan(asked.length / 2)
      })
    }
  })
}

function requestOf({ requestJson }: RecordingCase): JsonObject {
  const { stream: _stream, stream_options: _options, ...body } = requestJson as JsonObject
  return body
}
