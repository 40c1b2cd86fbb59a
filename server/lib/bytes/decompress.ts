import { Readable, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { ZstdFrames } from './zstd-frames.ts'

/** A body may decompress to `freeBytes` or to `mostTimes` times its compressed length, whichever is more. */
const freeBytes = 1024 * 1024
const mostTimes = 100
/** The base-2 logarithm of the largest accepted zstd window. It is limited because the window is kept in memory. */
const windowLog = 24

const decompressors: Readonly<Record<string, (first: number, second: number) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: windowLog } }),
  // Some servers omit the zlib header that `deflate` requires (RFC 9110, 8.4.1.2).
  deflate: (first, second) =>
    (first & 15) === 8 && (first * 256 + second) % 31 === 0 ? createInflate() : createInflateRaw(),
}

/**
 * Creates the errors for a body that decompresses to more than is allowed, and for a body that cannot be decompressed.
 */
export interface DecompressionFaults {
  tooLarge(): Error
  damaged(cause: unknown): Error
}

/**
 * The compression of a body; undefined if there is none. Throws `unknown()` for an unsupported compression, and for
 * several compressions at once.
 */
export function contentCodingOf(headers: Headers, unknown: () => Error): string | undefined {
  const encoding = headers.get('content-encoding')
  if (encoding === null) return undefined
  const named = encoding.split(',').map((each) => each.trim().toLowerCase())
  const [coding, ...others] = named.filter((each) => each !== '' && each !== 'identity')
  if (coding === undefined) return undefined
  if (others.length === 0 && Object.hasOwn(decompressors, coding)) return coding
  throw unknown()
}

/**
 * Decompresses a body piece by piece, only as fast as it is read. Fails with one of `faults`, or with the body's own
 * error. `coding` is the result of `contentCodingOf`.
 */
export function decompressed(
  body: ReadableStream<Uint8Array>,
  coding: string,
  faults: DecompressionFaults,
): ReadableStream<Uint8Array> {
  // The compressed body is cancelled directly. Ending the generator would not cancel it while the generator waits for
  // bytes, or before anything has been read.
  const compressed = new CompressedBody(body, coding === 'zstd')
  const pieces = decompressedPieces(compressed, coding, faults)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => compressed.cancel(),
    },
    { highWaterMark: 0 },
  )
}

async function* decompressedPieces(
  compressed: CompressedBody,
  coding: string,
  faults: DecompressionFaults,
): AsyncGenerator<Uint8Array, undefined> {
  const decompressor = decompressors[coding]?.(...(await compressed.begin()))
  if (!decompressor) return
  const source = Readable.from(compressed.pieces(), { objectMode: false })
  source.on('error', (error) => decompressor.destroy(error))
  source.pipe(decompressor)
  let length = 0
  let isTooLarge = false
  try {
    for await (const piece of decompressor as AsyncIterable<Uint8Array>) {
      length += piece.length
      isTooLarge = length > Math.max(freeBytes, compressed.length * mostTimes)
      if (isTooLarge) break
      yield piece
    }
  } catch (error) {
    throw compressed.hasFailed ? error : faults.damaged(error)
  } finally {
    await compressed.cancel()
    source.destroy()
    decompressor.destroy()
  }
  if (isTooLarge) throw faults.tooLarge()
  if (coding === 'zstd' && !(compressed.frames.isWhole && length > 0)) throw faults.damaged(undefined)
}

/** Reads a compressed body and counts its bytes. */
class CompressedBody {
  length = 0
  hasFailed = false
  readonly frames = new ZstdFrames()
  readonly #reader: Reader
  readonly #isZstd: boolean
  #first = new Uint8Array(0)

  constructor(body: ReadableStream<Uint8Array>, isZstd: boolean) {
    this.#reader = body.getReader() as Reader
    this.#isZstd = isZstd
  }

  /** Reads the first two bytes, which distinguish the formats. */
  async begin(): Promise<[first: number, second: number]> {
    while (this.#first.length < 2) {
      const { done, value } = await this.#reader.read()
      if (done || !value) break
      this.#first = Buffer.concat([this.#first, value])
    }
    return [this.#first[0] ?? 0, this.#first[1] ?? 0]
  }

  async *pieces(): AsyncGenerator<Uint8Array, undefined> {
    try {
      yield this.#counted(this.#first)
      for (;;) {
        const { done, value } = await this.#reader.read()
        if (done || !value) return
        yield this.#counted(value)
      }
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  /** Cancels the body. This also ends a read that is waiting. */
  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined)
  }

  #counted(piece: Uint8Array): Uint8Array {
    this.length += piece.length
    if (this.#isZstd) this.frames.push(piece)
    return piece
  }
}

/**
 * The methods of a stream reader that `CompressedBody` uses. The types of the other methods differ between the runtime
 * and the type library.
 */
interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}
