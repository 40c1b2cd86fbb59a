// Steps that bring a page into a state. They work in any language.
import type { Locator, Page } from 'playwright-core'
import { eventually } from './eventually.ts'

/** Waits until a list shows its rows. */
export const rows = (page: Page) => page.locator('.data-table tbody:not([aria-hidden]) tr').first().waitFor()
/** Waits until a list has no rows. */
export const empty = (page: Page) => page.locator('.data-table').waitFor({ state: 'detached' })
/** Waits until the page shows a failure. */
export const failed = (page: Page) => page.locator('main [role="alert"]').first().waitFor()
/** Waits until a form has loaded the item that it edits. */
export const field = (name: string) => (page: Page) => page.locator(`[name="${name}"]`).waitFor()
/** Waits until a dialog or a confirmation is open. */
export const popup = (page: Page) => page.locator('[role="dialog"], [role="alertdialog"]').first().waitFor()
/** Waits until a drawer shows its content. */
export const drawer = (page: Page) => page.getByRole('dialog').locator('dl, h3').first().waitFor()

/** Waits until a drawer shows a list. */
export const drawerList = (page: Page) => page.getByRole('dialog').locator('ul').first().waitFor()

/** Clicks something that opens a dialog or a confirmation. */
export const opens = (find: (page: Page) => Locator) => async (page: Page) => {
  await find(page).click()
  await popup(page)
}

/** Submits invalid values. */
export async function refuse(page: Page): Promise<void> {
  await page.locator('main button[type="submit"]').last().click()
  await page.locator('[aria-invalid="true"], [data-toast]').first().waitFor()
}

/** Opens the menu of the first row. */
export async function menu(page: Page): Promise<void> {
  await rows(page)
  await page.locator('.actions-cell button[aria-haspopup="menu"]').first().click()
  await page.getByRole('menuitem').first().waitFor()
}

/** Chooses an entry of the first row's menu, counting from the end of the menu, and waits for the confirmation. */
export const chooseFromEnd = (nth: number) => async (page: Page) => {
  await menu(page)
  await page.getByRole('menuitem').nth(-nth).click()
  await popup(page)
}

/** Selects the first row. */
export async function select(page: Page): Promise<void> {
  await rows(page)
  await page.locator('tbody .select-cell input').first().check()
}

/** Opens something with the keyboard. */
export const press = (keys: string) => async (page: Page) => {
  await page.locator('h1').first().waitFor()
  await page.keyboard.press(keys)
  await popup(page)
}

/** Opens the list of a select box whose first option is chosen. The list is loaded when the box gets the focus. */
export const openList = (box: string) => async (page: Page) => {
  await page.locator(box).focus()
  const list = page.getByRole('listbox')
  // The key is pressed until the list is open. Before that, it has no effect, because the first option is already
  // chosen.
  await eventually(async () => {
    if ((await list.count()) === 0) await page.locator(box).press('ArrowUp')
    return list.count()
  }).toBe(1)
}
