import type { MiddlewareHandler } from 'hono'
import type { AppContext, AppEnv } from './app-env.ts'
import { addressKey } from './client-address.ts'
import type { RateLimiter } from './rate-limit.ts'

/**
 * Refuses requests from an address that sends too many, with a Retry-After header. Must be mounted after
 * `clientAddress()`, so that callers cannot use headers to make their requests count against another caller.
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
