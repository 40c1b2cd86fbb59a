import { GatewayError } from '../../errors.ts'
import { bodyTimeMs } from '../../lib/body-time.ts'
import type { Settings } from '../../settings/settings.ts'

/** The limits of one request's body. */
export interface BodyLimits {
  /** Most bytes. */
  bytes: number
  /** Content-Length; NaN if there is none. */
  declared: number
  /** How long it may take to arrive; 0 = no limit. */
  timeMs: number
}

/** The limits of a request's body. Throws GatewayError request_too_large if its Content-Length exceeds them. */
export function bodyLimits(
  request: Request,
  { RequestSizeLimit: bytes, CallerIdleTimeout }: Pick<Settings, 'RequestSizeLimit' | 'CallerIdleTimeout'>,
): BodyLimits {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > bytes) throw tooLarge(bytes)
  return { bytes, declared, timeMs: bodyTimeMs(CallerIdleTimeout * 1000, declared >= 0 ? declared : bytes) }
}

/** The error for a body of more than that many bytes. */
export function tooLarge(bytes: number): GatewayError {
  return new GatewayError('request_too_large', `the request is larger than ${bytes} bytes`)
}

/** The error for a body that did not arrive in time. */
export function tooSlow(): GatewayError {
  return new GatewayError('request_timeout', 'the request body did not arrive in time')
}
