// Responses to callers never contain a part of a channel's key. They contain a request id in the header that the
// caller's library reads.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { chat, chatStream, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
const key = 'sk-proj-Zq81LmW3vRx0TnB7cYd5HsK2fGjA9eUo4PiX6'

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: '{"m":1,"text-embedding-004":1}' } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0', AutomaticDisableChannelEnabled: 'false' }))

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const calls = {
  chat: ['/v1/chat/completions', chat, 'x-request-id'],
  responses: ['/v1/responses', { model: 'm', input: 'Hi' }, 'x-request-id'],
  messages: ['/v1/messages', { ...chat, max_tokens: 10 }, 'request-id'],
  gemini: ['/v1beta/models/m:generateContent', { contents }, 'x-request-id'],
} as const

test('neither errors nor headers contain a part of the channel’s key or of its base64 form', async () => {
  await rig.channel({ key })
  const echoes = [key.slice(0, 20), Buffer.from(key).toString('base64'), Buffer.from(`:${key}`).toString('base64url')]
  for (const echo of echoes) {
    const message = `The request with ${echo} failed.`
    for (const [path, body] of Object.values(calls)) {
      rig.upstream.always(fake.status(400, { message, headers: [['x-request-id', echo]] }))
      const seen = await see(rig.gateway.post(path, body))
      expect(seen.status).toBe(400)
      // The base64 form may keep up to four characters in front of the removed key. They contain at most a few bits of
      // the key.
      expect(seen.text).toMatch(/The request with \S{0,4}\[key\]/)
      expect(seen.text + JSON.stringify([...seen.headers])).not.toContain(echo.slice(0, 16))
    }
    for (const body of [chat, chatStream]) {
      rig.upstream.always(fake.withHeaders([['openai-model', echo]], fake.ok()))
      const seen = await see(rig.gateway.post('/v1/chat/completions', body))
      expect([seen.status, seen.headers.get('openai-model')?.includes('[key]')]).toEqual([200, true])
    }
  }
})

test('every response has a request id in the header that the caller’s library reads', async () => {
  await rig.channel({ type: 28 })
  for (const reply of [fake.ok(), fake.status(500), fake.status(401)]) {
    rig.upstream.always(reply)
    for (const [path, body, name] of Object.values(calls)) {
      const seen = await see(rig.gateway.post(path, body))
      // If the service sent an id of its own, that id is kept.
      const own = [seen.headers.get('x-oneapi-request-id'), ...(seen.status === 200 ? ['req_fake'] : [])]
      expect(own).toContain(seen.headers.get(name))
    }
  }
  const list = await see(
    fetch(`${rig.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${rig.gateway.token}` } }),
  )
  expect(list.headers.get('x-request-id')).toBe(list.headers.get('x-oneapi-request-id'))
})

test('529 is a status that only Anthropic uses, so callers of other dialects get 503', async () => {
  await rig.channel()
  rig.upstream.always(fake.status(529))
  for (const [name, [path, body]] of Object.entries(calls)) {
    const seen = await see(rig.gateway.post(path, body))
    expect([name, seen.status]).toEqual([name, name === 'messages' ? 529 : 503])
    if (name === 'gemini') expect(JSON.parse(seen.text)).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } })
  }
})

test('embeddings from a Gemini channel contain usage, although the service reports none', async () => {
  await rig.channel({ type: 24, models: 'text-embedding-004' })
  rig.upstream.always(
    fake.behaviour('embeds', async (exchange) => {
      exchange.head(200, [['content-type', 'application/json']])
      await exchange.write('{"embeddings":[{"values":[1,2]}]}')
      exchange.end()
    }),
  )
  const seen = await see(rig.gateway.post('/v1/embeddings', { model: 'text-embedding-004', input: 'One two three' }))
  const { usage } = JSON.parse(seen.text) as { usage: { prompt_tokens: number; total_tokens: number } }
  expect(usage.prompt_tokens).toBeGreaterThan(0)
  expect(usage.total_tokens).toBe(usage.prompt_tokens)
})
