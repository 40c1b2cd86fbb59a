import { timingSafeEqual } from 'node:crypto'
import type { Hono } from 'hono'
import ipaddr from 'ipaddr.js'
import { isMigrated } from '../store/migrations/migrate.ts'
import type { Store } from '../store/store.ts'
import type { AppEnv } from './app-env.ts'

interface HealthDeps {
  store: Store
  metrics: { text(): Promise<string>; contentType: string }
  /** The bearer token for /metrics. If there is no token, only this machine may read the metrics. */
  metricsToken: string | undefined
  draining(): boolean
  /** False while writes fail, for example because of a full disk or a read-only database. */
  canWrite(): boolean
}

/**
 * Adds `/healthz` (the process is alive), `/readyz` (the database responds, is up to date and can be written) and
 * `/metrics` (Prometheus).
 */
export function mountHealth(app: Hono<AppEnv>, deps: HealthDeps): void {
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    if (deps.draining()) return c.json({ status: 'draining' }, 503)
    const isThere = await isMigrated(deps.store).catch(() => false)
    if (!isThere) return c.json({ status: 'the database cannot be reached or is not up to date' }, 503)
    return deps.canWrite() ? c.json({ status: 'ready' }) : c.json({ status: 'the database cannot be written' }, 503)
  })
  app.get('/metrics', async (c) => {
    const allowed =
      deps.metricsToken === undefined
        ? isLoopback(c.env?.socketAddress)
        : sameText(c.req.header('authorization') ?? '', `Bearer ${deps.metricsToken}`)
    if (!allowed)
      return c.json({ message: 'set METRICS_TOKEN and send it as a bearer token, or ask from this machine' }, 403)
    return c.body(await deps.metrics.text(), 200, { 'content-type': deps.metrics.contentType })
  })
}

/**
 * True for an address of this machine. The address must be that of the socket's peer, not from a header. All requests
 * through a proxy on this machine have such an address, so an operator of such a proxy must set a token.
 */
function isLoopback(address: string | undefined): boolean {
  return address !== undefined && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
