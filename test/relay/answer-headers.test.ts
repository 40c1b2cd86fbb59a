// Every kind of relayed response contains its request id and may be read by other sites' pages; no header occurs twice.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answerByPath } from '../helpers/fake-upstream.ts'
import { type Caller, chat, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
let plain: Caller
let limited: Caller

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.channel({ models: 'm,text-embedding-3-small,tts-1,whisper-1' })
  rig.upstream.always(answerByPath())
  plain = await rig.caller()
  limited = await rig.caller(undefined, { token: { rpm_limit: 1000 } })
})
afterAll(() => rig[Symbol.asyncDispose]())

const messages = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
const contents = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const embed = { content: { parts: [{ text: 'hi' }] } }
const upload = (responseFormat: string) => {
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('response_format', responseFormat)
  form.set('file', new File([new Uint8Array(2000)], 'a.mp3'))
  return form
}

const calls: readonly (readonly [name: string, path: string, body: () => unknown, status: number])[] = [
  ['chat', '/v1/chat/completions', () => chat, 200],
  ['a streamed chat', '/v1/chat/completions', () => ({ ...chat, stream: true }), 200],
  ['a response', '/v1/responses', () => ({ model: 'm', input: 'hi' }), 200],
  ['a streamed response', '/v1/responses', () => ({ model: 'm', input: 'hi', stream: true }), 200],
  ['a message', '/v1/messages', () => messages, 200],
  ['a streamed message', '/v1/messages', () => ({ ...messages, stream: true }), 200],
  ['a token count', '/v1/messages/count_tokens', () => messages, 200],
  ['generated content', '/v1beta/models/m:generateContent', () => contents, 200],
  ['generated content as events', '/v1beta/models/m:streamGenerateContent?alt=sse', () => contents, 200],
  ['generated content as an array', '/v1beta/models/m:streamGenerateContent', () => contents, 200],
  ['an embedding in Google’s format', '/v1beta/models/text-embedding-3-small:embedContent', () => embed, 200],
  ['embeddings', '/v1/embeddings', () => ({ model: 'text-embedding-3-small', input: 'hi' }), 200],
  ['embeddings at an engine path', '/v1/engines/text-embedding-3-small/embeddings', () => ({ input: 'hi' }), 200],
  ['speech', '/v1/audio/speech', () => ({ model: 'tts-1', input: 'hi', voice: 'alloy' }), 200],
  ['a transcript', '/v1/audio/transcriptions', () => upload('json'), 200],
  ['a plain-text transcript', '/v1/audio/transcriptions', () => upload('text'), 200],
  ['a refusal in OpenAI’s format', '/v1/chat/completions', () => ({ ...chat, model: 'none' }), 503],
  ['a refusal in Anthropic’s format', '/v1/messages', () => ({ ...messages, model: 'none' }), 503],
  ['a refusal in Google’s format', '/v1beta/models/none:generateContent', () => contents, 503],
]

describe('response headers for a caller', () => {
  for (const [kind, callerOf] of [
    ['without limits', () => plain],
    ['with limits', () => limited],
  ] as const)
    for (const [name, path, body, status] of calls)
      test(`${kind}: ${name}`, async () => {
        const sent = body()
        const form = sent instanceof FormData
        const response = fetch(rig.gateway.url + path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${callerOf().token}`,
            origin: 'https://app.example',
            ...(!form && { 'content-type': 'application/json' }),
          },
          body: form ? sent : JSON.stringify(sent),
        })
        const seen = await see(response)
        expect(seen.status).toBe(status)
        expect(seen.headers.get('x-oneapi-request-id')).toMatch(/^\d{31}$/)
        expect(seen.headers.get('access-control-allow-origin')).toBe('*')
        const exposed = (seen.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/,\s*/)
        expect(exposed).toContain('x-oneapi-request-id')
        expect(exposed).toContain('x-tollgate-dropped')
        if (kind === 'with limits') expect(exposed).toContain('x-ratelimit-remaining-requests')
        expect(new Set(exposed).size).toBe(exposed.length)
      })
})
