// With 1,000 channels, 5,000 users and 10,000 log rows, the lists are correct up to the last page, nothing moves while
// they load, and no page requests more than it shows. bench/console measures the speed of these lists. In titles, "spec
// 9" is section 9 of the specification (see coverage.md).
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { chooseFacet } from './support/facets.ts'
import { rowsOf } from './support/lists.ts'
import { fillWithMany } from './support/many-rows.ts'
import { shiftsOf } from './support/shifts.ts'

const site = openConsole()
const amounts = { channels: 1000, users: 5000, logs: 10_000 }

beforeAll(async () => {
  // Creates the first row of each table, from which the others are copied.
  const channel = { type: 8, key: 'k', models: 'gpt-4o,gpt-4o-mini', group: 'default', base_url: 'http://127.0.0.1:1' }
  await site.api('POST', '/api/channel/', { ...channel, name: 'channel 0' })
  fillWithMany(site, amounts)
})

const filled = (page: Page) => page.locator('.data-table tbody:not([aria-hidden]) tr').first().waitFor()
const lists = [
  { path: '/channel', rows: amounts.channels + 1, sort: 'response_time' },
  { path: '/user', rows: amounts.users + 1, sort: 'quota' },
  { path: '/log', rows: amounts.logs, sort: 'quota' },
]

for (const { path, rows, sort } of lists) {
  test(`${path} shows the number of rows, goes to the last page and sorts`, async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open(path)
    await filled(page)
    const total = await page.getByText(/^Page 1 of /).textContent()
    const count = Number(/([\d,]+) rows/.exec(total ?? '')?.[1]?.replaceAll(',', ''))
    expect(count).toBeGreaterThanOrEqual(rows)
    await page.getByRole('button', { name: 'Last page' }).click()
    await page.getByText(new RegExp(`^Page ${Math.ceil(count / 10)} of `)).waitFor()
    await filled(page)
    await eventually(() => rowsOf(page).count()).toBe(count % 10 === 0 ? 10 : count % 10)
    const before = visit.calls().length
    await visit.open(`${path}?sort=-${sort}`)
    await filled(page)
    const lists = visit
      .calls()
      .slice(before)
      .filter((call) => /[?&]p=0\b/.test(call))
    expect(lists).toHaveLength(1)
  })
}

test('a sorted log shows a note that it contains only the newest rows, but its figures are sums of all rows', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  const figures = page.getByRole('region', { name: /tokens/i }).first()
  await visit.open('/log')
  await filled(page)
  await page.waitForFunction(() => document.querySelector('.skeleton') === null)
  const all = await figures.textContent()
  expect(all).toMatch(/Requests10,\d{3}/)
  const note = page.getByText(/^Sorted this way/)
  expect(await note.count()).toBe(0)
  await visit.open('/log?sort=-quota')
  await filled(page)
  await page.getByText(/^Sorted this way, the list has the newest [\d,]+ rows only\.$/).waitFor()
  await eventually(() => figures.textContent()).toBe(all)
  await visit.open('/log?sort=-quota&model=a-model-with-a-long-name')
  await page.getByText(/ 1,6\d{2} rows$/).waitFor()
  expect(await note.count()).toBe(0)
  expect(await figures.textContent()).toMatch(/Requests1,6\d{2}/)
})

test('the log’s figures stay while another page loads; after a change of filters, they are hidden until the new sums arrive', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  const figures = page.getByRole('region', { name: /tokens/i }).first()
  const note = page.getByText(/^Sorted this way/)
  let held = Promise.withResolvers<void>()
  let isAsked = Promise.withResolvers<void>()
  await visit.open('/log?sort=-quota')
  await note.waitFor()
  await eventually(() => figures.textContent()).toMatch(/Requests10,\d{3}Avg cost per request\$/)
  const all = await figures.textContent()
  await page.route(/\/api\/log\/\?p=/, async (route) => {
    isAsked.resolve()
    await held.promise
    await route.continue()
  })
  // Moves the clock on. The requested time range then ends later, but the next page still belongs to the same list.
  await page.clock.setFixedTime(Date.now() + 70_000)
  await page.getByRole('button', { name: 'Next page' }).click()
  await isAsked.promise
  await page.getByText(/^Page 2 of /).waitFor()
  expect(await note.count()).toBe(1)
  expect(await figures.textContent()).toBe(all)
  held.resolve()
  await eventually(() => page.locator('.data-table[aria-busy="true"]').count()).toBe(0)
  held = Promise.withResolvers()
  isAsked = Promise.withResolvers()
  await page.route(/\/api\/log\/stat/, async (route) => {
    isAsked.resolve()
    await held.promise
    await route.continue()
  })
  await chooseFacet(page, 'Model', 'a-model-with-a-long-name')
  await isAsked.promise
  await eventually(() => figures.textContent()).toMatch(/Requests–Avg cost per request–$/)
  held.resolve()
  await eventually(() => figures.textContent()).toMatch(/Requests1,6\d{2}Avg cost per request\$/)
  await eventually(() => note.count()).toBe(0)
})

test('spec 9: the page numbers include the current page, its two neighbours, and the first and last page', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/user?page=20')
  await filled(page)
  const named = () =>
    page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('button', { name: /^Page \d+$/ })
      .allTextContents()
  await eventually(async () => (await named()).slice(0, -1)).toEqual(['1', '19', '20', '21'])
  await eventually(async () => Number((await named()).at(-1))).toBeGreaterThanOrEqual(500)
})

for (const width of [1366, 390]) {
  test(`nothing moves while the lists load at ${width} px (layout shift at most 0.02)`, async () => {
    for (const { path } of lists) {
      await using visit = await site.visit({ as: rootAccount, width })
      const { page } = visit
      await visit.open(path)
      await filled(page)
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      const moved = await shiftsOf(page)
      expect([path, moved <= 0.02 || moved]).toEqual([path, true])
    }
  })
}

describe('views of all channels', () => {
  test('the health board requests the health of all channels at once, and draws 100 of them at first', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel?view=board')
    await eventually(() => page.locator('main tbody tr').count()).toBe(100)
    const asked = visit.calls().filter((call) => /\/api\/channel\/(?:health|\d+|\?)/.test(call))
    expect(asked.length).toBeLessThan(3)
    await page.getByRole('button', { name: /^Show all \d/ }).click()
    await eventually(async () => (await page.locator('main tbody tr').count()) > 400).toBe(true)
  })

  test('the models map counts the channels of each model', async () => {
    await using visit = await site.visit({ as: rootAccount })
    await visit.open('/channel?view=models')
    await visit.page.getByText('Showing the first 500 channels.').waitFor()
    await visit.page.getByRole('rowheader', { name: 'gpt-4o-mini' }).waitFor()
  })
})
