import { expect } from 'bun:test'
import type { Locator } from 'playwright-core'

/** The file that must load before a placeholder becomes a combobox. */
export const control = '**/assets/combobox-control-*.js'

/**
 * Checks that a list stays closed for as long as it could still have opened. An open list would hide the rest of the
 * page from screen-reader users.
 */
export async function staysShut(box: Locator): Promise<void> {
  await box.page().evaluate(async () => {
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame)
  })
  expect(await box.getAttribute('aria-expanded')).toBe('false')
}
