const firstBytes = 16 * 1024

/** Reads a body to its end. Rejects with `tooLong()` when it has more than so many bytes, and stops reading. */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  mostBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  // One buffer that grows: kept one by one, pieces of a few bytes each would take a hundred times their size.
  let buffer = Buffer.alloc(0)
  let length = 0
  for await (const part of body ?? []) {
    const end = length + part.length
    if (end > mostBytes) throw tooLong()
    if (end > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, Math.min(2 * buffer.length, mostBytes), firstBytes))
      buffer.copy(larger, 0, 0, length)
      buffer = larger
    }
    buffer.set(part, length)
    length = end
  }
  return buffer.subarray(0, length)
}
