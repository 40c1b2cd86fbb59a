import type { Page } from 'playwright-core'

/** The frame drawn by the boot script; it matches only while the frame is on the page. */
export const frame = '#root > [aria-hidden="true"]'

/** Delays a page's requests that match a pattern, and returns a function that releases them. */
export async function hold(page: Page, pattern: string | RegExp): Promise<() => void> {
  const held = Promise.withResolvers<void>()
  await page.route(pattern, async (route) => {
    await held.promise
    await route.continue()
  })
  return held.resolve
}

/**
 * Opens a page while the files that match a pattern are delayed. The returned function releases them and waits for the
 * page's heading.
 */
export async function openHeld(
  page: Page,
  path: string,
  files: string | RegExp = '**/assets/core-*.js',
): Promise<() => Promise<void>> {
  const letGo = await hold(page, files)
  await page.goto(path, { waitUntil: 'commit' })
  return async () => {
    letGo()
    await page.locator('main h1').waitFor()
    await page.unroute(files)
  }
}
