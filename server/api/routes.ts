import type { Hono } from 'hono'
import { refusalBody, tooManyRequests } from '../http/api-failure.ts'
import type { AppEnv } from '../http/app-env.ts'
import { clientAddress } from '../http/client-address.ts'
import { limitByAddress } from '../http/limit-by-address.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { ApiRouter } from '../http/serve-endpoint.ts'
import { createSessions } from '../http/session.ts'
import { unknownPath } from '../http/unknown-path.ts'
import { mountAlerts } from './alert/routes.ts'
import { mountAudit } from './audit/routes.ts'
import { mountAuth } from './auth/routes.ts'
import { mountBackups } from './backup/routes.ts'
import { mountCaptures } from './capture/routes.ts'
import { mountChannels } from './channel/routes.ts'
import { mountConfig } from './config/routes.ts'
import { type ApiDeps, announcer } from './deps.ts'
import { mountDoctor } from './doctor/routes.ts'
import { mountGroups } from './group/routes.ts'
import { mountImports } from './import/routes.ts'
import { mountLogs } from './log/routes.ts'
import { mountLogCopy } from './log-copy/routes.ts'
import { mountModels } from './model/routes.ts'
import { mountOAuth } from './oauth/routes.ts'
import { mountOpenApi } from './openapi/routes.ts'
import { mountOptions } from './option/routes.ts'
import { mountOverview } from './overview/routes.ts'
import { mountPrices } from './price/routes.ts'
import { mountRedemptions } from './redemption/routes.ts'
import { mountTopUps } from './redemption/top-up-routes.ts'
import { mountStatus } from './status/routes.ts'
import { mountStatusPage } from './status/status-page-routes.ts'
import { mountTokens } from './token/routes.ts'
import { mountUsage } from './usage/routes.ts'
import { mountUsers } from './user/routes.ts'
import { mountSelf } from './user/self-routes.ts'
import { mountVirtualModels } from './virtual-model/routes.ts'

const apiRule = { limit: 480, windowMs: 180_000 }
const leastBodyTimeMs = 1000
const criticalRule = { limit: 20, windowMs: 1_200_000 }

/**
 * The management API: everything under /api. It also handles unknown paths, so nothing may be mounted there after it.
 */
export function mountApi(app: Hono<AppEnv>, deps: ApiDeps): void {
  const { clock, warn } = deps
  const apiLimit = createRateLimiter(deps.rateRules?.api ?? apiRule, clock)
  // The limits and the audit log read the caller's address.
  app.use('/api/*', clientAddress(deps.trustedProxies))
  app.use(
    '/api/*',
    limitByAddress(apiLimit, (c, wait) => c.json(refusalBody(tooManyRequests(wait).message), 429)),
  )

  const sessions = createSessions(deps)
  const criticalLimit = createRateLimiter(deps.rateRules?.critical ?? criticalRule, clock)
  const bodyTimeMs = () => {
    const { CallerIdleTimeout } = deps.settings.current()
    // There is a minimum, so that even with a very short timeout a request that corrects the setting succeeds.
    return CallerIdleTimeout > 0 ? Math.max(leastBodyTimeMs, CallerIdleTimeout * 1000) : 0
  }
  const router: ApiRouter = { app, sessions, criticalLimit, warn, bodyTimeMs, turns: deps.turns }
  const announce = announcer(deps)
  mountStatus(router, deps)
  mountStatusPage(router, deps)
  mountAuth(router, { ...deps, announce })
  mountOAuth(router, { ...deps, announce })
  // Mounted before the user routes, because GET /api/user/{id} would treat `dashboard` as an id.
  mountLogs(router, deps)
  mountUsage(router, deps)
  mountOverview(router, deps)
  mountSelf(router, { ...deps, announce })
  mountUsers(router, { ...deps, announce })
  mountTokens(router, { ...deps, announce })
  mountChannels(router, { ...deps, announce })
  mountOptions(router, { ...deps, announce })
  mountConfig(router, deps)
  mountDoctor(router, deps)
  mountGroups(router, deps)
  mountPrices(router, deps)
  mountAlerts(router, deps)
  mountModels(router, deps)
  mountVirtualModels(router, { ...deps, announce })
  mountAudit(router, deps)
  mountBackups(router, deps)
  mountLogCopy(router, deps)
  mountImports(router, deps)
  mountCaptures(router, { ...deps, announce })
  mountRedemptions(router, deps)
  mountTopUps(router, { ...deps, announce })
  mountOpenApi(router, deps)

  app.all('/api', (c) => unknownPath(c))
  app.all('/api/*', (c) => unknownPath(c))
}
