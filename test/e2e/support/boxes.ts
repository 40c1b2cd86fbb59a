import { expect } from 'bun:test'
import type { Locator } from 'playwright-core'

/** The file without which a combobox is a placeholder. */
export const control = '**/assets/combobox-control-*.js'

/**
 * Resolves after the time in which a list would have opened, which would hide its surroundings from screen-reader
 * users.
 */
export async function staysShut(box: Locator): Promise<void> {
  await box.page().evaluate(async () => {
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame)
  })
  expect(await box.getAttribute('aria-expanded')).toBe('false')
}
