import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Caller, chat, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
let caller: Caller

beforeAll(async () => {
  rig = await startRelayRig()
  caller = await rig.caller()
})
afterAll(() => rig[Symbol.asyncDispose]())

/**
 * Sends a request exactly as written, because the usual client would normalise the path. Without a host, it sends an
 * HTTP/1.0 request.
 */
function raw(
  method: string,
  target: string,
  body = JSON.stringify(chat),
  host = 'host: 127.0.0.1',
): Promise<{ status: number; text: string }> {
  const { port } = new URL(rig.gateway.url)
  const head = [
    `${method} ${target} HTTP/1.${host === '' ? 0 : 1}`,
    ...(host === '' ? [] : [host]),
    `authorization: Bearer ${caller.token}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(`${head.join('\r\n')}\r\n\r\n${body}`))
    socket.on('data', (bytes) => {
      text += bytes.toString()
    })
    socket.on('end', () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text }))
    socket.on('error', reject)
  })
}

describe('parts of the OpenAI API that are not served return 501 to any caller with a token:', () => {
  const paths: readonly (readonly [string, string])[] = [
    ['POST', '/v1/edits'],
    ['POST', '/v1/files'],
    ['GET', '/v1/files'],
    ['GET', '/v1/files/file-1/content'],
    ['DELETE', '/v1/files/file-1'],
    ['POST', '/v1/fine_tuning/jobs'],
    ['POST', '/v1/fine-tunes'],
    ['DELETE', '/v1/models/m'],
    ['POST', '/v1/assistants'],
    ['POST', '/v1/threads/t/runs'],
    ['POST', '/v1/realtime/sessions'],
    ['GET', '/v1/chat/completions'],
    ['GET', '/v1/chat/completions/chatcmpl-1'],
  ]
  for (const [method, path] of paths) {
    test(`${method} ${path}`, async () => {
      const url = rig.gateway.url + path
      const seen = await see(fetch(url, { method, headers: { authorization: `Bearer ${caller.token}` } }))
      expectError(seen, 501, 'api_not_implemented')
      expect(seen.error).toMatchObject({ type: 'one_api_error' })
      expectError(await see(fetch(url, { method })), 401, 'invalid_token')
    })
  }
})

describe('an unknown path returns 404 with a request id:', () => {
  const paths = [
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/chat',
    '/v1/embeddings/more',
    '/v2/chat/completions',
    '/dashboard/x',
    '/nothing',
  ]
  for (const path of paths) {
    test(path, async () => {
      const seen = await see(rig.gateway.post(path, chat, caller.token))
      expect(seen.status).toBe(404)
      expect(seen.headers.get('x-oneapi-request-id')).toMatch(/^\d{20,}$/)
      if (path !== '/nothing') expect(seen.error).toMatchObject({ type: 'invalid_request_error' })
    })
  }
})

describe('a manipulated path gives no more access than the plain path:', () => {
  const tricks = [
    '/v1/../api/user/',
    '/v1/%2e%2e/api/user/',
    '/v1/..%2fapi/user/',
    '/v1/chat/../../api/channel/',
    '//v1/chat/completions',
    '/v1//chat/completions',
    '/v1/chat%2fcompletions',
    '/v1/chat/completions%00',
    '/V1/chat/completions',
    '/v1/chat/completions;x=1',
    '/./v1/chat/completions/..',
    'http://elsewhere/api/user/',
    '/api/../v1/../api/user/',
  ]
  for (const target of tricks) {
    test(target, async () => {
      for (const method of ['POST', 'GET']) {
        const before = rig.upstream.requests.length
        const { status, text } = await raw(method, target)
        expect([method, status >= 400 || text.includes('"success":false')]).toEqual([method, true])
        expect(text).not.toContain('"username"')
        expect(rig.upstream.requests.length).toBe(before)
      }
    })
  }

  test('a path that the URL standard normalises is served like the plain path, or gets 404', async () => {
    for (const target of ['/v1/./chat/completions', '/x/../v1/chat/completions']) {
      const { status } = await raw('POST', target)
      expect([200, 404]).toContain(status)
    }
  })
})

test('requests without a host, as HTTP/1.0 health checks send them, are served like others', async () => {
  expect(await raw('GET', '/healthz', '', '')).toMatchObject({
    status: 200,
    text: expect.stringContaining('{"status":"ok"}'),
  })
  expect((await raw('GET', '/readyz', '', '')).text).toContain('{"status":"ready"}')
  expect((await raw('GET', '/api/status', '', '')).text).toContain('"success":true')
  expect((await raw('POST', '/v1/chat/completions', JSON.stringify(chat), '')).text).toContain('"choices"')
  expect((await raw('GET', '/v1/nothing', '', '')).status).toBe(404)
})

describe('browsers on other sites', () => {
  test.each(['/v1/chat/completions', '/v1beta/models/m:generateContent', '/v1alpha/models/m:generateContent'])(
    'may send a preflight without a token: %s',
    async (path) => {
      const response = await fetch(rig.gateway.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      })
      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(response.headers.get('access-control-allow-methods')).toContain('POST')
      expect(response.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization')
      expect(response.headers.get('access-control-allow-credentials')).toBeNull()
      expect(response.headers.get('x-oneapi-request-id')).toMatch(/^\d{20,}$/)
    },
  )

  test('may read responses and errors', async () => {
    for (const token of [caller.token, 'sk-wrong']) {
      const seen = await see(
        rig.gateway.post('/v1/chat/completions', chat, token, { headers: { origin: 'https://app.example' } }),
      )
      expect(seen.headers.get('access-control-allow-origin')).toBe('*')
      expect(seen.headers.get('access-control-expose-headers')?.toLowerCase()).toContain('x-oneapi-request-id')
    }
  })

  test('may not read responses of the management API', async () => {
    const response = await fetch(`${rig.gateway.url}/api/status`, { headers: { origin: 'https://app.example' } })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})

test('every response has its own request id', async () => {
  const answers = await Promise.all([
    rig.gateway.post('/v1/chat/completions', chat, caller.token),
    rig.gateway.post('/v1/chat/completions', { ...chat, stream: true }, caller.token),
    rig.gateway.post('/v1/chat/completions', 'x', caller.token),
    rig.gateway.post('/v1/chat/completions', chat, 'sk-wrong'),
    fetch(`${rig.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${caller.token}` } }),
    fetch(`${rig.gateway.url}/v1/models`),
    fetch(`${rig.gateway.url}/api/status`),
    fetch(`${rig.gateway.url}/nowhere`),
  ])
  const ids = answers.map((answer) => answer.headers.get('x-oneapi-request-id'))
  for (const id of ids) expect(id).toMatch(/^\d{20,}$/)
  expect(new Set(ids).size).toBe(ids.length)
  await Promise.all(answers.map((answer) => answer.text()))
})

test('an unknown model gets 404 model_not_found, and a model whose name contains a slash is found', async () => {
  await rig.channel({ models: 'vendor/model' })
  const get = (model: string) =>
    see(fetch(`${rig.gateway.url}/v1/models/${model}`, { headers: { authorization: `Bearer ${caller.token}` } }))
  expectError(await get('nothing'), 404, 'model_not_found')
  for (const model of ['m', 'vendor/model', 'vendor%2Fmodel'])
    expect([model, (await get(model)).status]).toEqual([model, 200])
  expectError(await get('%E0%A4%A'), 404, 'model_not_found')
})
