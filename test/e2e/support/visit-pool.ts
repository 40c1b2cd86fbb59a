import type { Console, Visit } from './console.ts'
import type { Screen } from './screen.ts'

interface Pooled {
  readonly visit: Visit
  readonly console: Console
  readonly username: string | undefined
}

/**
 * Visits that several screens use one after the other, because a new one takes as much CPU time as two pages. Each
 * screen finds the browser's storage as on the first visit.
 */
export class VisitPool {
  readonly #free: Pooled[] = []

  /** Runs `look` with a visit as the screen's account; throws if the page had errors that the screen does not expect. */
  async with<T>(console: Console, screen: Screen, look: (visit: Visit) => Promise<T>): Promise<T> {
    const expected = screen.fails ? /status of 502/ : (screen.says ?? screen.opens)
    const pooled = await this.#take(console, screen)
    const { visit } = pooled
    visit.expectErrors(expected)
    let isReusable = false
    try {
      const found = await look(visit)
      if (screen.isLeftChanged !== true) {
        await clean(visit)
        visit.check()
        isReusable = true
        this.#free.push(pooled)
      }
      return found
    } finally {
      if (!isReusable) await visit[Symbol.asyncDispose]()
    }
  }

  /** Closes all visits. */
  async close(): Promise<void> {
    await Promise.all(this.#free.splice(0).map(({ visit }) => visit[Symbol.asyncDispose]()))
  }

  async #take(console: Console, { as, only }: Screen): Promise<Pooled> {
    const place = this.#free.findIndex((each) => each.console === console && each.username === as?.username)
    const width = only === 'narrow' ? 390 : 1366
    const [free] = place < 0 ? [] : this.#free.splice(place, 1)
    if (free) {
      await free.visit.page.setViewportSize({ width, height: 860 })
      return free
    }
    const visit = await console.visit({ ...(as && { as }), language: 'en', theme: 'light', width })
    return { visit, console, username: as?.username }
  }
}

/** Ends the page and empties the browser's storage, except for the login. */
async function clean({ page, context }: Visit): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  const { origin } = new URL(page.url())
  await page.evaluate(() => sessionStorage.clear())
  await page.goto('about:blank')
  const session = await context.newCDPSession(page)
  const storageTypes = 'local_storage,indexeddb,cache_storage,service_workers'
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes })
  await session.detach()
}
