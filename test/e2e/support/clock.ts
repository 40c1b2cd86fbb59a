import type { Page } from 'playwright-core'
import { patienceMs, untilItPasses } from './eventually.ts'

/** Stops the page's clock, which `page.clock.install()` has installed, so that only `runFor` advances it. */
export async function stopClock(page: Page): Promise<void> {
  // `pauseAt` needs a time in the future, and the clock runs until the call arrives. So the clock is paused 500 ms
  // ahead, and the call is repeated if it arrives later.
  await untilItPasses(async () => {
    const now = await page.evaluate(() => Date.now())
    await page.clock.pauseAt(now + 500)
  })
}

/**
 * Advances a stopped clock in steps until a condition holds, and returns the milliseconds advanced. The page may need
 * less time than the result, because the clock also advances while the page is drawing.
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

/** Gives the page time to draw and to start its timers, while its stopped clock advances by `ms`. */
export async function letDraw(page: Page, ms: number): Promise<void> {
  const frames = 20
  for (let frame = 0; frame < frames; frame++) {
    await page.clock.runFor(ms / frames)
    // Queues a task in the page and waits for it, so that all tasks queued before it have run.
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
