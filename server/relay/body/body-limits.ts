import { GatewayError } from '../../errors.ts'
import { bodyTimeMs } from '../../lib/body-time.ts'
import { contentCodingOf, decompressed } from '../../lib/bytes/decompress.ts'
import type { Settings } from '../../settings/settings.ts'

/** The limits on the body of one request. */
export interface BodyLimits {
  /** The maximum size in bytes. */
  bytes: number
  /** Content-Length; NaN if there is none. */
  declared: number
  /** How long the body may take to arrive, in milliseconds; 0 = no limit. */
  timeMs: number
}

/** The limits on a request's body. Throws GatewayError request_too_large if its Content-Length exceeds them. */
export function bodyLimits(
  request: Request,
  { RequestSizeLimit: bytes, CallerIdleTimeout }: Pick<Settings, 'RequestSizeLimit' | 'CallerIdleTimeout'>,
): BodyLimits {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > bytes) throw tooLarge(bytes)
  return { bytes, declared, timeMs: bodyTimeMs(CallerIdleTimeout * 1000, declared >= 0 ? declared : bytes) }
}

/** The error for a body larger than the given number of bytes. */
export function tooLarge(bytes: number): GatewayError {
  return new GatewayError('request_too_large', `the request is larger than ${bytes} bytes`)
}

/** The error for a body that did not arrive in time. */
export function tooSlow(): GatewayError {
  return new GatewayError('request_timeout', 'the request body did not arrive in time')
}

/** The members of a request that are used to read its body. */
export type BodySource = Pick<Request, 'body' | 'bytes'>

/**
 * The decompressed body of a request, and its limits. A decompressed body has the same limits as any other body. Throws
 * GatewayError unsupported_media_type for an unknown compression. Reading the body can also fail with a GatewayError.
 */
export function decompressedBody(request: Request, limits: BodyLimits): { source: BodySource; limits: BodyLimits } {
  const coding = contentCodingOf(request.headers, unknownCoding)
  if (coding === undefined || !request.body) return { source: request, limits }
  const damaged = (cause: unknown) =>
    new GatewayError('invalid_json', `the request body is not valid ${coding}`, { cause })
  const body = decompressed(request.body, coding, { tooLarge: expandsTooFar, damaged })
  return { source: { body, bytes: () => new Response(body).bytes() }, limits: { ...limits, declared: Number.NaN } }
}

function expandsTooFar(): GatewayError {
  return new GatewayError(
    'request_too_large',
    'the request body decompresses to more than 100 times its size: send it uncompressed',
  )
}

function unknownCoding(): GatewayError {
  return new GatewayError(
    'unsupported_media_type',
    'compress the body with gzip, deflate, br or zstd, or send it uncompressed',
  )
}
