import type { Locator, Page } from 'playwright-core'

/** The message with these words, of that kind. */
export function toastOf(page: Page, kind: 'success' | 'info' | 'error' | 'warning' | 'notice', text: string): Locator {
  return page.locator(`[data-toast="${kind}"]`).filter({ hasText: text })
}
