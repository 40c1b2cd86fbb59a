import type { Page } from 'playwright-core'
import { patienceMs, untilItPasses } from './eventually.ts'

/** Stops the page's clock, which `page.clock.install()` has installed, so that only `runFor` advances it. */
export async function stopClock(page: Page): Promise<void> {
  // The clock runs during the request, and it cannot be stopped at a time in the past.
  await untilItPasses(async () => {
    const now = await page.evaluate(() => Date.now())
    await page.clock.pauseAt(now + 500)
  })
}

/**
 * Advances a stopped clock in steps until a condition holds, and returns the milliseconds. The result is at least the
 * time that the page has waited, and more if the page was drawing in the meantime.
 */
export async function runUntil(page: Page, stepMs: number, isSo: () => Promise<boolean>): Promise<number> {
  const end = performance.now() + 4 * patienceMs
  let ranMs = 0
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not so after ${ranMs} ms of the page's clock`)
    await page.clock.runFor(stepMs)
    ranMs += stepMs
  }
  return ranMs
}

/** Gives the page time to draw and to start its timers; `ms` is on its stopped clock. */
export async function letDraw(page: Page, ms: number): Promise<void> {
  const frames = 20
  for (let frame = 0; frame < frames; frame++) {
    await page.clock.runFor(ms / frames)
    // A round trip through the page's own task queue, behind the tasks that are already in it.
    await page.evaluate(
      () =>
        new Promise<void>((done) => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => done()
          port2.postMessage(undefined)
        }),
    )
  }
}
