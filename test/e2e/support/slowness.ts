import type { BrowserContext, Page, Route } from 'playwright-core'
import { seeded } from '../../fuzz/random.ts'

const asked = (name: string) => Number(process.env[name] ?? 0)
const slow = { callsMs: asked('SLOW_CALLS'), partsMs: asked('SLOW_PARTS'), cpu: asked('SLOW_CPU') }
const random = seeded(asked('SLOW_SEED'))

const calls = /\/(?:api|v1)\//
const parts = /\/assets\/[^/]+\.(?:js|css)$/

/**
 * Slows a page down as configured by environment variables, to expose race conditions that a user with a slow
 * connection would see. Each response is delayed by a random time of up to twice the configured delay, so responses may
 * arrive in another order.
 */
export async function slowDown(context: BrowserContext, page: Page): Promise<void> {
  for (const [pattern, lateMs] of [[calls, slow.callsMs] as const, [parts, slow.partsMs] as const]) {
    if (lateMs === 0) continue
    await context.route(pattern, async (route: Route) => {
      await new Promise((done) => setTimeout(done, random.int(2 * lateMs)))
      // The visit may have ended by now.
      await route.continue().catch(() => undefined)
    })
  }
  if (slow.cpu === 0) return
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slow.cpu })
}
