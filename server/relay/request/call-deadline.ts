import { GatewayError } from '../../errors.ts'

/** The header that states how many seconds a call may take, according to its caller. */
const timeoutHeader = 'x-tollgate-timeout'

const mostSeconds = 86_400

/**
 * When the call must have ended, according to its caller; undefined = the caller sets no limit. Throws GatewayError
 * (400).
 */
export function deadlineIn(headers: Headers, arrivedAtMs: number): number | undefined {
  const text = headers.get(timeoutHeader)
  if (text === null) return undefined
  const limit = /^\d{1,5}(?:\.\d{1,3})?$/.test(text.trim()) ? Number(text) : 0
  if (limit > 0 && limit <= mostSeconds) return arrivedAtMs + limit * 1000
  throw new GatewayError(
    'invalid_field_value',
    `the header ${timeoutHeader} must be a number of seconds, more than 0 and at most ${mostSeconds}`,
    { param: timeoutHeader },
  )
}
