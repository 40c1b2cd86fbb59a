import { describe, expect, test } from 'bun:test'
import { constants, createGzip, gzipSync, zstdCompressSync } from 'node:zlib'
import { contentCodingOf, decompressed } from './decompress.ts'

const faults = { tooLarge: () => new Error('too large'), damaged: () => new Error('damaged') }

/**
 * A gzip body, delivered in pieces of 16 KiB, that decompresses to the given number of megabytes of spaces. Also counts
 * how many of its bytes were read.
 */
async function bomb(megabytes: number) {
  const gzip = createGzip({ level: 9 })
  const compressed: Buffer[] = []
  gzip.on('data', (piece: Buffer) => compressed.push(piece))
  const block = Buffer.alloc(1024 * 1024, 32)
  for (let at = 0; at < megabytes; at++) await new Promise<void>((done) => gzip.write(block, () => done()))
  const isCompressed = new Promise<void>((done) => gzip.on('end', done))
  gzip.end()
  await isCompressed
  const bytes = Buffer.concat(compressed)
  const taken = { bytes: 0, all: bytes.length }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = bytes.subarray(taken.bytes, taken.bytes + 16 * 1024)
        taken.bytes += piece.length
        if (piece.length === 0) controller.close()
        else controller.enqueue(new Uint8Array(piece))
      },
    },
    { highWaterMark: 0 },
  )
  return { body, taken }
}

async function lengthOf(body: ReadableStream<Uint8Array>): Promise<number> {
  let length = 0
  for await (const piece of body) length += piece.length
  return length
}

test('a body that decompresses to far more than its size is neither read nor decompressed to its end', async () => {
  const { body, taken } = await bomb(512)
  let decompressedBytes = 0
  const reading = (async () => {
    for await (const piece of decompressed(body, 'gzip', faults)) decompressedBytes += piece.length
  })()
  expect(await reading.catch((error: Error) => error.message)).toBe('too large')
  expect(decompressedBytes).toBeLessThan(16 * 1024 * 1024)
  expect(taken.bytes).toBeLessThan(taken.all / 2)
})

test('a short body can decompress to 1 MiB, and a body with the usual compression of text decompresses completely', async () => {
  const { body } = await bomb(1)
  expect(await lengthOf(decompressed(body, 'gzip', faults))).toBe(1024 * 1024)
  const text = Array.from({ length: 500_000 }, (_, at) => `line ${at}\n`).join('')
  const compressed = new Response(new Uint8Array(gzipSync(text))).body as ReadableStream<Uint8Array>
  expect(await lengthOf(decompressed(compressed, 'gzip', faults))).toBe(text.length)
})

test('a body is decompressed only as fast as it is read, and cancelled when its reader cancels', async () => {
  const { body, taken } = await bomb(512)
  const reader = decompressed(body, 'gzip', faults).getReader()
  await reader.read()
  await Bun.sleep(20)
  expect(taken.bytes).toBeLessThan(taken.all)
  await reader.cancel()
  const after = taken.bytes
  await Bun.sleep(20)
  expect(taken.bytes).toBe(after)
})

test('an interrupted body fails with its own error, and a damaged body fails with `faults.damaged`', async () => {
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(gzipSync('text').subarray(0, 12)))
      controller.error(new Error('gone'))
    },
  })
  const messageOf = (body: ReadableStream<Uint8Array>) =>
    lengthOf(decompressed(body, 'gzip', faults)).catch((error: Error) => error.message)
  expect(await messageOf(broken)).toBe('gone')
  for (const bytes of [gzipSync('text').subarray(0, 12), Buffer.from('no gzip at all'), Buffer.alloc(0)])
    expect(await messageOf(new Response(new Uint8Array(bytes)).body as ReadableStream<Uint8Array>)).toBe('damaged')
})

test('a body can be cancelled while it sends nothing, and before anybody reads it', async () => {
  for (const reads of [1, 0]) {
    const isGivenUp = Promise.withResolvers<string>()
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(gzipSync('x'.repeat(100)))),
      pull: () => new Promise(() => undefined),
      cancel: () => isGivenUp.resolve('given up'),
    })
    const reader = decompressed(silent, 'gzip', faults).getReader()
    const reading = reads > 0 ? reader.read().then(() => reader.read()) : undefined
    await Bun.sleep(20)
    await reader.cancel()
    expect([reads, await isGivenUp.promise]).toEqual([reads, 'given up'])
    await reading
  }
})

describe('a zstd body', () => {
  const text = Buffer.from(Array.from({ length: 40_000 }, (_, at) => `${(at * 7919) % 10_007} `).join(''))
  const run = Buffer.alloc(300_000, 7)
  const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } }
  const frames = {
    'of text': zstdCompressSync(text),
    'with a checksum': zstdCompressSync(text, checked),
    'of one repeated byte': zstdCompressSync(run),
    'of a single frame with a short word': zstdCompressSync(Buffer.from('word')),
    'of two frames': Buffer.concat([zstdCompressSync(text, checked), zstdCompressSync(run)]),
    'with a skippable frame': Buffer.concat([
      zstdCompressSync(text),
      Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]),
    ]),
  }
  const read = async (bytes: Uint8Array, pieceLength = 1000) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += pieceLength)
          controller.enqueue(new Uint8Array(bytes.subarray(at, at + pieceLength)))
        controller.close()
      },
    })
    return lengthOf(decompressed(body, 'zstd', faults)).catch((error: Error) => error.message)
  }

  test.each(Object.entries(frames))(
    '%s is read completely, and is reported as damaged if it is truncated anywhere',
    async (title, compressed) => {
      const length = title.includes('two') ? text.length + run.length : undefined
      const whole = await read(compressed)
      expect(typeof whole).toBe('number')
      if (length !== undefined) expect(whole).toBe(length)
      expect(await read(compressed, 1)).toBe(whole)
      const first = title.includes('two') ? zstdCompressSync(text, checked).length : zstdCompressSync(text).length
      const ends = new Set([first, compressed.length])
      const step = Math.max(1, Math.floor(compressed.length / 40))
      for (let end = 1; end < compressed.length; end += end > compressed.length - 12 ? 1 : step)
        if (!ends.has(end)) expect([end, await read(compressed.subarray(0, end))]).toEqual([end, 'damaged'])
    },
  )
})

test('contentCodingOf finds the compression in Content-Encoding and ignores `identity`', () => {
  const of = (value: string) => contentCodingOf(new Headers({ 'content-encoding': value }), () => new Error('unknown'))
  expect(['', 'identity', 'identity, identity'].map(of)).toEqual([undefined, undefined, undefined])
  expect(['gzip', 'identity, gzip', 'GZIP , identity', 'zstd,'].map(of)).toEqual(['gzip', 'gzip', 'gzip', 'zstd'])
  for (const value of ['gzip, gzip', 'gzip, br', 'compress', 'toString']) expect(() => of(value)).toThrow('unknown')
})
