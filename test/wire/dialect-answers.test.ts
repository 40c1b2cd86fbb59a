// Every call in the dialects of Anthropic, Google and OpenAI's Responses API responds as documented, both on success
// and on failure.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { dialectPaths, dialectReads } from '../../contract/relay-paths.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { resetsBeforeHeaders } from '../helpers/fake-upstream.ts'
import { operationsOf, promisedBy } from './document.ts'
import { type Person, startWireGate, type WireGate } from './gate.ts'
import { addressOf, bodyOf } from './relay-bodies.ts'

// Complete gateways and real password hashes are slow on a busy machine.
setDefaultTimeout(120_000)

const document = openApiDocument('0')
const promised = promisedBy(document)
const paths = new Set<string>([...dialectPaths.map(({ path }) => path), ...dialectReads])
const calls = operationsOf(document)
  // The upgrade to a WebSocket has tests of its own.
  .filter(({ path, method }) => paths.has(path) && !(method === 'get' && path === '/v1/responses'))
  .map((each) => ({ ...each, name: each.operation.operationId }))
const posts = calls.filter(({ method }) => method === 'post')

let gate: WireGate
let user: Person
beforeAll(async () => {
  gate = await startWireGate()
  user = await gate.person('user')
})
afterAll(() => gate[Symbol.asyncDispose]())

const send = ({ path, method, operation }: (typeof calls)[number], token = user.relayToken, body?: unknown) =>
  gate.call(method, addressOf(path), {
    as: { relayToken: token },
    ...(method === 'post' && {
      body: body ?? bodyOf(path, operation),
      headers: { 'content-type': 'application/json' },
    }),
  })

test('every path of these dialects is in the OpenAPI document', () => {
  expect(calls.length).toBe(paths.size)
})

test('every call succeeds as documented', async () => {
  for (const call of calls) {
    const response = await send(call)
    expect([call.name, response.status]).toEqual([call.name, 200])
    await promised.check(call.name, response)
  }
})

test('401, 400 and 403: an unknown token, invalid JSON, an unknown channel', async () => {
  for (const call of calls) {
    const response = await send(call, 'sk-nobody')
    expect([call.name, response.status]).toEqual([call.name, 401])
    await promised.check(call.name, response)
  }
  for (const call of posts) {
    const response = await send(call, user.relayToken, '{')
    expect([call.name, response.status]).toEqual([call.name, 400])
    await promised.check(call.name, response)
    const chosen = await send(call, `${user.relayToken}-1`)
    expect([call.name, chosen.status]).toEqual([call.name, 403])
    await promised.check(call.name, chosen)
  }
})

test('502: the upstream breaks off', async () => {
  for (const call of posts) {
    // If the service does not count tokens, the gateway counts them itself, so such a call does not fail.
    if (/count/i.test(call.path)) continue
    gate.upstream.next(resetsBeforeHeaders(), resetsBeforeHeaders())
    const response = await send(call)
    expect([call.name, response.status]).toEqual([call.name, 502])
    await promised.check(call.name, response)
    gate.upstream.clear()
  }
})

test('the token is accepted in every form that the clients of a service use', async () => {
  const [messages, gemini] = [
    { url: '/v1/messages', body: { model: 'gpt-4o', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] } },
    { url: '/v1beta/models/gpt-4o:generateContent', body: { contents: [{ parts: [{ text: 'hi' }] }] } },
  ]
  const ask = (path: string, body: object, headers: Record<string, string>) =>
    fetch(gate.gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const token = user.relayToken
  for (const [url, body, headers] of [
    [messages?.url, messages?.body, { 'x-api-key': token }],
    [messages?.url, messages?.body, { authorization: `Bearer ${token}` }],
    [gemini?.url, gemini?.body, { 'x-goog-api-key': token }],
    [`${gemini?.url}?key=${token}`, gemini?.body, {}],
    [gemini?.url, gemini?.body, { authorization: `Bearer ${token}` }],
  ] as const) {
    const response = await ask(url ?? '', body ?? {}, headers as Record<string, string>)
    expect([url, Object.keys(headers), response.status]).toEqual([url, Object.keys(headers), 200])
  }
})
