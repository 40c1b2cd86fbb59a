// A response with status 200 that is not an answer of a model, for example an error message of an upstream gateway. It
// must never be treated as an empty answer.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { startWired, type Wired } from './service.ts'

setDefaultTimeout(120_000)

let wired: Wired
beforeAll(async () => {
  wired = await startWired()
})
afterAll(() => wired[Symbol.asyncDispose]())

/** Channel types, each with a model and any other fields that the channel needs. */
const types: [label: string, type: number, model: string, fields?: object][] = [
  ['Anthropic', 14, 'claude-sonnet-4-5'],
  ['Gemini', 24, 'gemini-2.5-flash'],
  ['the Responses API', 1, 'gpt-5-pro'],
  ['Converse', 33, 'amazon.nova-pro-v1:0', { key: 'api-key|us-east-1' }],
  ['Cohere', 35, 'command-a-03-2025'],
  ['Ollama', 30, 'llama3'],
  ['DashScope', 17, 'qwen-max'],
  ['Coze', 34, 'bot-1'],
  ['Replicate', 46, 'meta/llama'],
  ['ERNIE', 15, 'ERNIE-4.0-8K', { key: 'bce-v3/key' }],
  ['PaLM', 11, 'PaLM-2'],
  ['DeepL', 38, 'deepl-de'],
  ['Zhipu’s third format', 16, 'chatglm_pro', { key: 'id.secret' }],
  ['AI Proxy’s libraries', 21, 'library', { config: '{"library_id":"a"}' }],
]

const used = async () => (await wired.rig.gateway.logs()).length

describe.each(types)('%s', (_label, type, model, fields) => {
  for (const stream of [false, true]) {
    test(`that returns something that is not an answer causes an error and no charge${stream ? ', also if a stream was requested' : ''}`, async () => {
      await wired.channel(type, model, fields)
      const before = await used()
      wired.service.answer = () => Response.json({ ok: true })
      const answer = await wired.chat({ stream })
      expect([500, 502]).toContain(answer.status)
      expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) } })
      wired.service.answer = () => Response.json({ code: 401, msg: 'no such key' })
      const refused = await wired.chat({ stream })
      expect(refused.status).toBeGreaterThanOrEqual(400)
      expect(await used()).toBe(before)
    })
  }
})

test('an upstream gateway’s own message also reaches callers who use the channel’s dialect', async () => {
  await wired.channel(14, 'claude-sonnet-4-5')
  wired.service.answer = () => Response.json({ code: 422, msg: 'no such thing' })
  const answer = await wired.post('/v1/messages', {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({
    type: 'error',
    error: { type: 'invalid_request_error', message: 'no such thing' },
  })
})
