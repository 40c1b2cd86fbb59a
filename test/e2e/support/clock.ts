import type { Page } from 'playwright-core'
import { patienceMs, untilItPasses } from './eventually.ts'

/** Stops the page's clock, installed by `page.clock.install()`, so that only `runFor` moves it. */
export async function stopClock(page: Page): Promise<void> {
  // The clock runs during the request, and cannot be stopped at a time in the past.
  await untilItPasses(async () => {
    const now = await page.evaluate(() => Date.now())
    await page.clock.pauseAt(now + 500)
  })
}

/**
 * Advances a stopped clock in steps until a condition holds, and returns the milliseconds: at least the time that the
 * page has waited, and more if it was drawing in the meantime.
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

/** Gives the page time to draw and to start its timers, in milliseconds of its stopped clock. */
export async function letDraw(page: Page, ms: number): Promise<void> {
  const frames = 20
  for (let frame = 0; frame < frames; frame++) {
    await page.clock.runFor(ms / frames)
    // Round trips through the page's own task queue, after what is already in it.
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
