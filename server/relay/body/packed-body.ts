import { GatewayError } from '../../errors.ts'
import { packingOf, unpacked } from '../../lib/bytes/unpack.ts'
import type { BodyLimits } from './body-limits.ts'

/** What is read of a request. */
export type BodySource = Pick<Request, 'body' | 'bytes'>

/**
 * The body of a request as if it had not been packed, and its limits: what it unpacks to has those of any other. Throws
 * GatewayError unsupported_media_type for a way of packing that is not known; reading fails with GatewayError.
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
