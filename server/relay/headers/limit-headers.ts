import type { LimitField } from '../../../contract/limits.ts'
import type { CallLimits } from '../../billing/limits.ts'
import type { Minute } from '../../store/schema/ledger-types.ts'

const kinds = [
  { name: 'requests', field: 'rpm_limit', used: 'calls', reset: 'callsReset' },
  { name: 'tokens', field: 'tpm_limit', used: 'tokens', reset: 'tokensReset' },
] as const satisfies { name: string; field: LimitField; used: keyof Minute; reset: keyof Minute }[]

/** The names of the headers from `limitHeaders`. Web pages of other sites may read them. */
export const limitHeaderNames = [
  ...kinds.flatMap(({ name }) => ['limit', 'remaining', 'reset'].map((part) => `x-ratelimit-${part}-${name}`)),
]

/** True if one of the limits is reported in headers. */
export function hasMinuteLimit({ token, user }: CallLimits): boolean {
  return kinds.some(({ field }) => (token?.[field] ?? 0) > 0 || (user?.[field] ?? 0) > 0)
}

/**
 * The state of the per-minute limits, in OpenAI's headers. If both the token and its user have a limit, the headers
 * report the one with less remaining.
 */
export function limitHeaders(limits: CallLimits): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { name, field, used, reset } of kinds) {
    const stands = (['token', 'user'] as const).flatMap((owner) => {
      const limit = limits[owner]?.[field] ?? 0
      const minute = limits.minutes?.[owner]
      return limit > 0 && minute ? [{ limit, left: Math.max(0, limit - minute[used]), seconds: minute[reset] }] : []
    })
    const [tightest] = stands.sort((a, b) => a.left - b.left)
    if (!tightest) continue
    headers[`x-ratelimit-limit-${name}`] = String(tightest.limit)
    headers[`x-ratelimit-remaining-${name}`] = String(tightest.left)
    headers[`x-ratelimit-reset-${name}`] = duration(tightest.seconds)
  }
  return headers
}

/** Whole seconds in OpenAI's format: `1s`, `6m0s`. */
function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds % 60}s`
}
