// The focus stays where the user is: on a button that cannot be used any more, and in a list whose row was removed.
import { beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { hold } from './support/held.ts'

const site = openConsole()
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const isFocused = (control: Locator) => control.evaluate((it) => it === document.activeElement)

beforeAll(async () => {
  const channel = { type: 8, key: 'k', models: 'm', group: 'default', base_url: 'http://127.0.0.1:1' }
  for (let index = 1; index <= 21; index++)
    await site.api('POST', '/api/channel/', { ...channel, name: `number ${index}` })
})

/** Presses a button with the keyboard until it is disabled, and expects that it kept the focus and does nothing. */
async function pressToTheEnd(page: Page, name: string, presses: number, end: string): Promise<void> {
  const pressed = button(page, name)
  await pressed.focus()
  for (let index = 0; index < presses; index++) {
    await eventually(() => pressed.isDisabled()).toBe(false)
    await page.keyboard.press('Enter')
  }
  await eventually(() => pressed.isDisabled()).toBe(true)
  expect(await isFocused(pressed)).toBe(true)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Space')
  await eventually(() => new URL(page.url()).search).toBe(end)
  expect(await isFocused(pressed)).toBe(true)
}

test('the pager of a list keeps the focus on its first and last page', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel')
  await pressToTheEnd(page, 'Last page', 1, '?page=3')
  await pressToTheEnd(page, 'Previous page', 2, '')
  await pressToTheEnd(page, 'Next page', 2, '?page=3')
  await pressToTheEnd(page, 'First page', 1, '')
})

test('a column that was moved to the top keeps the focus on its button', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel')
  await button(page, 'Columns').click()
  await pressToTheEnd(page, 'Move Name left', 1, '')
})

test('a form that is being saved keeps the focus on its button, which sends nothing again', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/redemption/add')
  await page.getByLabel('Name').fill('autumn')
  const letGo = await hold(page, '**/api/redemption/')
  const save = button(page, 'Submit')
  await save.focus()
  await page.keyboard.press('Enter')
  await eventually(() => save.getAttribute('aria-busy')).toBe('true')
  expect(await isFocused(save)).toBe(true)
  await page.keyboard.press('Enter')
  letGo()
  await page.getByText('1 code created').waitFor()
  expect(visit.calls().filter((call) => call.startsWith('POST /api/redemption'))).toHaveLength(1)
})

test('a button that cannot be used does nothing for Enter in its form or for a click on it', async () => {
  await using visit = await site.visit()
  const { page } = visit
  await visit.open('/login')
  await page.getByLabel('Username').fill('root')
  await page.keyboard.press('Enter')
  const submit = button(page, 'Log in')
  expect(await submit.isDisabled()).toBe(true)
  await submit.click({ force: true })
  expect(visit.calls().filter((call) => call.startsWith('POST /api/user/login'))).toEqual([])
})

test('when a row of an option is removed, the focus moves to the row that takes its place, and at last to the heading', async () => {
  const value = '{"alpha":{"rpm_limit":1},"beta":{"rpm_limit":2},"gamma":{"rpm_limit":3}}'
  await site.api('PUT', '/api/option/', { key: 'GroupLimits', value })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/setting?tab=operation#GroupLimits')
  const option = page.locator('#GroupLimits')
  const remove = (name: string) => option.getByRole('button', { name: `Remove ${name}`, exact: true })
  await remove('beta').focus()
  await page.keyboard.press('Enter')
  await eventually(() => isFocused(remove('gamma'))).toBe(true)
  await page.keyboard.press('Enter')
  await remove('gamma').waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.activeElement?.closest('#GroupLimits') !== null)).toBe(true)
  // The bar with this button disappears when the changes are discarded.
  await button(page, 'Discard').focus()
  await page.keyboard.press('Enter')
  await eventually(() => isFocused(page.locator('main h1'))).toBe(true)
})

test('the bar of selected rows leaves the focus in the list', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel')
  await page.getByRole('row').getByRole('checkbox').nth(1).check()
  await button(page, 'Clear selection').focus()
  await page.keyboard.press('Enter')
  await eventually(() => isFocused(page.locator('[data-list]'))).toBe(true)
})

test('j moves to a row and Enter opens it, unless the focus is on a button', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel')
  await page.getByRole('rowheader', { name: 'number 21' }).waitFor()
  await page.keyboard.press('j')
  await button(page, 'Next page').focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/channel?page=2')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await visit.open('/channel')
  await page.getByRole('rowheader', { name: 'number 21' }).waitFor()
  for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key)
  await page.getByRole('dialog', { name: 'number 20' }).waitFor()
})
