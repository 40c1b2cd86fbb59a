// Lists with search, filters and pages: what they announce to screen readers, how filters are cleared, which rows stay
// selected, and what a list shows after a form is closed. In titles, "spec 2" is section 2 of the specification (see
// coverage.md).
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { choose, rowOf, rowsOf } from './support/lists.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
const count = 23
const phone = 390

const lists = [
  { path: '/channel', search: 'Search by ID or name', add: 'New channel' },
  { path: '/redemption', search: 'Search by ID or name', add: 'New codes' },
  { path: '/token', search: 'Search by name', add: 'New token' },
]

beforeAll(async () => {
  const channel = { type: 8, key: 'k', models: 'm', group: 'default', base_url: 'http://127.0.0.1:1' }
  for (let index = 1; index <= count; index++) {
    const name = `number ${index}`
    await site.api('POST', '/api/channel/', { ...channel, name })
    await site.api('POST', '/api/redemption/', { name, quota: index * 9_000, count: 1 })
    await site.apiAs(rootAccount, 'POST', '/api/token/', { name, remain_quota: index, expired_time: -1 })
  }
  for (let index = 1; index <= 11; index++) await site.addUser(`person-${index}`)
})

const query = (page: Page) => new URL(page.url()).search
const isFocused = (control: Locator) => control.evaluate((it) => it === document.activeElement)
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

describe('returning from a form to its list', () => {
  for (const { path, add } of lists) {
    test(`spec 2: after a form is cancelled, ${path} has the same page, search and sort as before`, async () => {
      await using visit = await site.visit({ as: rootAccount })
      const { page } = visit
      const left = '?page=2&q=number&sort=-name'
      await visit.open(path + left)
      const first = rowsOf(page).getByRole('rowheader').first()
      await eventually(() => first.textContent()).toBe('number 20')
      await page.getByRole('link', { name: add }).click()
      await page.waitForURL(`**${path}/add`)
      await button(page, 'Cancel').click()
      await eventually(() => query(page)).toBe(left)
      await eventually(() => first.textContent()).toBe('number 20')
      await page.getByRole('button', { name: 'Edit: number 20' }).click()
      await page.waitForURL(`**${path}/edit/*`)
      await button(page, 'Cancel').click()
      await eventually(() => query(page)).toBe(left)
      await eventually(() => first.textContent()).toBe('number 20')
      await page.getByRole('navigation', { name: 'Menu' }).locator(`a[href="${path}"]:visible`).click()
      await eventually(() => query(page)).toBe('')
      await eventually(() => rowsOf(page).count()).toBe(10)
    })
  }

  test('does not reopen the drawer', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user?q=person&peek=3')
    await page.getByRole('dialog').getByRole('button', { name: 'Edit' }).click()
    await page.waitForURL('**/user/edit/3')
    await button(page, 'Cancel').click()
    await page.waitForURL('**/user?q=person')
    await rowOf(page, 'person-11').waitFor()
    await page.getByRole('link', { name: 'Add user' }).click()
    await button(page, 'Cancel').click()
    await page.waitForURL('**/user?q=person')
  })

  test('keeps the search after saving', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    for (const path of ['/redemption', '/token']) {
      await visit.open(`${path}?q=number+9`)
      await page.getByRole('button', { name: 'Edit: number 9' }).click()
      await button(page, 'Submit').click()
      await page.waitForURL(`**${path}?q=number+9`)
      await rowOf(page, 'number 9').waitFor()
    }
  })

  test('shows the new row; going back to the list later does not reopen the dialog', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/token?q=number+9&sort=-id')
    await page.getByRole('link', { name: 'New token' }).click()
    await page.waitForURL('**/token/add')
    await page.getByLabel('Name', { exact: true }).fill('made here')
    await button(page, 'Submit').click()
    await page.waitForURL('**/token?sort=-id&start=*')
    // Finds the row by its text, because content behind a dialog is hidden from the accessibility tree.
    await rowsOf(page).filter({ hasText: 'made here' }).waitFor()
    // Navigates to a form while the dialog is open; the dialog's own links would leave the page.
    await page.evaluate(() => {
      history.pushState({}, '', '/token/add')
      dispatchEvent(new PopStateEvent('popstate'))
    })
    await page.getByRole('heading', { name: 'new token' }).waitFor()
    await button(page, 'Cancel').click()
    await page.waitForURL('**/token?sort=-id')
  })
})

