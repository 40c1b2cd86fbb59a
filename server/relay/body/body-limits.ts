import { GatewayError } from '../../errors.ts'
import { bodyTimeMs } from '../../lib/body-time.ts'
import type { Settings } from '../../settings/settings.ts'

/** What the body of one request may be. */
export interface BodyLimits {
  /** Most bytes. */
  bytes: number
  /** Bytes that its sender said it has; NaN when it did not say. */
  declared: number
  /** How long it may take to arrive; 0 = any time. */
  timeMs: number
}

/** The limits of a request's body. Throws GatewayError request_too_large for one that says so itself. */
export function bodyLimits(
  request: Request,
  { RequestSizeLimit: bytes, CallerIdleTimeout }: Pick<Settings, 'RequestSizeLimit' | 'CallerIdleTimeout'>,
): BodyLimits {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > bytes) throw tooLarge(bytes)
  return { bytes, declared, timeMs: bodyTimeMs(CallerIdleTimeout * 1000, declared >= 0 ? declared : bytes) }
}

/** What is said to a caller whose body is larger than so many bytes. */
export function tooLarge(bytes: number): GatewayError {
  return new GatewayError('request_too_large', `the request is larger than ${bytes} bytes`)
}

/** What is said to a caller whose body did not arrive in time. */
export function tooSlow(): GatewayError {
  return new GatewayError('request_timeout', 'the request body did not arrive in time')
}
