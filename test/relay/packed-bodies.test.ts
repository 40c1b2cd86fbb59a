// Compressed bodies: taken, within the limits that hold for all others.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type Bench, chat, see, startBench } from './setup.ts'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const ways = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const

const send = (encoding: string, body: Uint8Array<ArrayBuffer>) =>
  see(
    fetch(`${bench.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bench.gateway.token}`,
        'content-type': 'application/json',
        'content-encoding': encoding,
      },
      body,
    }),
  )

test.each(ways)('a body packed with %s is read', async (encoding, pack) => {
  const seen = await send(encoding, new Uint8Array(pack(JSON.stringify(chat))))
  expect([seen.status, seen.error]).toEqual([200, undefined])
  expect(JSON.parse(bench.upstream.requests.at(-1)?.text ?? '{}')).toMatchObject({ messages: chat.messages })
})

test.each(ways)('one of %s that unpacks to far more than it is, is refused', async (encoding, pack) => {
  const bomb = JSON.stringify({ ...chat, x: 'a'.repeat(20 * 1024 * 1024) })
  const seen = await send(encoding, new Uint8Array(pack(bomb)))
  expect([seen.status, seen.error?.code]).toEqual([413, 'request_too_large'])
})

test.each(ways)('one of %s that was cut off is refused', async (encoding, pack) => {
  const packed = pack(JSON.stringify(chat))
  const seen = await send(encoding, new Uint8Array(packed.subarray(0, packed.length - 6)))
  expect([seen.status, seen.error?.code]).toEqual([400, 'invalid_json'])
})

test('other ways, and several at once, are refused by name', async () => {
  for (const encoding of ['compress', 'gzip, br', 'constructor']) {
    const seen = await send(encoding, new Uint8Array([1, 2, 3]))
    expect([encoding, seen.status, seen.error?.code]).toEqual([encoding, 415, 'unsupported_media_type'])
  }
})