describe('what a list announces', () => {
  test('is the result of a search, a filter or a page change; reloading the same rows is not announced', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await rowsOf(page).first().waitFor()
    const region = page.locator('main [role="status"].sr-only')
    expect(await region.allTextContents()).toEqual([''])
    const heard = await region.evaluateHandle((it) => {
      const texts: string[] = []
      new MutationObserver(() => texts.push(it.textContent ?? '')).observe(it, { childList: true, subtree: true })
      return texts
    })
    const said = () => heard.jsonValue()
    await Promise.all([page.waitForResponse('**/api/channel/?*'), button(page, 'Refresh').click()])
    await button(page, 'Next page').click()
    await eventually(said).toEqual(['23 results, showing 11 to 20'])
    const box = page.getByLabel('Search by ID or name')
    await box.fill('number 2')
    await eventually(said).toEqual(['23 results, showing 11 to 20', '5 results'])
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Enabled')
    await eventually(said).toEqual(['23 results, showing 11 to 20', '5 results', '5 results'])
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Disabled')
    await eventually(said).toEqual(['23 results, showing 11 to 20', '5 results', '5 results', 'No results'])
  })
})

describe('the filters of a list', () => {
  test('are cleared by buttons that name what they clear; the focus then moves to the controls', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel?q=nothing')
    const box = page.getByLabel('Search by ID or name')
    await button(page, 'Clear search').last().click()
    await eventually(() => query(page)).toBe('')
    await eventually(() => isFocused(box)).toBe(true)
    await rowsOf(page).first().waitFor()
    await visit.open('/channel?q=nothing')
    await button(page, 'Clear search').first().click()
    await eventually(() => query(page)).toBe('')
    await eventually(() => isFocused(box)).toBe(true)
    await visit.open('/channel?q=number&status=3&type=8')
    await button(page, 'Clear search and filters').waitFor()
    await button(page, 'Clear filters').click()
    await eventually(() => query(page)).toBe('?q=number')
    await eventually(() => isFocused(page.getByRole('combobox', { name: 'Type' }))).toBe(true)
    await visit.open('/channel?q=number&status=3&type=8')
    await button(page, 'Clear search and filters').click()
    await eventually(() => query(page)).toBe('')
    await eventually(() => isFocused(box)).toBe(true)
    await visit.open('/channel?status=3')
    await button(page, 'Clear filters').last().click()
    await eventually(() => query(page)).toBe('')
    await eventually(() => isFocused(page.getByRole('combobox', { name: 'Type' }))).toBe(true)
    await visit.open('/log?model=none')
    await button(page, 'Clear filters').first().click()
    await eventually(() => isFocused(page.getByRole('combobox', { name: 'Type' }))).toBe(true)
  })

  test('after they are cleared, the list does not show as empty while it loads', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel?status=3')
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    await page.route('**/api/channel/?p=0', async (route) => {
      asked.resolve()
      await held.promise
      await route.continue()
    })
    await button(page, 'Clear filters').last().click()
    await asked.promise
    await page.getByRole('status').filter({ hasText: 'loading channels ...' }).waitFor()
    expect(await page.getByText('No channels yet').count()).toBe(0)
    held.resolve()
    await eventually(() => rowsOf(page).count()).toBe(10)
  })

  test('clear the selection when they change; going to another page does not', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const selected = page.getByText('1 selected')
    await visit.open('/channel?sort=id')
    await page.getByLabel('Select number 2', { exact: true }).check()
    await button(page, 'Next page').click()
    await selected.waitFor({ state: 'detached' })
    await button(page, 'Previous page').click()
    await selected.waitFor()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Enabled')
    await selected.waitFor({ state: 'detached' })
    await page.getByLabel('Select number 2', { exact: true }).check()
    await page.getByLabel('Search by ID or name').fill('number 2')
    await selected.waitFor({ state: 'detached' })
    await eventually(() => rowsOf(page).count()).toBe(5)
    await eventually(() => page.getByLabel('Select number 2', { exact: true }).isChecked()).toBe(false)
  })

  test('are behind a button on a phone; the button shows how many filters are set', async () => {
    await using visit = await site.visit({ as: rootAccount, width: phone })
    const { page } = visit
    await visit.open('/channel?status=1&type=8')
    await rowsOf(page).first().waitFor()
    const status = page.getByRole('combobox', { name: 'Status' })
    const opens = page.getByRole('button', { name: 'Filters (2)' })
    expect(await opens.getAttribute('aria-expanded')).toBe('false')
    expect(await status.count()).toBe(0)
    // Chips name the filters that are set, and remove them.
    await page.getByRole('button', { name: /^Status: Enabled\./ }).click()
    await eventually(() => query(page)).toBe('?type=8')
    await page.getByRole('button', { name: 'Filters (1)' }).click()
    const sheet = page.getByRole('dialog', { name: 'Filters' })
    await sheet.getByRole('combobox', { name: 'Status' }).selectOption('Enabled')
    await eventually(() => query(page)).toBe('?type=8&status=1')
    await sheet.getByRole('button', { name: 'Clear filters' }).click()
    await eventually(() => query(page)).toBe('')
    await sheet.getByRole('button', { name: 'Show results' }).click()
    await sheet.waitFor({ state: 'detached' })
    await eventually(() => isFocused(button(page, 'Filters'))).toBe(true)
    await visit.open('/redemption?status=1')
    await page.getByRole('button', { name: 'Filters (1)' }).click()
    await status.waitFor()
  })

  test('have no effect if the status is unknown', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption?status=9')
    await eventually(() => rowsOf(page).count()).toBe(10)
    await eventually(() => page.getByRole('combobox', { name: 'Status' }).inputValue()).toBe('')
    expect(await button(page, 'Clear filters').count()).toBe(0)
  })
})

