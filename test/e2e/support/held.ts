import type { Page } from 'playwright-core'

/** The frame that the boot script has drawn, while it is on the page. */
export const frame = '#root > [aria-hidden="true"]'

/** Delays a page's requests that match a pattern; the returned function releases them. */
export async function hold(page: Page, pattern: string | RegExp): Promise<() => void> {
  const held = Promise.withResolvers<void>()
  await page.route(pattern, async (route) => {
    await held.promise
    await route.continue()
  })
  return held.resolve
}

/** Opens an address while files that match a pattern are delayed; the returned function releases them. */
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
