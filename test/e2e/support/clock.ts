import type { Page } from 'playwright-core'

/** Stops the page's clock, which `page.clock.install()` has made ours, so that only `runFor` moves it. */
export async function stopClock(page: Page): Promise<void> {
  const now = await page.evaluate(() => Date.now())
  await page.clock.pauseAt(now + 500)
}
