// Compressed bodies are accepted within the limits that apply to all other bodies.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { sendBody } from '../helpers/fake-upstream/reply.ts'
import { behaviour } from '../helpers/fake-upstream.ts'
import { chat, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

const ways = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const

const send = (encoding: string, body: Uint8Array<ArrayBuffer>) =>
  see(
    fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${rig.gateway.token}`,
        'content-type': 'application/json',
        'content-encoding': encoding,
      },
      body,
    }),
  )

test.each(ways)('a request body compressed with %s is accepted', async (encoding, compress) => {
  const seen = await send(encoding, new Uint8Array(compress(JSON.stringify(chat))))
  expect([seen.status, seen.error]).toEqual([200, undefined])
  expect(JSON.parse(rig.upstream.requests.at(-1)?.text ?? '{}')).toMatchObject({ messages: chat.messages })
})

test.each(ways)(
  'a request body compressed with %s that decompresses to far more than its size is refused',
  async (encoding, compress) => {
    const bomb = JSON.stringify({ ...chat, x: 'a'.repeat(20 * 1024 * 1024) })
    const seen = await send(encoding, new Uint8Array(compress(bomb)))
    expect([seen.status, seen.error?.code]).toEqual([413, 'request_too_large'])
  },
)

test.each(ways)('a truncated request body compressed with %s is refused', async (encoding, compress) => {
  const compressed = compress(JSON.stringify(chat))
  const seen = await send(encoding, new Uint8Array(compressed.subarray(0, compressed.length - 6)))
  expect([seen.status, seen.error?.code]).toEqual([400, 'invalid_json'])
})

test('other encodings, and several encodings at once, are refused with an error that names them', async () => {
  for (const encoding of ['compress', 'gzip, br', 'constructor']) {
    const seen = await send(encoding, new Uint8Array([1, 2, 3]))
    expect([encoding, seen.status, seen.error?.code]).toEqual([encoding, 415, 'unsupported_media_type'])
  }
})

test.each(ways)('a multipart form compressed with %s is accepted', async (encoding, compress) => {
  const boundary = 'b0undary'
  const field = (name: string, value: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
  const form = `${field('model', 'whisper-1')}${field('file', 'sound', '; filename="a.mp3"')}--${boundary}--\r\n`
  await rig.gateway.setOption('ModelRatio', '{"m":1,"whisper-1":1}')
  await rig.channel({ models: 'whisper-1' })
  const upload = (body: Uint8Array<ArrayBuffer>) =>
    see(
      fetch(`${rig.gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${rig.gateway.token}`,
          'content-type': `multipart/form-data; boundary=${boundary}`,
          'content-encoding': encoding,
        },
        body,
      }),
    )
  rig.upstream.next(
    behaviour('transcript', (exchange) =>
      sendBody(exchange, 200, Buffer.from('{"text":"Hi"}'), [['content-type', 'application/json']]),
    ),
  )
  const seen = await upload(new Uint8Array(compress(form)))
  expect([seen.status, seen.text]).toEqual([200, '{"text":"Hi"}'])
  expect(rig.upstream.last.text).toContain('whisper-1')
  const bomb = form.replace('sound', 's'.repeat(20 * 1024 * 1024))
  expect((await upload(new Uint8Array(compress(bomb)))).error?.code).toBe('request_too_large')
  expect((await upload(new Uint8Array(compress(form)).slice(0, -6))).status).toBe(400)
})

test.each(ways)('a management call whose body is compressed with %s is accepted', async (encoding, compress) => {
  const login = (body: Uint8Array<ArrayBuffer>, way: string = encoding) =>
    fetch(`${rig.gateway.url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': way },
      body,
    })
  const credentials = JSON.stringify({ username: 'nobody', password: 'no-such-password' })
  const answer = await login(new Uint8Array(compress(credentials)))
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('password')])
  expect((await login(new Uint8Array(compress(`${credentials}${' '.repeat(2 * 1024 * 1024)}`)))).status).toBe(413)
  const cut = await login(new Uint8Array(compress(credentials)).slice(0, -6))
  expect(await cut.text()).toMatch(/is not valid|JSON/)
  expect((await login(new Uint8Array([1]), 'compress')).status).toBe(400)
})

describe.each(ways)(
  'a response that a service compresses with %s, although this was not requested',
  (encoding, compress) => {
    const sendsCompressed = (status: number, type: string, body: string) => sends(status, type, compress(body))
    const sends = (status: number, type: string, bytes: Uint8Array) =>
      behaviour('compresses its answer', async (exchange) => {
        exchange.head(status, [
          ['content-type', type],
          ['content-encoding', encoding],
          ['content-length', String(bytes.length)],
        ])
        await exchange.write(bytes)
        exchange.end()
      })
    const whole = {
      id: 'c1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
    }
    const event = { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] }
    const stream = `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`

    test('is decompressed and read', async () => {
      rig.upstream.next(sendsCompressed(200, 'application/json', JSON.stringify(whole)))
      const seen = await see(rig.gateway.post('/v1/chat/completions', chat))
      expect([seen.status, JSON.parse(seen.text)]).toEqual([200, whole])
      expect(seen.headers.get('content-encoding')).toBeNull()
      expect(rig.upstream.last.headers.get('accept-encoding')).toBe('identity')
      rig.upstream.next(sendsCompressed(200, 'text/event-stream', stream))
      expect((await see(rig.gateway.post('/v1/chat/completions', { ...chat, stream: true }))).text).toContain('Hello')
      rig.upstream.next(sendsCompressed(400, 'application/json', '{"error":{"message":"No such thing."}}'))
      expect((await see(rig.gateway.post('/v1/chat/completions', chat))).error?.message).toContain('No such thing.')
    })

    test('is abandoned partway if it decompresses to far more than its size', async () => {
      const bomb = compress(Buffer.alloc(64 * 1024 * 1024, 32))
      for (const [status, type, stream] of [
        [200, 'application/json', false],
        [200, 'text/event-stream', true],
        [500, 'application/json', false],
      ] as const) {
        rig.upstream.next(sends(status, type, bomb))
        const seen = await see(rig.gateway.post('/v1/chat/completions', { ...chat, stream }))
        expect([type, seen.status >= 500, seen.error === undefined]).toEqual([type, true, false])
      }
    })
  },
)

test('a response with an unknown compression counts as a failure of the upstream', async () => {
  rig.upstream.next(
    behaviour('compresses its answer', (exchange) =>
      sendBody(exchange, 200, Buffer.from('{}'), [
        ['content-type', 'application/json'],
        ['content-encoding', 'compress'],
      ]),
    ),
  )
  const seen = await see(rig.gateway.post('/v1/chat/completions', chat))
  expect([seen.status, seen.error?.code]).toEqual([502, 'bad_response_body'])
})
