import { expect } from 'bun:test'
import type { Locator } from 'playwright-core'

/** The file without which a box of choices is a stand-in. */
export const control = '**/assets/combobox-control-*.js'

/** Ends when a list would have opened, which would hide what stands beside it from who hears the page. */
export async function staysShut(box: Locator): Promise<void> {
  await box.page().evaluate(async () => {
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame)
  })
  expect(await box.getAttribute('aria-expanded')).toBe('false')
}
