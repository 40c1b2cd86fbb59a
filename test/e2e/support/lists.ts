import type { Locator, Page } from 'playwright-core'

/** The rows of the list on the page. */
export function rowsOf(page: Page): Locator {
  return page.locator('.data-table tbody:not([aria-hidden]) tr')
}

/** The row with this name. */
export function rowOf(page: Page, name: string): Locator {
  return rowsOf(page).filter({ has: page.getByRole('rowheader', { name, exact: true }) })
}

/** Opens the menu of a row and chooses an entry. */
export async function choose(page: Page, row: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${row}`, exact: true }).click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}
