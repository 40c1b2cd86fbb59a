import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { GatewayError } from '../errors.ts'
import { inTime } from '../lib/body-time.ts'
import { readAtMost } from '../lib/read-at-most.ts'
import { type BodyLimits, tooLarge, tooSlow } from './body-limits.ts'

/** A short body may unpack to so much, however well it was packed; a longer one to so many times its length. */
const freeBytes = 1024 * 1024
const mostTimes = 100
/** Unpacking takes milliseconds; who needs longer than this sends no request. */
const unpackMs = 10_000
/** Base-2 logarithm of the longest distance that zstd may look back, which is memory here. */
const windowLog = 24

const unpackers: Readonly<Record<string, (first: number, second: number) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: windowLog } }),
  // Some leave out the head that the name asks for (RFC 9110, 8.4.1.2).
  deflate: (first, second) =>
    (first & 15) === 8 && (first * 256 + second) % 31 === 0 ? createInflate() : createInflateRaw(),
}

/** How a body is packed; undefined = not at all. Throws GatewayError unsupported_media_type for a way that is not known. */
export function packingOf(request: Request): string | undefined {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return undefined
  if (Object.hasOwn(unpackers, encoding)) return encoding
  throw new GatewayError(
    'unsupported_media_type',
    'a body may be packed with gzip, deflate, br or zstd, in one of them alone: send it so, or as it is',
  )
}

/** Reads and unpacks a body. What it unpacks to has the limits of a body that was not packed. Throws GatewayError. */
export async function readPacked(request: Request, packing: string, limits: BodyLimits): Promise<Uint8Array> {
  const pieces = readAtMost(request.body, limits.bytes, () => tooLarge(limits.bytes))
  const packed = await inTime(pieces, limits.timeMs, tooSlow)
  const unpacker = unpackers[packing]?.(packed[0] ?? 0, packed[1] ?? 0)
  if (!unpacker) return packed
  const mostBytes = Math.min(limits.bytes, Math.max(freeBytes, packed.length * mostTimes))
  try {
    unpacker.end(packed)
    return await inTime(collect(unpacker, mostBytes), unpackMs, tooSlow)
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new GatewayError('invalid_json', `the request body cannot be unpacked (${packing})`, { cause: error })
  } finally {
    unpacker.destroy()
  }
}

async function collect(unpacker: Transform, mostBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of unpacker as AsyncIterable<Uint8Array>) {
    length += piece.length
    if (length > mostBytes) throw tooLarge(mostBytes)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
