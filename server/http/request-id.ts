import type { MiddlewareHandler } from 'hono'
import type { Clock } from '../lib/clock.ts'
import { requestId, requestIdHeader } from '../lib/secrets/ids.ts'
import type { AppEnv } from './app-env.ts'

/** Gives every request an id and sends the id in a response header, as one-api does. */
export function requestIds(clock: Clock): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const id = requestId(clock.nowMs())
    c.set('requestId', id)
    await next()
    c.res.headers.set(requestIdHeader, id)
  }
}
