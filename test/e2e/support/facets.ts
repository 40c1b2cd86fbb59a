import type { Locator, Page } from 'playwright-core'

/** The button of a facet, with any selected values. */
export function facet(page: Page, label: string): Locator {
  const bar = page.getByRole('group', { name: 'Filters', exact: true })
  return bar.getByRole('button', { name: new RegExp(`^${label}($| is )`) })
}

/** Ticks values of a facet, each found by its name, and closes its panel. */
export async function chooseFacet(page: Page, label: string, ...values: string[]): Promise<void> {
  await facet(page, label).click()
  const search = page.getByRole('combobox', { name: /^Search (?:models|tokens|projects|users|channels|groups)$/ })
  for (const value of values) {
    await search.fill(value)
    await page
      .locator('[role="option"]')
      .filter({ hasText: new RegExp(`^${value}[\\d,]*$`) })
      .first()
      .click()
  }
  await page.keyboard.press('Escape')
  await search.waitFor({ state: 'detached' })
}
