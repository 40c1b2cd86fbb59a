import type { Page } from 'playwright-core'

/** Disables the clipboard on pages that are opened afterwards, as browsers do on pages that they do not trust. */
export async function refuseClipboard(page: Page): Promise<void> {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    document.execCommand = () => false
  })
}
