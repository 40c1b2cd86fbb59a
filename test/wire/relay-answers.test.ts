// Every call of the relay responds as documented: with success in each format, and with each error that the document
// promises.
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { enginePath, relayPaths, relayReads } from '../../contract/relay-paths.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { answerByPath, neverAnswers, resetsBeforeHeaders, status } from '../helpers/fake-upstream.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { operationsOf, promisedBy } from './document.ts'
import { type Person, startWireGate, type WireGate } from './gate.ts'
import { addressOf, bodyOf } from './relay-bodies.ts'

// Complete gateways and real password hashes are slow on a busy machine.
setDefaultTimeout(120_000)

const document = openApiDocument('0')
/** The paths whose errors have a code. The other paths are tested in dialect-answers.test.ts. */
const openaiPaths = new Set<string>([...relayPaths.map(({ path }) => path), enginePath, ...relayReads])
const promised = promisedBy(document)
const calls = operationsOf(document)
  .filter(({ path }) => openaiPaths.has(path))
  .map((each) => ({ ...each, name: each.operation.operationId }))
const posts = calls.filter(({ method }) => method === 'post')
/** The calls for which the document promises this status. */
const having = (code: number) => calls.filter(({ operation }) => operation.responses[code] !== undefined)

const names = (some: typeof calls) => some.map(({ name }) => name)

let gate: WireGate
let user: Person
const send = (
  { path, method, operation }: (typeof calls)[number],
  options: {
    fields?: object
    body?: unknown
    token?: string | undefined
    model?: string
    headers?: Record<string, string>
  } = {},
) =>
  gate.call(method, addressOf(path, options.model), {
    as: { relayToken: 'token' in options ? (options.token ?? '') : user.relayToken },
    ...(method === 'post' && { body: options.body ?? bodyOf(path, operation, options.fields) }),
    ...(options.headers && { headers: options.headers }),
  })

async function expectError(
  call: (typeof calls)[number],
  response: Response,
  code: number,
  word: string,
): Promise<void> {
  expect([call.name, response.status]).toEqual([call.name, code])
  const body = await promised.check(call.name, response)
  expect([call.name, (body as { error: { code: string } }).error.code]).toEqual([call.name, word])
  const described = call.operation.responses[code]
  expect([call.name, described && 'description' in described ? described.description : '']).toEqual([
    call.name,
    expect.stringContaining(`\`${word}\``),
  ])
}

beforeAll(async () => {
  gate = await startWireGate()
  user = await gate.person('user')
})
beforeEach(() => gate.upstream.always(answerByPath()))
afterAll(() => gate[Symbol.asyncDispose]())

test('200: every call succeeds', async () => {
  for (const call of calls) {
    const response = await send(call)
    expect([call.name, response.status]).toEqual([call.name, 200])
    await promised.check(call.name, response)
  }
})

test('200: the other promised formats (events, audio, plain text)', async () => {
  for (const call of posts.filter(({ path }) => path.endsWith('/completions'))) {
    const response = await send(call, { fields: { stream: true } })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(await promised.check(call.name, response)).toEndWith('data: [DONE]\n\n')
  }
  for (const call of posts.filter(({ path }) => /transcriptions|translations/.test(path))) {
    const response = await send(call, { fields: { response_format: 'text' } })
    expect(response.headers.get('content-type')).toStartWith('text/plain')
    await promised.check(call.name, response)
  }
})

test('401: no token, and an unknown token', async () => {
  expect(names(having(401))).toEqual(names(calls))
  for (const call of calls) {
    await expectError(call, await send(call, { token: undefined }), 401, 'invalid_token')
    await expectError(call, await send(call, { token: 'sk-nobody' }), 401, 'invalid_token')
  }
})

test('403: the owner of the token is banned', async () => {
  const banned = await gate.person('banned')
  expect(names(having(403))).toEqual(names(calls))
  for (const call of calls) await expectError(call, await send(call, { token: banned.relayToken }), 403, 'user_banned')
})

test('400: an unknown channel, and a body that is not JSON or not a form', async () => {
  const root = await gate.person('root')
  expect(names(having(400))).toEqual(names(calls))
  for (const call of calls) {
    const token = `${root.relayToken}-999999`
    await expectError(call, await send(call, { token }), 400, 'invalid_channel_id')
  }
  for (const call of posts) {
    const word = typeOf(call) === formType ? 'invalid_multipart' : 'invalid_json'
    await expectError(call, await send(call, { body: '{', headers: typeOf(call) }), 400, word)
  }
})

test('404: a model that does not exist', async () => {
  expect(having(404).map(({ path }) => path)).toEqual(['/v1/models/{model}'])
  for (const call of having(404))
    await expectError(call, await send(call, { model: 'no/such' }), 404, 'model_not_found')
})

const formType = { 'content-type': 'multipart/form-data; boundary=x' }
const jsonType = { 'content-type': 'application/json' }
const typeOf = ({ operation }: (typeof calls)[number]) =>
  operation.requestBody?.content['multipart/form-data'] ? formType : jsonType

test('413 and 415: a body that is too large, a body with an unsupported compression, a body that should be a form', async () => {
  const body = `{"a": "${'a'.repeat(3000)}"}`
  await gate.gateway.setOption('RequestSizeLimit', '2048')
  expect(names(having(413))).toEqual(names(posts))
  for (const call of posts) {
    await expectError(call, await send(call, { body, headers: typeOf(call) }), 413, 'request_too_large')
  }
  await gate.gateway.setOption('RequestSizeLimit', String(32 * 1024 * 1024))
  expect(names(having(415))).toEqual(names(posts))
  for (const call of posts) {
    const headers = { ...typeOf(call), 'content-encoding': 'compress' }
    await expectError(call, await send(call, { body: 'x', headers }), 415, 'unsupported_media_type')
    if (typeOf(call) === jsonType) continue
    const text = { 'content-type': 'text/plain' }
    await expectError(call, await send(call, { body: 'x', headers: text }), 415, 'unsupported_media_type')
  }
})

