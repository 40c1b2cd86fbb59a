import { GatewayError } from '../../errors.ts'
import { packingOf, unpacked } from '../../lib/bytes/unpack.ts'
import type { BodyLimits } from './body-limits.ts'

/** The parts of a request that are read here. */
export type BodySource = Pick<Request, 'body' | 'bytes'>

/**
 * The decompressed body of a request, and its limits: decompressed data has the limits of any other body. Throws
 * GatewayError unsupported_media_type for an unknown compression; reading fails with GatewayError.
 */
export function unpackedBody(request: Request, limits: BodyLimits): { source: BodySource; limits: BodyLimits } {
  const packing = packingOf(request.headers, unknownPacking)
  if (packing === undefined || !request.body) return { source: request, limits }
  const damaged = (cause: unknown) =>
    new GatewayError('invalid_json', `the request body is not valid ${packing}`, { cause })
  const body = unpacked(request.body, packing, { tooLarge: expandsTooFar, damaged })
  return { source: { body, bytes: () => new Response(body).bytes() }, limits: { ...limits, declared: Number.NaN } }
}

function expandsTooFar(): GatewayError {
  return new GatewayError(
    'request_too_large',
    'the request body expands to more than 100 times its compressed size: send it uncompressed',
  )
}

function unknownPacking(): GatewayError {
  return new GatewayError(
    'unsupported_media_type',
    'compress the body with one of gzip, deflate, br or zstd, or send it uncompressed',
  )
}
