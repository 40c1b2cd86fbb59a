// Sections of the specification (see coverage.md): 2 (lists, loading text), 4 (paging), 5 (search), 8 (failed calls), 9
// (page size). The same tests run for each list; the token list has separate tests.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually, untilItPasses } from './support/eventually.ts'
import { rowsOf } from './support/lists.ts'
import { logWriter } from './support/log-rows.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
const count = 23

interface List {
  path: string
  heading: string
  /** Path prefix of the list's calls. */
  api: string
  /** A column with numbers: its header, and its name in the sort parameter of the URL. */
  numbers: { header: string; sort: string }
  search?: { label: string; text: string; rows: number }
  /** The text of an empty list. */
  empty: string
}

const lists: List[] = [
  {
    path: '/channel',
    heading: 'channels',
    api: '/api/channel/',
    numbers: { header: 'Response time', sort: 'response_time' },
    search: { label: 'Search by ID or name', text: '  number 2  ', rows: 5 },
    empty: 'No channels yet',
  },
  {
    path: '/redemption',
    heading: 'redemption codes',
    api: '/api/redemption/',
    numbers: { header: 'Quota', sort: 'quota' },
    search: { label: 'Search by ID or name', text: '  number 2  ', rows: 5 },
    empty: 'No redemption codes yet',
  },
  {
    path: '/user',
    heading: 'manage users',
    api: '/api/user/',
    numbers: { header: 'Balance', sort: 'quota' },
    search: { label: 'Search by ID, name or email', text: '  number 2  ', rows: 5 },
    empty: 'No users yet',
  },
  {
    path: '/log',
    heading: 'usage logs',
    api: '/api/log/?',
    numbers: { header: 'Cost', sort: 'quota' },
    empty: 'No logs yet',
  },
]

beforeAll(async () => {
  const channel = { type: 8, key: 'k', models: 'm', group: 'default', base_url: 'http://127.0.0.1:1' }
  for (let index = 1; index <= count; index++) {
    await site.api('POST', '/api/channel/', { ...channel, name: `number ${index}` })
    await site.api('POST', '/api/redemption/', { name: `number ${index}`, quota: index * 9_000, count: 1 })
  }
  using database = openDatabase(site)
  database.run(`update channels set response_time = 120 * id`)
  // Creating each user through the API would require a password hash, so the rows are copied from the first user.
  const columns = database
    .query<{ name: string }, []>('pragma table_info(users)')
    .all()
    .map(({ name }) => `"${name}"`)
  const own = ['"id"', '"username"', '"role"', '"quota"', '"aff_code"', '"access_token_hash"']
  const kept = columns.filter((name) => !own.includes(name))
  const copy = database.prepare(
    `insert into users (username, role, quota, aff_code, ${kept}) select ?, 1, ?, ?, ${kept} from users where id = 1`,
  )
  for (let index = 1; index <= count; index++) copy.run(`number ${index}`, index * 300_000, `aff${index}`)
  const log = logWriter(database)
  for (let index = 1; index <= count; index++)
    log({
      created_at: 1_700_000_000 + index,
      token_name: 'number',
      model_name: 'm',
      quota: index * 700,
      prompt_tokens: 1,
      completion_tokens: 1,
    })
})

/** Waits until the loaded rows have replaced the skeleton. */
const filled = (page: Page) => page.locator('.data-table tbody:not([aria-hidden]) tr').first().waitFor()

async function numbersOf(page: Page, header: string): Promise<number[]> {
  const headers = await page.locator('.data-table thead th').allTextContents()
  const at = headers.indexOf(header)
  const texts = await rowsOf(page).evaluateAll(
    (lines, place) => lines.map((line) => line.querySelectorAll('th, td')[place]?.textContent ?? ''),
    at,
  )
  return texts.map((text) => Number.parseFloat(text.replace('$', '')))
}

