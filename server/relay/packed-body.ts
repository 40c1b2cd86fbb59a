import { GatewayError } from '../errors.ts'
import { packingOf, unpacked } from '../lib/unpack.ts'
import { type BodyLimits, tooLarge } from './body-limits.ts'

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
    new GatewayError('invalid_json', `the request body cannot be unpacked (${packing})`, { cause })
  const body = unpacked(request.body, packing, { tooLarge: () => tooLarge(limits.bytes), damaged })
  return { source: { body, bytes: () => new Response(body).bytes() }, limits: { ...limits, declared: Number.NaN } }
}

function unknownPacking(): GatewayError {
  return new GatewayError(
    'unsupported_media_type',
    'a body may be packed with gzip, deflate, br or zstd, in one of them alone: send it so, or as it is',
  )
}
