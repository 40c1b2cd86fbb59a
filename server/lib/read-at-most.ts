/** Reads a body to its end. Rejects with `tooLong()` when it has more than so many bytes, and stops reading. */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  mostBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    if (length > mostBytes) throw tooLong()
    // The runtime may reuse the memory of a piece when the next is read.
    parts.push(part.slice())
  }
  return Buffer.concat(parts)
}
