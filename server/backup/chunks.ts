import { createCipheriv, createDecipheriv, createHash, type Hash } from 'node:crypto'
import { damagedBackup } from './backup-error.ts'
import { type BackupHeader, headerBytes, magic, mostHeaderBytes, parseHeader } from './header.ts'

/** The number of unencrypted bytes per chunk. */
const chunkBytes = 64 * 1024
const tagBytes = 16
/**
 * A bit that is set in the length field of the last chunk. Without it, a file that was truncated between two chunks
 * would look complete.
 */
const lastMark = 0x8000_0000

/**
 * Writes a backup file: the header, and then the bytes in chunks. With a key, each chunk is encrypted with AES-256-GCM.
 * The nonce of a chunk contains its number and whether it is the last one, and each chunk also authenticates the
 * header. Chunks therefore cannot be exchanged, omitted, repeated or moved to another file. Without a key, the file
 * ends with a SHA-256 of everything before it.
 */
export async function* chunked(
  header: BackupHeader,
  bytes: AsyncIterable<Uint8Array>,
  key: Buffer | undefined,
): AsyncGenerator<Buffer> {
  const head = headerBytes(header)
  const hash = createHash('sha256').update(head)
  const bound = createHash('sha256').update(head).digest()
  const chunk = (plain: Buffer, number: number, isLast: boolean): Buffer => {
    const payload = key ? sealed(plain, key, nonceOf(number, isLast), bound) : plain
    const length = Buffer.alloc(4)
    length.writeUInt32BE((payload.length | (isLast ? lastMark : 0)) >>> 0)
    const whole = Buffer.concat([length, payload])
    hash.update(whole)
    return whole
  }
  yield head
  let number = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of bytes) {
    rest = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece])
    while (rest.length > chunkBytes) {
      yield chunk(rest.subarray(0, chunkBytes), number++, false)
      rest = rest.subarray(chunkBytes)
    }
  }
  yield chunk(rest, number, true)
  if (!key) yield hash.digest()
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(number, 4)
  nonce.writeUInt8(isLast ? 1 : 0, 11)
  return nonce
}

function sealed(plain: Buffer, key: Buffer, nonce: Buffer, bound: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound)
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Reads a stream of pieces of any size in blocks of a given number of bytes. */
class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #rest: Buffer = Buffer.alloc(0)

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** Returns the next `length` bytes, or fewer at the end of the stream. */
  async take(length: number): Promise<Buffer> {
    const parts = [this.#rest]
    let size = this.#rest.length
    while (size < length) {
      const { value, done } = await this.#pieces.next()
      if (done) break
      parts.push(Buffer.from(value))
      size += value.length
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts)
    this.#rest = all.subarray(length)
    return all.subarray(0, length)
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }
}

/** An opened backup file. */
export interface ChunkedFile {
  header: BackupHeader
  /**
   * The content of the file. Throws BackupError if the file is damaged or incomplete. With a key, each chunk is
   * verified before its bytes are returned. Without a key, the checksum is verified before the last bytes are returned.
   */
  bytes(key: Buffer | undefined): AsyncGenerator<Buffer>
  close(): Promise<void>
}

/**
 * Reads the header of a backup. Throws BackupError if the bytes are not a backup, or if the backup has a newer format.
 */
export async function openChunked(pieces: AsyncIterable<Uint8Array>): Promise<ChunkedFile> {
  const reader = new ByteReader(pieces)
  const start = await reader.take(magic.length + 4)
  if (!start.subarray(0, magic.length).equals(magic)) throw damagedBackup('it does not begin like a backup of Tollgate')
  const length = start.length < magic.length + 4 ? 0 : start.readUInt32BE(magic.length)
  if (length === 0 || length > mostHeaderBytes) throw damagedBackup('its header is not complete')
  const json = await reader.take(length)
  if (json.length < length) throw damagedBackup('its header is not complete')
  const header = parseHeader(json)
  const head = Buffer.concat([start, json])
  return { header, bytes: (key) => chunksOf(reader, head, key), close: () => reader.close() }
}

async function* chunksOf(reader: ByteReader, head: Buffer, key: Buffer | undefined): AsyncGenerator<Buffer> {
  const hash = createHash('sha256').update(head)
  const bound = createHash('sha256').update(head).digest()
  const mostBytes = chunkBytes + (key ? tagBytes : 0)
  try {
    for (let number = 0; ; number++) {
      const lengthBytes = await reader.take(4)
      if (lengthBytes.length < 4) throw damagedBackup('it is truncated')
      const marked = lengthBytes.readUInt32BE()
      const isLast = marked >= lastMark
      const length = isLast ? marked - lastMark : marked
      if (length > mostBytes) throw damagedBackup(`chunk ${number} has an impossible length`)
      const payload = await reader.take(length)
      if (payload.length < length) throw damagedBackup('it is truncated')
      hash.update(lengthBytes).update(payload)
      if (!isLast) {
        yield key ? opened(payload, key, nonceOf(number, false), bound, number) : payload
        continue
      }
      const last = key ? opened(payload, key, nonceOf(number, true), bound, number) : payload
      if (!key) await requireHash(reader, hash)
      if ((await reader.take(1)).length > 0) throw damagedBackup('there are bytes after its end')
      yield last
      return
    }
  } finally {
    await reader.close()
  }
}

async function requireHash(reader: ByteReader, hash: Hash): Promise<void> {
  const expected = hash.digest()
  const found = await reader.take(expected.length)
  if (found.length < expected.length) throw damagedBackup('it is truncated')
  if (!found.equals(expected)) throw damagedBackup('its checksum is wrong, so it was changed')
}

function opened(payload: Buffer, key: Buffer, nonce: Buffer, bound: Buffer, number: number): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(bound)
    decipher.setAuthTag(payload.subarray(-tagBytes))
    return Buffer.concat([decipher.update(payload.subarray(0, -tagBytes)), decipher.final()])
  } catch {
    throw damagedBackup(`chunk ${number} was changed`)
  }
}
