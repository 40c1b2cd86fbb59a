import { expect, test } from 'bun:test'
import { Hono } from 'hono'
import * as z from 'zod/mini'
import { endpoint } from '../../contract/api/endpoint.ts'
import { Turns } from '../lib/turns.ts'
import { ApiFailure } from './api-failure.ts'
import type { AppEnv } from './app-env.ts'
import { clientAddress } from './client-address.ts'
import { createRateLimiter } from './rate-limit.ts'
import { type ApiRouter, servePublic } from './serve-endpoint.ts'
import type { Sessions } from './session.ts'
import { unknownPath } from './unknown-path.ts'

const nobody: Sessions = {
  identify: async () => ({ kind: 'nobody' }),
  identifyAgain: async () => ({ kind: 'nobody' }),
  start: async () => undefined,
  end: async () => undefined,
  hashOf: () => undefined,
  hasCookie: () => false,
}

function router() {
  const warnings: string[] = []
  const app = new Hono<AppEnv>().use(clientAddress([]))
  const criticalLimit = createRateLimiter({ limit: 2, windowMs: 60_000 }, { nowMs: () => 0 })
  const it: ApiRouter = {
    app,
    sessions: nobody,
    criticalLimit,
    warn: (message) => warnings.push(message),
    bodyTimeMs: () => 0,
    turns: new Turns(),
  }
  return { it, app, warnings }
}

const echo = endpoint({
  method: 'POST',
  path: '/api/echo/{id}/',
  access: 'public',
  params: z.object({ id: z.coerce.number<string>().check(z.int(), z.positive()) }),
  body: z.object({ name: z.string().check(z.maxLength(5)), count: z.optional(z.int()) }),
  data: z.object({ id: z.number(), name: z.string() }),
  summary: '',
})

function post(app: Hono<AppEnv>, path: string, body: string) {
  return app.request(path, { method: 'POST', body })
}

test('the error lists the unknown fields of a body, including nested ones', async () => {
  const { it, app } = router()
  const deep = endpoint({
    method: 'POST',
    path: '/api/deep',
    access: 'public',
    body: z.object({ list: z.optional(z.array(z.object({ a: z.optional(z.int()) }))) }),
    ignores: ['old'],
    summary: '',
  })
  servePublic(it, deep, () => undefined)
  const said = async (body: string) =>
    ((await (await post(app, '/api/deep', body)).json()) as { message: string }).message
  expect(await said('{"old":1,"list":[{"a":1}]}')).toBe('')
  expect(await said('{"new":1,"list":[{"a":1},{"b":1}]}')).toBe('The input has unknown fields: new, list.1.b.')
  expect(await said('[]')).toContain('must be')
})

test('paths work with and without a trailing slash, and response fields that are not in the schema are dropped', async () => {
  const { it, app } = router()
  servePublic(it, echo, ({ params, body }) => ({ id: params.id, name: body.name, secret: 'x' }))
  for (const path of ['/api/echo/7', '/api/echo/7/']) {
    const answer = await post(app, path, '{"name":"a","count":1}')
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { success: true, message: '', data: { id: 7, name: 'a' } },
    ])
  }
})

test('the error names the invalid field and its fault', async () => {
  const { it, app } = router()
  servePublic(it, echo, () => ({ id: 1, name: '' }))
  const cases = [
    ['/api/echo/x', '{"name":"a"}', 'id must be a number.'],
    ['/api/echo/1', '{}', 'name is missing.'],
    ['/api/echo/1', '', 'name is missing.'],
    ['/api/echo/1', '{"name":"abcdef"}', 'name may have at most 5 characters.'],
    ['/api/echo/1', '{"name":"a","count":"3"}', 'count must be a number.'],
    ['/api/echo/1', '{"name":"a","count":1.5}', 'count must be a whole number.'],
    ['/api/echo/1', '{', 'The request body is not valid JSON.'],
    ['/api/echo/1', '[]', 'The input must be an object.'],
    ['/api/echo/1', '{"name":"a\\u0000"}', 'The request body must not contain NUL characters.'],
    ...[
      '\\ud800',
      '\\uDC00',
      '\\ude00\\ud83d',
      '\\ud83d \\ude00',
      '\\ud83d\\\\\\ude00',
      '\\ud83d\\ud83d\\ude00',
    ].flatMap((half) => [
      [
        '/api/echo/1',
        `{"name":"${half}"}`,
        'The request body must not contain lone surrogates (halves of a character).',
      ] as const,
      [
        '/api/echo/1',
        `{"${half}":1}`,
        'The request body must not contain lone surrogates (halves of a character).',
      ] as const,
    ]),
    ['/api/echo/0', '{"name":"a"}', 'id must be more than 0.'],
    ['/api/echo/1?note=%ff', '{"name":"a"}', 'The URL is not valid UTF-8.'],
    ['/api/echo/1?note=%ed%a0%80', '{"name":"a"}', 'The URL is not valid UTF-8.'],
  ] as const
  for (const [path, body, message] of cases) {
    const answer = await post(app, path, body)
    expect([answer.status, await answer.json()]).toMatchObject([200, { success: false, message }])
  }
})

