import type { Clock } from '../lib/clock.ts'
import { createRateLimiter, type RateLimiter, type RateRule } from './rate-limit.ts'

const apiWindowMs = 180_000
const criticalWindowMs = 1_200_000

type Rules = Record<'api' | 'web' | 'critical', RateRule>

/** The limits on requests per client address. */
export function rateRules({ rateLimits }: { rateLimits: Record<keyof Rules, number> }): Rules {
  return {
    api: { limit: rateLimits.api, windowMs: apiWindowMs },
    web: { limit: rateLimits.web, windowMs: apiWindowMs },
    critical: { limit: rateLimits.critical, windowMs: criticalWindowMs },
  }
}

/** The limiters for requests outside the management API. */
export function rateLimiters({ api, web }: Rules, clock: Clock): Record<'billing' | 'web', RateLimiter> {
  return { billing: createRateLimiter(api, clock), web: createRateLimiter(web, clock) }
}
