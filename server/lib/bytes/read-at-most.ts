const firstBlockBytes = 16 * 1024
const blockBytes = 256 * 1024

/**
 * Reads a body to its end. If it has more than the allowed number of bytes, stops reading and rejects with `tooLong()`.
 */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  mostBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  // Pieces are copied into blocks. If pieces of a few bytes were kept one by one, they would take a hundred times their
  // size in memory.
  const blocks: Buffer[] = []
  let block = Buffer.allocUnsafe(0)
  let used = 0
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    if (length > mostBytes) throw tooLong()
    if (used + part.length > block.length) {
      if (used > 0) blocks.push(block.subarray(0, used))
      block = Buffer.allocUnsafe(Math.max(part.length, blocks.length === 0 ? firstBlockBytes : blockBytes))
      used = 0
    }
    block.set(part, used)
    used += part.length
  }
  const last = block.subarray(0, used)
  return blocks.length === 0 ? last : Buffer.concat([...blocks, last])
}
