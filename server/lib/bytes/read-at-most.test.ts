import { expect, test } from 'bun:test'
import { readAtMost } from './read-at-most.ts'

const tooLong = () => new Error('too long')

/** A body in pieces of the given size. As the runtime may do, it reuses one buffer for all pieces. */
function bodyOf(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0
  const shared = new Uint8Array(size)
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const piece = bytes.subarray(at, at + size)
    at += piece.length
    shared.set(piece)
    if (piece.length === 0) controller.close()
    else controller.enqueue(shared.subarray(0, piece.length))
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

test.each([1, 7, 1_000, 100_000])('a body is read completely in pieces of %d bytes', async (size) => {
  const bytes = Uint8Array.from({ length: 50_000 }, (_, at) => at % 251)
  expect(Buffer.compare(await readAtMost(bodyOf(bytes, size), 50_000, tooLong), bytes)).toBe(0)
})

test('a body that is one byte too long is refused', async () => {
  const bytes = new Uint8Array(50_001)
  await expect(readAtMost(bodyOf(bytes, 1_000), 50_000, tooLong)).rejects.toThrow('too long')
})

test('no body counts as an empty body', async () => {
  expect((await readAtMost(null, 5, tooLong)).length).toBe(0)
})

test('a body of single bytes takes at most twice its size in memory', async () => {
  const bytes = new Uint8Array(1_000_000)
  const whole = await readAtMost(bodyOf(bytes, 1), 10_000_000, tooLong)
  expect(whole.buffer.byteLength).toBeLessThanOrEqual(2 * bytes.length)
})
