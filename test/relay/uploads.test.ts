import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fake from '../helpers/fake-upstream.ts'
import {
  type Caller,
  charged,
  chargedUnits,
  expectError,
  type Rig,
  type Seen,
  see,
  startRelayRig,
  until,
} from './setup.ts'

type Body = NonNullable<RequestInit['body']>

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { RetryTimes: '1', FirstByteTimeout: '20' } })
  await rig.channel({ models: 'whisper-1,gpt-image-1' })
  await rig.channel({ key: 'mapping', models: 'speech', model_mapping: '{"speech":"whisper-1"}' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const path = '/v1/audio/transcriptions'
const boundary = 'boundary-of-the-test'
const type = `multipart/form-data; boundary=${boundary}`

function spooled(): string[] {
  const folder = join(rig.gateway.config.dataDir, 'spool')
  return existsSync(folder) ? readdirSync(folder) : []
}

/** A form part with the given headers, or a plain field if `head` is only a name. */
function part(head: string, value: string | Uint8Array): Buffer {
  const disposition = head.includes(':') ? head : `Content-Disposition: form-data; name="${head}"`
  return Buffer.concat([
    Buffer.from(`--${boundary}\r\n${disposition}\r\n\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ])
}

function form(...parts: Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
}

function file(bytes: Uint8Array | string = 'sound'): Buffer {
  return part('Content-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg', bytes)
}

/** Bytes of every value, and sequences that look like boundaries. */
function soundBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let index = 0; index < length; index++) bytes[index] = (index * 31 + (index >> 8)) & 0xff
  bytes.write(`\r\n--${boundary.slice(0, -1)}\r\n--\r\nname="model"\r\n\r\nwhisper-2`, Math.floor(length / 2))
  return bytes
}

async function call(body: Body, init: { type?: string; path?: string } = {}) {
  const caller = await rig.caller()
  const seen = await see(
    fetch(rig.gateway.url + (init.path ?? path), {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${caller.token}`, 'content-type': init.type ?? type },
    }),
  )
  return { caller, seen }
}

describe('an upload', () => {
  test.each([5_000, 900_000, 25 * 1024 * 1024])(
    'of %d bytes arrives with every byte, and with the mapped model name',
    async (length) => {
      const sound = soundBytes(length)
      const body = form(part('language', 'de'), part('model', 'speech'), file(sound), part('prompt', 'Zürich'))
      const { caller, seen } = await call(body)
      expect(seen.status).toBe(200)
      const sent = rig.upstream.last
      expect(sent.key).toBe('mapping')
      const expected = form(part('language', 'de'), part('model', 'whisper-1'), file(sound), part('prompt', 'Zürich'))
      expect(Buffer.compare(Buffer.from(sent.body), expected)).toBe(0)
      expect(sent.headers.get('content-type')).toBe(type)
      expect(sent.headers.get('content-length')).toBe(String(expected.length))
      const { rows } = await chargedUnits(rig, caller)
      expect(rows[0]).toMatchObject({ model_name: 'whisper-1', outcome: 'complete' })
      expect(spooled()).toEqual([])
    },
    120_000,
  )

  test('without a model mapping arrives byte for byte, including any text before and after its parts', async () => {
    const body = Buffer.concat([
      Buffer.from('preamble\r\n'),
      form(file(), part('model', 'whisper-1')),
      Buffer.from('epilogue'),
    ])
    const { seen } = await call(body, { type: `Multipart/Form-Data; charset=utf-8; boundary="${boundary}"` })
    expect(seen.status).toBe(200)
    expect(Buffer.compare(Buffer.from(rig.upstream.last.body), body)).toBe(0)
  })

  test.each([
    `multipart/form-data; x-boundary=inner; boundary=${boundary}`,
    `multipart/form-data; x="boundary=inner;"; boundary=${boundary}`,
    `multipart/form-data; boundary=${boundary}; boundary=inner`,
  ])('is read with only one boundary, and only that one is sent to the upstream: %s', async (given) => {
    const inner = '--inner\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-image-1\r\n--inner--\r\n'
    const { caller, seen } = await call(form(file(inner), part('model', 'whisper-1')), { type: given })
    expect(seen.status).toBe(200)
    expect(rig.upstream.last.headers.get('content-type')).toBe(type)
    const { rows } = await chargedUnits(rig, caller)
    expect(rows[0]).toMatchObject({ model_name: 'whisper-1' })
  })

  test('without a model gets a model field before its first part, with the model that is charged', async () => {
    const { caller, seen } = await call(Buffer.concat([Buffer.from('\r\n'), form(file())]))
    expect(seen.status).toBe(200)
    const expected = Buffer.concat([Buffer.from('\r\n'), form(part('model', 'whisper-1'), file())])
    expect(Buffer.compare(Buffer.from(rig.upstream.last.body), expected)).toBe(0)
    const { rows } = await chargedUnits(rig, caller)
    expect(rows[0]).toMatchObject({ model_name: 'whisper-1' })
  })

  test('of an image gets 400 if the size is a file part, because some parsers accept file parts as fields', async () => {
    const size = part('Content-Disposition: form-data; name="size"; filename=""', '1024x1024')
    const { seen } = await call(form(part('model', 'gpt-image-1'), size, file()), { path: '/v1/images/edits' })
    expectError(seen, 400, 'invalid_field_value')
    expect(seen.error).toMatchObject({ param: 'size' })
  })

  test('of an image gets 400 if n is negative, as in JSON', async () => {
    const image = form(part('model', 'gpt-image-1'), part('prompt', 'x'), part('n', '-1'), file())
    const { seen } = await call(image, { path: '/v1/images/edits' })
    expectError(seen, 400, 'n_not_within_range')
    expect(seen.error?.message).toStartWith('n must be from 1 to 10 for gpt-image-1')
  })

  test('can arrive in many small chunks and without a length', async () => {
    const body = form(part('model', 'speech'), file(soundBytes(3_000)))
    const pieces = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (let at = 0; at < body.length; at += 7) controller.enqueue(body.subarray(at, at + 7))
        controller.close()
      },
    })
    const { seen } = await call(pieces as unknown as Body)
    expect(seen.status).toBe(200)
    expect(rig.upstream.last.text).toContain('name="model"\r\n\r\nwhisper-1\r\n')
  })

  test('gets 503 and is not charged if the gateway cannot store it on its disk', async () => {
    const folder = join(rig.gateway.config.dataDir, 'spool')
    rmSync(folder, { recursive: true, force: true })
    writeFileSync(folder, 'no folder')
    const before = rig.upstream.requests.length
    const { caller, seen } = await call(form(part('model', 'whisper-1'), file(soundBytes(2_000_000))))
    rmSync(folder)
    expectError(seen, 503, 'storage_unavailable')
    expect(rig.upstream.requests.length).toBe(before)
    await charged(rig, caller, 0)
  })

  test('can be sent again to another channel', async () => {
    await rig.channel({ key: 'first', models: 'whisper-1', priority: 9 })
    rig.upstream.forKey('first', fake.status(503))
    const sound = soundBytes(2_000_000)
    const body = form(part('model', 'whisper-1'), file(sound))
    const { seen } = await call(body)
    expect(seen.status).toBe(200)
    const [failed, good] = rig.upstream.requests.slice(-2)
    expect(failed?.key).toBe('first')
    expect(Buffer.compare(Buffer.from(failed?.body ?? []), Buffer.from(good?.body ?? []))).toBe(0)
    expect(spooled()).toEqual([])
    rig.upstream.forKey('first', fake.ok())
  })

  test('that the upstream refuses during the transfer leaves no file behind', async () => {
    await rig.gateway.setOption('RetryTimes', '0')
    rig.upstream.forKey('first', fake.resetsDuringBody())
    const { caller, seen } = await call(form(part('model', 'whisper-1'), file(soundBytes(8_000_000))))
    expectError(seen, 502, 'do_request_failed')
    await charged(rig, caller, 0)
    expect(spooled()).toEqual([])
    rig.upstream.forKey('first', fake.okTranscription())
  })

  test('whose caller disconnects in the middle leaves no file behind and is not charged', async () => {
    const caller = await rig.caller()
    const leave = new AbortController()
    const before = rig.upstream.requests.length
    const endless = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.concat([part('model', 'whisper-1'), file(soundBytes(2_000_000))]))
      },
    })
    const answer = fetch(rig.gateway.url + path, {
      method: 'POST',
      body: endless as unknown as Body,
      signal: leave.signal,
      headers: { authorization: `Bearer ${caller.token}`, 'content-type': type },
    }).catch(() => undefined)
    await until(() => spooled().length === 1)
    leave.abort()
    await answer
    await until(() => spooled().length === 0)
    await charged(rig, caller, 0)
    expect(rig.upstream.requests.length).toBe(before)
  })
})