test('JSON strings may contain any characters, however they are encoded, and a bare percent sign in a URL is literal', async () => {
  const { it, app } = router()
  servePublic(it, echo, ({ body }) => ({ id: 1, name: body.name }))
  for (const [written, name] of [
    ['\\ud83d\\ude00', '😀'],
    ['\\uD83D\\uDE00', '😀'],
    ['😀é', '😀é'],
    ['\\\\ud83', '\\ud83'],
  ] as const) {
    const answer = await post(app, '/api/echo/1?note=100%', `{"name":"${written}"}`)
    expect(await answer.json()).toMatchObject({ success: true, data: { name } })
  }
})

test('a body that is not UTF-8 is refused', async () => {
  const { it, app } = router()
  servePublic(it, echo, () => ({ id: 1, name: '' }))
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')])
    const answer = await app.request('/api/echo/1', { method: 'POST', body })
    expect(await answer.json()).toMatchObject({ success: false, message: 'The request body is not valid UTF-8.' })
  }
})

test('an endpoint with badBodyStatus returns 400 for a body that cannot be decoded', async () => {
  const { it, app } = router()
  servePublic(it, { ...echo, badBodyStatus: 400 }, () => ({ id: 1, name: '' }))
  expect((await post(app, '/api/echo/1', '{')).status).toBe(400)
  expect((await post(app, '/api/echo/1', '{"name":1}')).status).toBe(400)
})

test('a body above 1 MiB is refused, with or without a declared length', async () => {
  const { it, app } = router()
  servePublic(it, echo, () => ({ id: 1, name: '' }))
  const big = `{"name":"${'a'.repeat(1024 * 1024)}"}`
  expect((await post(app, '/api/echo/1', big)).status).toBe(413)
  const stream = new Blob([big]).stream()
  const answer = await app.request('/api/echo/1', { method: 'POST', body: stream, duplex: 'half' } as RequestInit)
  expect(answer.status).toBe(413)
})

test('a body that breaks off is refused with 400 and not logged', async () => {
  const { it, app, warnings } = router()
  servePublic(it, echo, () => ({ id: 1, name: '' }))
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"na')),
    pull: () => Promise.reject(new Error('the connection was closed')),
  })
  const answer = await app.request('/api/echo/1', { method: 'POST', body, duplex: 'half' } as RequestInit)
  expect([answer.status, warnings]).toEqual([400, []])
})

test('an internal error becomes a 500 without details, and is reported', async () => {
  const { it, app, warnings } = router()
  servePublic(it, echo, () => {
    throw new Error('secret detail')
  })
  const answer = await post(app, '/api/echo/1', '{"name":"a"}')
  const text = await answer.text()
  expect(answer.status).toBe(500)
  expect(text).not.toContain('secret')
  expect(warnings[0]).toContain('secret detail')
})

test('a response that does not match its schema is not sent', async () => {
  const { it, app } = router()
  servePublic(it, echo, () => ({ id: 'no' }) as never)
  expect((await post(app, '/api/echo/1', '{"name":"a"}')).status).toBe(500)
})

test('error responses contain the extra fields of the failure', async () => {
  const { it, app } = router()
  servePublic(it, echo, () => {
    throw new ApiFailure('no', 200, { extra: { time: 1.5 } })
  })
  expect(await (await post(app, '/api/echo/1', '{"name":"a"}')).json()).toMatchObject({
    success: false,
    message: 'no',
    time: 1.5,
  })
})

test('requests to endpoints marked as critical are limited per address, and a refusal has Retry-After', async () => {
  const { it, app } = router()
  servePublic(it, { ...echo, critical: true }, () => ({ id: 1, name: '' }))
  const call = (socketAddress: string) =>
    app.request('/api/echo/1', { method: 'POST', body: '{"name":"a"}' }, { socketAddress })
  expect((await call('192.0.2.1')).status).toBe(200)
  expect((await call('192.0.2.1')).status).toBe(200)
  const refused = await call('192.0.2.1')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(((await refused.json()) as { success: boolean }).success).toBe(false)
  expect((await call('192.0.2.2')).status).toBe(200)
})

test('unknown paths return an error in the OpenAI format', async () => {
  const app = new Hono<AppEnv>()
    .use((c, next) => {
      c.set('requestId', 'r1')
      return next()
    })
    .all('/api/*', (c) => unknownPath(c))
  const answer = await app.request('/api/none', { method: 'PUT' })
  expect(answer.status).toBe(404)
  const message = 'Invalid URL (PUT /api/none) (request id: r1)'
  expect(await answer.json()).toEqual({
    error: { message, type: 'invalid_request_error', param: '', code: '' },
  })
})