test('408: a body that never ends', async () => {
  const { gateway } = gate
  await gateway.setOption('RequestSizeLimit', '2048')
  await gateway.setOption('CallerIdleTimeout', '0.5')
  expect(names(having(408))).toEqual(names(posts))
  await Promise.all(
    posts.map(async (call) => {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"mo')) })
      await expectError(call, await send(call, { body, headers: typeOf(call) }), 408, 'request_timeout')
    }),
  )
  await gateway.setOption('RequestSizeLimit', String(32 * 1024 * 1024))
  await gateway.setOption('CallerIdleTimeout', '120')
})

const billing = calls.filter(({ path }) => path.includes('/billing/'))

test('429: one address makes more requests to the billing endpoints than its limit allows', async () => {
  const { token, url, close } = await startTestGateway({ env: { GLOBAL_API_RATE_LIMIT: '1' } })
  const ask = (path: string) => fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  expect((await ask(billing[0]?.path ?? '')).status).toBe(200)
  for (const call of billing) {
    const response = await ask(call.path)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    await expectError(call, response, 429, 'rate_limit_exceeded')
  }
  await close()
})

test('429: a token makes more calls per minute than its limit allows, and headers report the limit', async () => {
  const limited = await gate.person('user')
  await gate.gateway.context.store.write((trx) =>
    trx.updateTable('tokens').set({ rpm_limit: 1 }).where('id', '=', limited.tokenId).execute(),
  )
  expect(names(having(429))).toEqual(names([...posts, ...billing]))
  const [first] = posts
  if (!first) throw new Error('no calls')
  const told = (response: Response) => [...response.headers.keys()].filter((name) => name.startsWith('x-ratelimit-'))
  const taken = await send(first, { token: limited.relayToken })
  expect([taken.status, taken.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '1'])
  for (const call of posts) {
    const response = await send(call, { token: limited.relayToken })
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    const known = Object.keys(document.components.headers).map((name) => name.toLowerCase())
    expect(told(response).filter((name) => !known.includes(name))).toEqual([])
    expect(told(response).length).toBe(3)
    await expectError(call, response, 429, 'rate_limit_exceeded')
  }
})

test('502: the upstream breaks off; an error status of the upstream’s own is passed on', async () => {
  expect(names(having(502))).toEqual(names(posts))
  for (const call of posts) {
    gate.upstream.next(resetsBeforeHeaders())
    await expectError(call, await send(call), 502, 'do_request_failed')
    gate.upstream.next(status(418))
    const response = await send(call)
    expect([call.name, response.status]).toEqual([call.name, 418])
    await promised.check(call.name, response)
  }
})

test('504: the upstream sends nothing', async () => {
  expect(names(having(504))).toEqual(names(posts))
  gate.upstream.always(neverAnswers())
  await gate.gateway.setOption('FirstByteTimeout', '0.05')
  for (const call of posts) await expectError(call, await send(call), 504, 'upstream_timeout')
  await gate.gateway.setOption('FirstByteTimeout', '120')
})

test('503: no channel serves the model, or the server is shutting down', async () => {
  expect(names(having(503))).toEqual(names(calls))
  for (const call of posts) {
    const body = bodyOf(call.path, call.operation, { model: 'nobody-has-this' })
    await expectError(call, await send(call, { body, model: 'nobody-has-this' }), 503, 'no_available_channel')
  }
  await using other = await startWireGate()
  const person = await other.person('user')
  other.gateway.context.drain()
  for (const call of calls) {
    const as = { relayToken: person.relayToken }
    const body = call.method === 'post' ? bodyOf(call.path, call.operation) : undefined
    await expectError(call, await other.call(call.method, addressOf(call.path), { as, body }), 503, 'shutting_down')
  }
})

test('500: an internal error of the gateway', async () => {
  expect(names(having(500))).toEqual(names(calls))
  await using other = await startWireGate()
  const person = await other.person('user')
  const { authenticate } = other.gateway.context.relay
  Object.assign(authenticate, {
    nowMs: () => {
      throw new TypeError('a fault of ours')
    },
  })
  await other.gateway.context.store.write((trx) => trx.updateTable('tokens').set({ expired_time: 1 }).execute())
  for (const call of calls) {
    const as = { relayToken: person.relayToken }
    const body = call.method === 'post' ? bodyOf(call.path, call.operation) : undefined
    const response = await other.call(call.method, addressOf(call.path), { as, body })
    await expectError(call, response, 500, 'internal_error')
  }
})

test('508: a call that has already passed through this gateway', async () => {
  expect(names(having(508))).toEqual(names(calls))
  const { installationId } = gate.gateway.context.relay.relay
  const headers = { 'x-tollgate-via': `another, ${installationId}` }
  for (const call of calls) await expectError(call, await send(call, { headers }), 508, 'loop_detected')
})

test('every promised status is tested here', () => {
  const tested = [200, 400, 401, 403, 404, 408, 413, 415, 429, 500, 502, 503, 504, 508].map(String).concat('default')
  const promises = calls.flatMap(({ operation }) => Object.keys(operation.responses))
  expect([...new Set(promises)].filter((each) => !tested.includes(each))).toEqual([])
})