describe('an unreadable form', () => {
  const sound = file()
  const model = part('model', 'whisper-1')
  const cases: readonly { name: string; body: Buffer; type?: string; status?: number; code: string }[] = [
    { name: 'no boundary', body: form(model, sound), type: 'multipart/form-data', code: 'invalid_multipart' },
    {
      name: 'an empty boundary',
      body: form(model, sound),
      type: 'multipart/form-data; boundary=',
      code: 'invalid_multipart',
    },
    {
      name: 'another boundary',
      body: form(model, sound),
      type: 'multipart/form-data; boundary=x',
      code: 'invalid_multipart',
    },
    { name: 'no body', body: Buffer.alloc(0), code: 'invalid_multipart' },
    { name: 'no end', body: Buffer.concat([model, sound]), code: 'invalid_multipart' },
    {
      name: 'half a part',
      body: Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; na`),
      code: 'invalid_multipart',
    },
    {
      name: 'garbage after a boundary',
      body: Buffer.from(`--${boundary}garbage\r\n\r\nx\r\n--${boundary}--\r\n`),
      code: 'invalid_multipart',
    },
    { name: 'a field of 300 KB', body: form(part('model', 'x'.repeat(300_000)), sound), code: 'invalid_multipart' },
    {
      name: 'part headers of 20 KB',
      body: form(part(`X-Long: ${'x'.repeat(20_000)}`, 'x')),
      code: 'invalid_multipart',
    },
    {
      name: '300 parts',
      body: form(...Array.from({ length: 300 }, (_, index) => part(`f${index}`, 'x'))),
      code: 'invalid_multipart',
    },
    {
      name: 'folded headers',
      body: form(part('Content-Disposition: form-data;\r\n name="model"', 'whisper-1'), sound),
      code: 'invalid_multipart',
    },
    {
      name: 'two dispositions',
      body: form(part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="model"', 'x')),
      code: 'invalid_multipart',
    },
    {
      name: 'two names',
      body: form(part('Content-Disposition: form-data; name="a"; name="model"', 'x')),
      code: 'invalid_multipart',
    },
    {
      name: 'an encoded name',
      body: form(part("Content-Disposition: form-data; name*=utf-8''model", 'x')),
      code: 'invalid_multipart',
    },
    { name: 'two models', body: form(model, sound, part('model', 'gpt-image-1')), code: 'invalid_field_value' },
    {
      name: 'two models, one without quotes',
      body: form(model, sound, part('Content-Disposition: form-data; name=model', 'x')),
      code: 'invalid_field_value',
    },
    {
      name: 'two models, one with escapes',
      body: form(model, part('Content-Disposition: form-data; name="mo\\del"', 'x')),
      code: 'invalid_field_value',
    },
    {
      name: 'a model that is a file',
      body: form(part('Content-Disposition: form-data; name="model"; filename="m"', 'x'), sound),
      code: 'invalid_field_value',
    },
    {
      name: 'JSON',
      body: Buffer.from('{"model":"whisper-1"}'),
      type: 'application/json',
      status: 415,
      code: 'unsupported_media_type',
    },
    { name: 'no content type', body: form(model, sound), type: '', status: 415, code: 'unsupported_media_type' },
  ]
  for (const { name, body, type: given, status = 400, code } of cases) {
    test(`${name} → ${status} ${code}`, async () => {
      const before = rig.upstream.requests.length
      const { caller, seen } = await call(body, given === undefined ? {} : { type: given })
      expectError(seen, status, code)
      await charged(rig, caller, 0)
      expect(rig.upstream.requests.length).toBe(before)
      expect(spooled()).toEqual([])
    })
  }

  test('a form sent to a path that accepts only JSON gets 400 invalid_json', async () => {
    const { seen } = await call(form(model, sound), { path: '/v1/chat/completions' })
    expectError(seen, 400, 'invalid_json')
  })
})

describe('an upload above RequestSizeLimit gets 413', () => {
  let caller: Caller
  beforeAll(async () => {
    caller = await rig.caller()
    await rig.gateway.setOption('RequestSizeLimit', '3000000')
  })
  afterAll(() => rig.gateway.setOption('RequestSizeLimit', String(32 * 1024 * 1024)))

  async function post(body: Body): Promise<Seen> {
    const headers = { authorization: `Bearer ${caller.token}`, 'content-type': type }
    return see(fetch(rig.gateway.url + path, { method: 'POST', body, headers }))
  }

  test('because of its declared length', async () => {
    expectError(await post(form(part('model', 'whisper-1'), file(soundBytes(3_000_000)))), 413, 'request_too_large')
    expect(spooled()).toEqual([])
  })

  test('while it arrives, if it has no declared length, and its file is removed', async () => {
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.concat([part('model', 'whisper-1'), file(soundBytes(2_500_000))]))
        controller.enqueue(soundBytes(1_000_000))
        controller.close()
      },
    })
    expectError(await post(pieces as unknown as Body), 413, 'request_too_large')
    expect(spooled()).toEqual([])
    await charged(rig, caller, 0)
  })
})
