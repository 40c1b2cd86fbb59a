// Paths that clients use in addition to the usual ones, paths that are not served, and the errors for them in the
// caller's dialect.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { errorDetail } from '../helpers/error-detail.ts'
import { chat, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.channel({ type: 28 })
})
afterAll(() => rig[Symbol.asyncDispose]())

const get = (path: string, headers: Record<string, string>) => see(fetch(rig.gateway.url + path, { headers }))
const bearer = () => ({ authorization: `Bearer ${rig.gateway.token}` })

test('the dialect of the list of models depends on which header contains the key', async () => {
  const { token } = rig.gateway
  for (const path of ['/v1/models', '/models', '/v1beta/openai/models']) {
    expect(JSON.parse((await get(path, bearer())).text)).toMatchObject({ object: 'list', data: [{ id: 'm' }] })
    expect(JSON.parse((await get(path, { 'x-api-key': token })).text)).toMatchObject({ has_more: false, first_id: 'm' })
    expect(JSON.parse((await get(path, { 'x-goog-api-key': token })).text)).toMatchObject({
      models: [{ name: 'models/m' }],
    })
  }
  expect(JSON.parse((await get('/v1/models/m', { 'x-api-key': token })).text)).toMatchObject({ type: 'model', id: 'm' })
  expect(JSON.parse((await get('/v1/models/m', { 'x-goog-api-key': token })).text)).toMatchObject({ name: 'models/m' })
  const wrong = await get('/v1/models', { 'x-goog-api-key': 'sk-nobody' })
  expect([wrong.status, errorDetail(wrong.text).kind]).toEqual([401, 'UNAUTHENTICATED'])
})

test('paths without the API version are served like paths with the version', async () => {
  for (const [path, body] of [
    ['/chat/completions', chat],
    ['/v1beta/openai/chat/completions', chat],
    ['/responses', { model: 'm', input: 'Hi' }],
    ['/messages', { ...chat, max_tokens: 10 }],
  ] as const)
    expect([path, (await see(rig.gateway.post(path, body))).status]).toEqual([path, 200])
  const away = await see(fetch(`${rig.gateway.url}/chat/completions`, { method: 'OPTIONS' }))
  expect(away.headers.get('access-control-allow-origin')).toBe('*')
})

test('/health returns the same response as /healthz', async () => {
  expect(JSON.parse((await get('/health', {})).text)).toEqual({ status: 'ok' })
})

test('an API that is not served returns 501 in its dialect', async () => {
  const { token } = rig.gateway
  const batches = await get('/v1/messages/batches', { 'x-api-key': token })
  expect([batches.status, JSON.parse(batches.text)]).toMatchObject([
    501,
    { type: 'error', error: { type: 'api_error' } },
  ])
  for (const path of ['/v1/responses/resp_1/more', '/v1/conversations/c/more', '/v1/files', '/v1/batches']) {
    const seen = await get(path, bearer())
    expect([path, seen.status, seen.error?.code]).toEqual([path, 501, 'api_not_implemented'])
  }
  for (const path of ['/v1beta/files', '/v1beta/cachedContents', '/v1beta/operations/o', '/v1alpha/auth_tokens']) {
    const seen = await get(path, { 'x-goog-api-key': token })
    expect([path, seen.status, typeof errorDetail(seen.text).kind]).toEqual([path, 501, 'string'])
  }
})

test.each([
  ['/upload/v1beta/files', 'POST'],
  ['/upload/v1/files', 'POST'],
  ['/v1beta/models/m:predict', 'POST'],
  ['/v1beta/models/m:batchGenerateContent', 'POST'],
  ['/v1beta/models/m', 'DELETE'],
  ['/v1beta/fileSearchStores', 'POST'],
])('Google clients get an error in their dialect that %s is not served (%s)', async (path, method) => {
  const seen = await see(
    fetch(rig.gateway.url + path, {
      method,
      headers: { 'x-goog-api-key': rig.gateway.token },
      ...(method === 'POST' && { body: '{}' }),
    }),
  )
  expect([seen.status, JSON.parse(seen.text)]).toMatchObject([501, { error: { code: 501, status: 'UNIMPLEMENTED' } }])
})

test.each(['/v1/skills', '/v1/agents/a', '/v1/complete', '/v1/sessions'])(
  'Anthropic clients get an error in their dialect that %s is not served',
  async (path) => {
    const seen = await get(path, { 'x-api-key': rig.gateway.token })
    expect([seen.status, JSON.parse(seen.text)]).toMatchObject([501, { type: 'error', error: { type: 'api_error' } }])
  },
)

test("an unknown path is reported in the caller's dialect", async () => {
  const { token } = rig.gateway
  const said = async (path: string, headers: Record<string, string>) => {
    const { status, text } = await get(path, headers)
    return [status, JSON.parse(text)]
  }
  expect(await said('/v1/nothing', bearer())).toMatchObject([404, { error: { type: 'invalid_request_error' } }])
  expect(await said('/v1/nothing', { 'x-api-key': token })).toMatchObject([404, { error: { type: 'not_found_error' } }])
  expect(await said('/v1/nothing', { 'x-goog-api-key': token })).toMatchObject([
    404,
    { error: { status: 'NOT_FOUND' } },
  ])
  expect(await said('/v1beta/nothing', {})).toMatchObject([404, { error: { code: 404, status: 'NOT_FOUND' } }])
  expect(await said('/upload/nothing', {})).toMatchObject([404, { error: { code: 404, status: 'NOT_FOUND' } }])
  for (const path of ['/v1beta', '/upload', '/v1beta/nothing', '/openai/v1/nothing', '/nothing']) {
    expect([path, await said(path, { 'x-goog-api-key': token })]).toMatchObject([
      path,
      [404, { error: { status: 'NOT_FOUND' } }],
    ])
  }
  expect(await said('/openai/v1/nothing', { 'x-api-key': token })).toMatchObject([404, { type: 'error' }])
})

test('the error for an unknown path contains the request id in the caller’s dialect, and tells clients not to retry', async () => {
  const { token } = rig.gateway
  const chat = await get('/v1/nothing', bearer())
  const id = chat.headers.get('x-oneapi-request-id') ?? 'none'
  expect([chat.headers.get('x-request-id'), chat.headers.get('x-should-retry')]).toEqual([id, 'false'])
  expect(chat.text).toContain(id)
  const messages = await get('/v1/nothing', { 'x-api-key': token })
  expect(JSON.parse(messages.text)).toMatchObject({ request_id: messages.headers.get('request-id') })
})

test('the error for a call with the wrong method names the right method', async () => {
  expect((await get('/v1/chat/completions', bearer())).text).toContain('use POST')
  expect((await get('/v1/messages', { 'x-api-key': rig.gateway.token })).text).toContain('use POST')
  expect((await get('/v1/files', bearer())).text).toContain('call the provider directly')
})
