import type { MiddlewareHandler } from 'hono'
import type { AppContext, AppEnv } from './app-env.ts'
import { addressKey } from './client-address.ts'
import type { RateLimiter } from './rate-limit.ts'

/**
 * Refuses an address that sends requests too often, with Retry-After. Mounted after `clientAddress()`, so that callers
 * cannot set headers that make their requests count against another caller.
 */
export function limitByAddress(
  limiter: RateLimiter,
  refuse: (c: AppContext, waitSeconds: number) => Response,
): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const wait = limiter.take(addressKey(c.get('clientAddress')))
    if (wait === 0) return next()
    const response = refuse(c, wait)
    response.headers.set('Retry-After', String(wait))
    return response
  }
}
