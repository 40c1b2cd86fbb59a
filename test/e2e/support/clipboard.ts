import type { Page } from 'playwright-core'

/** Disables the clipboard on pages that are opened from now on, as browsers do on insecure pages. */
export async function refuseClipboard(page: Page): Promise<void> {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    document.execCommand = () => false
  })
}