describe('a row whose status no longer matches the filter', () => {
  test('leaves the channel list; undo brings it back', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel?q=number+7&status=1')
    await choose(page, 'number 7', 'Disable')
    await rowOf(page, 'number 7').waitFor({ state: 'detached' })
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await eventually(() => page.locator('[data-list]').evaluate((it) => it === document.activeElement)).toBe(true)
    await page.getByText('No results match your search and filters.').waitFor()
    await button(page, 'Undo').click()
    await rowOf(page, 'number 7').waitFor()
  })

  test('leaves the list of redemption codes; undo brings it back', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption?sort=id&status=1')
    await button(page, 'Disable: number 8').click()
    await toastShown(page, 'success', 'number 8 is disabled')
    await rowOf(page, 'number 8').waitFor({ state: 'detached' })
    await eventually(() => rowsOf(page).count()).toBe(10)
    await button(page, 'Undo').click()
    await rowOf(page, 'number 8').waitFor()
  })
})

test('the models map keeps its filters in the URL', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel?view=models')
  const row = page.getByRole('rowheader', { name: /^m/ })
  await row.waitFor()
  await page.getByLabel('Filter models').fill('M')
  await eventually(() => query(page)).toBe('?view=models&model=M')
  await row.waitFor()
  await page.getByRole('checkbox', { name: 'Problems only' }).check()
  await eventually(() => query(page)).toBe('?view=models&model=M&problems=1')
  await page.reload()
  await eventually(() => page.getByLabel('Filter models').inputValue()).toBe('M')
  await eventually(() => page.getByRole('checkbox', { name: 'Problems only' }).isChecked()).toBe(true)
})