for (const list of lists) {
  describe(`the list ${list.path}`, () => {
    test('spec 4, 9: a page has ten rows; more rows are requested from the server when the user goes past the last loaded page', async () => {
      await using visit = await site.visit({ as: rootAccount })
      const { page } = visit
      await visit.open(list.path)
      await filled(page)
      await eventually(() => page.locator('h1').textContent()).toBe(list.heading)
      await eventually(() => rowsOf(page).count()).toBe(10)
      const asked = () =>
        visit
          .calls()
          .flatMap((call) => (call.startsWith(`GET ${list.api}`) ? (/[?&]p=(\d+)/.exec(call)?.[1] ?? []) : []))
      expect(asked()).toEqual(['0'])
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.waitForURL(`**${list.path}?page=2`)
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.waitForFunction(() => document.querySelectorAll('.data-table tbody:not([aria-hidden]) tr').length < 10)
      await eventually(() => rowsOf(page).count()).toBeLessThan(10)
      expect([...new Set(asked())]).toEqual(['0', '1', '2'])
    })

    test('the previous rows stay until the next page has loaded; a slow response shows a loading state', async () => {
      await using visit = await site.visit({ as: rootAccount })
      const { page } = visit
      await visit.open(list.path)
      await filled(page)
      // Other cells wait for other responses, for example with the names of the types.
      const texts = () => rowsOf(page).getByRole('rowheader').allTextContents()
      const table = page.locator('.data-table')
      await page.locator('.data-table[aria-busy="false"]').waitFor()
      const first = await texts()
      const held = Promise.withResolvers<void>()
      await page.route(
        (url) => url.pathname === list.api.replace('?', '') && url.searchParams.get('p') === '1',
        async (route) => {
          await held.promise
          await route.continue()
        },
      )
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByText(/^Page 2 of /).waitFor()
      await page.locator('.data-table[data-waiting="true"]').waitFor()
      expect(await table.getAttribute('aria-busy')).toBe('true')
      expect(await texts()).toEqual(first)
      expect(await table.locator('.skeleton').count()).toBe(0)
      held.resolve()
      await page.locator('.data-table[data-waiting="false"][aria-busy="false"]').waitFor()
      const second = await texts()
      expect(second).toHaveLength(10)
      expect(second.filter((row) => first.includes(row))).toEqual([])
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })

    if (list.search) {
      const { search } = list
      test('after a search without results, the next search shows a loading state until its response arrives', async () => {
        await using visit = await site.visit({ as: rootAccount })
        const { page } = visit
        await visit.open(`${list.path}?q=nothing+like+this`)
        await page.getByText('No results found.').waitFor()
        const held = Promise.withResolvers<void>()
        await page.route(`**${list.api}**`, async (route) => {
          await held.promise
          await route.continue()
        })
        const box = page.getByLabel(search.label)
        await box.fill(search.text)
        await box.press('Enter')
        await page.waitForURL(`**${list.path}?q=number+2`)
        await page
          .getByRole('status')
          .filter({ hasText: `loading ${list.heading} ...` })
          .waitFor()
        expect(await page.getByText('No results found.').count()).toBe(0)
        held.resolve()
        await eventually(() => rowsOf(page).count()).toBe(search.rows)
        await page.unrouteAll({ behavior: 'ignoreErrors' })
      })
    }

    test('spec 2: clicking a header sorts the rows; numbers are sorted by value', async () => {
      await using visit = await site.visit({ as: rootAccount })
      const { page } = visit
      await visit.open(`${list.path}?sort=${list.numbers.sort}`)
      await filled(page)
      const header = page.getByRole('columnheader', { name: list.numbers.header, exact: true })
      await eventually(() => header.getAttribute('aria-sort')).toBe('ascending')
      await untilItPasses(async () => {
        const ascending = (await numbersOf(page, list.numbers.header)).filter((value) => !Number.isNaN(value))
        expect(ascending.length).toBeGreaterThan(5)
        expect(ascending).toEqual([...ascending].sort((a, b) => a - b))
      })
      await header.getByRole('button').click()
      await page.waitForURL(`**${list.path}?sort=-${list.numbers.sort}`)
      await eventually(() => header.getAttribute('aria-sort')).toBe('descending')
      // The previous rows stay until the new ones have loaded.
      await untilItPasses(async () => {
        const descending = await numbersOf(page, list.numbers.header)
        expect(descending).toEqual([...descending].sort((a, b) => b - a))
      })
    })

    const { search } = list
    if (search) {
      test('spec 5: the search text is trimmed; an empty search shows the first page again', async () => {
        await using visit = await site.visit({ as: rootAccount })
        const { page } = visit
        await visit.open(list.path)
        await filled(page)
        const box = page.getByLabel(search.label)
        await box.fill(search.text)
        await box.press('Enter')
        await page.waitForURL(`**${list.path}?q=number+2`)
        await page.getByText(`${search.rows} rows`).waitFor()
        await eventually(() => visit.calls().at(-1)).toContain(`keyword=number%202`.replace('%20', '+'))
        await eventually(() => rowsOf(page).count()).toBe(search.rows)
        await box.fill('')
        await box.press('Enter')
        await page.waitForURL(`**${list.path}`)
        await eventually(() => rowsOf(page).count()).toBe(10)
        await page.getByRole('button', { name: 'Next page' }).click()
        await page.getByText(/^Page 2 of /).waitFor()
        await box.press('Enter')
        await page.waitForURL(`**${list.path}`)
        await page.getByText(/^Page 1 of /).waitFor()
        await page.locator('.data-table[aria-busy="false"]').waitFor()
        await page.waitForLoadState('networkidle')
        const before = visit.calls().length
        await box.press('Enter')
        await eventually(() => visit.calls().slice(before).join()).toContain(`GET ${list.api}?p=0`)
      })
    }

    test(`spec 2: while the list loads, it shows "loading ${list.heading} ..."`, async () => {
      await using visit = await site.visit({ as: rootAccount })
      const { page } = visit
      const held = Promise.withResolvers<void>()
      await page.route(`**${list.api.replace('?', '')}**`, async (route) => {
        await held.promise
        await route.continue()
      })
      await visit.open(list.path)
      await page
        .getByRole('status')
        .filter({ hasText: `loading ${list.heading} ...` })
        .waitFor()
      held.resolve()
      await filled(page)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })

    test('spec 8: a list that cannot be loaded is reported as a toast and inline; after a retry, an empty list is shown as empty', async () => {
      await using visit = await site.visit({ as: rootAccount, expectedErrors: /ERR_FAILED|status of/ })
      const { page } = visit
      const pattern = `**${list.api.replace('?', '')}?*`
      await page.route(pattern, (route) => route.abort())
      await visit.open(list.path)
      await toastShown(page, 'error', 'Error: Could not reach the server')
      await page.getByText('Could not load the list').waitFor()
      await page.unroute(pattern)
      await page.route(pattern, (route) =>
        route.fulfill({ json: { success: true, message: '', data: [] }, headers: { 'x-total-count': '0' } }),
      )
      await page.getByRole('button', { name: 'Retry' }).first().click()
      await page.getByText(list.empty).waitFor()
    })
  })
}
