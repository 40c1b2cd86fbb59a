import type { Page } from 'playwright-core'

/** What the first script has drawn, while it stands there. */
export const frame = '#root > [aria-hidden="true"]'

/** Opens an address while the files of a pattern are held back; the function that comes back lets them go. */
export async function openHeld(
  page: Page,
  path: string,
  files: string | RegExp = '**/assets/core-*.js',
): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  await page.route(files, async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto(path, { waitUntil: 'commit' })
  return async () => {
    held.resolve()
    await page.locator('main h1').waitFor()
    await page.unroute(files)
  }
}
