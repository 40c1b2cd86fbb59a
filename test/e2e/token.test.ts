// Sections of the specification (see coverage.md): 2 (token list and form), 4 (token status, paging), 5 (token form,
// search), 6 (ordinary users), 8 (messages, clipboard), 9 (page size, default quota, presets, quota and time display).
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { control, staysShut } from './support/boxes.ts'
import { refuseClipboard } from './support/clipboard.ts'
import { type Account, openConsole } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually, untilItPasses } from './support/eventually.ts'
import { hold, openHeld } from './support/held.ts'
import { toastOf, toastShown } from './support/toasts.ts'

const site = openConsole()

interface Token {
  id: number
  name: string
  key: string
  status: number
  remain_quota: number
  expired_time: number
  unlimited_quota: boolean
  models: string | null
  project: string
  rpm_limit: number
  daily_budget: number
  monthly_budget: number
}

const addToken = (account: Account, fields: Partial<Token>) =>
  site.apiAs<Token>(account, 'POST', '/api/token/', { remain_quota: 500_000, expired_time: -1, ...fields })
const serve = (models: string) =>
  site.api('POST', '/api/channel/', { type: 1, name: 'serving', key: 'sk-x', models, group: 'default' })
const tokensOf = (account: Account) => site.apiAs<Token[]>(account, 'GET', '/api/token/?p=0&size=100')
const rows = (page: Page) => page.locator('.data-table tbody:not([aria-hidden]) tr')
const row = (page: Page, name: string) => rows(page).filter({ has: page.getByRole('rowheader', { name, exact: true }) })
const names = (page: Page) => page.locator('.data-table tbody th').allTextContents()

describe('projects', () => {
  test('are suggested, are listed with their totals, and filter the list and the usage', async () => {
    const user = await site.addUser('organized')
    for (const [name, used] of [
      ['index', 1_000_000],
      ['crawler', 250_000],
    ] as const) {
      const { id } = await addToken(user, { name, project: 'Search' })
      using database = openDatabase(site)
      database.prepare('update tokens set used_quota = ? where id = ?').run(used, id)
    }
    await addToken(user, { name: 'without' })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name', { exact: true }).fill('site')
    const box = page.getByLabel(/^Project/)
    await page.locator('datalist option[value="Search"]').waitFor({ state: 'attached' })
    await box.fill('  Web ')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
    await eventually(async () => (await tokensOf(user))[0]?.project).toBe('Web')
    await eventually(() => names(page)).toEqual(['site', 'without', 'crawler', 'index'])
    await row(page, 'site').getByText('Web', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Totals by project' }).click()
    const totals = page.getByRole('dialog', { name: 'Projects' })
    await eventually(() => totals.getByRole('row').allTextContents()).toEqual([
      'ProjectTokensUsed quotaShareView usage',
      'Search2$2.50100%View usage',
      'No project1$0.000%View usage',
      'Web1$0.000%View usage',
      'Total4$2.50',
    ])
    await totals.getByRole('button', { name: 'Search', exact: true }).click()
    await eventually(() => names(page)).toEqual(['crawler', 'index'])
    expect(new URL(page.url()).searchParams.get('project')).toBe('Search')
    await page.getByLabel('Project', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Totals by project' }).click()
    await totals
      .getByRole('row', { name: /^Search/ })
      .getByRole('link', { name: 'View usage' })
      .click()
    await page.waitForURL('**/usage?*')
    await eventually(() => visit.calls().some((call) => /project=Search&.*group_by=token/.test(call))).toBe(true)
  })

  test('are not shown if no token has a project', async () => {
    const user = await site.addUser('plain')
    await addToken(user, { name: 'only' })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await row(page, 'only').waitFor()
    expect(await page.getByRole('columnheader', { name: 'Project' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Totals by project' }).count()).toBe(0)
  })
})

describe('the key of a token', () => {
  test('is replaced by a new key; the old key is valid for the chosen time, or until its owner ends it', async () => {
    const user = await site.addUser('rotator')
    const { id, key } = await addToken(user, { name: 'app' })
    const stored = async () => (await tokensOf(user))[0]
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    const choose = async (action: string) => {
      await page.getByRole('button', { name: 'Actions for app', exact: true }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await choose('Rotate key')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 hour', { exact: true }).click()
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    await dialog.getByText(/^The old key is valid until/).waitFor()
    const next = (await stored())?.key ?? ''
    expect(next).not.toBe(key)
    await dialog.getByRole('button', { name: 'Show: Key' }).click()
    await dialog.getByText(`sk-${next}`).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await row(page, 'app')
      .getByText(/^Old key valid until/)
      .waitFor()
    const { old_key_until } = await site.apiAs<{ old_key_until: number }>(user, 'GET', `/api/token/${id}`)
    expect(Math.abs(old_key_until - Date.now() / 1000 - 3600)).toBeLessThan(600)
    await choose('End old key')
    await page.getByRole('alertdialog').getByRole('button', { name: 'End old key' }).click()
    await toastShown(page, 'success', 'Old key ended')
    await row(page, 'app')
      .getByText(/^Old key valid until/)
      .waitFor({ state: 'detached' })
    await choose('Rotate key')
    await dialog.getByText('End it now', { exact: true }).click()
    await dialog.getByText('Choose this if the key has leaked.').waitFor()
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    await dialog.getByText('The old key is rejected from now on.').waitFor()
    await eventually(async () => (await stored())?.key).not.toBe(next)
  })
})

describe('the group of a token', () => {
  test('is a field of the form if there is a choice, with the price of each group', async () => {
    const user = await site.addUser('grouped')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    const setGroups = (value: string) => site.api('PUT', '/api/option/', { key: 'UserUsableGroups', value })
    await visit.open('/token/add')
    await page.getByLabel('Models').first().waitFor()
    expect(await page.getByLabel('Group', { exact: true }).count()).toBe(0)
    await setGroups('{"fast":"Faster channels"}')
    try {
      await site.api('PUT', '/api/option/', { key: 'GroupRatio', value: '{"default":1,"vip":1,"svip":1,"fast":2}' })
      await visit.open('/token/add')
      const group = page.getByLabel('Group', { exact: true })
      await eventually(() => group.locator('option').allTextContents()).toEqual([
        'My group (default) · 1x',
        'fast · Faster channels · 2x',
      ])
      await group.selectOption('fast')
      await page.getByLabel('Name').fill('quick one')
      await page.getByRole('button', { name: 'Submit' }).click()
      await page.waitForURL(({ pathname }) => pathname === '/token')
      const [token] = (await tokensOf(user)) as (Token & { group: string })[]
      expect(token).toMatchObject({ name: 'quick one', group: 'fast' })
      await setGroups('{}')
      await visit.open(`/token/edit/${token?.id}`)
      await page.getByText('You can no longer choose the group fast.').waitFor()
      await page.getByLabel('Group', { exact: true }).selectOption('')
      await page.getByRole('button', { name: 'Submit' }).click()
      await page.waitForURL(({ pathname }) => pathname === '/token')
      const [changed] = (await tokensOf(user)) as (Token & { group: string })[]
      expect(changed?.group).toBe('')
    } finally {
      await setGroups('{}')
    }
  })
})

describe('the list of tokens', () => {
  let owner: Account
  beforeAll(async () => {
    owner = await site.addUser('lister')
    for (let index = 1; index <= 23; index++) {
      await addToken(owner, { name: `token ${index}`, remain_quota: index * 100_000 })
    }
  })

  test('spec 4, 9: shows ten rows per page, and requests one page at a time from the server', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token')
    await row(page, 'token 23').waitFor()
    await eventually(() => page.locator('h1').textContent()).toBe('my tokens')
    await eventually(() => rows(page).count()).toBe(10)
    const asked = () => visit.calls().filter((call) => call.includes('/api/token/?'))
    await eventually(asked).toEqual(['GET /api/token/?p=0'])
    await page.getByRole('button', { name: 'Next page' }).click()
    await row(page, 'token 13').waitFor()
    await eventually(() => page.url()).toEndWith('/token?page=2')
    await page.getByRole('button', { name: 'Last page' }).click()
    await row(page, 'token 1').waitFor()
    await eventually(() => rows(page).count()).toBe(3)
    await eventually(asked).toEqual(['GET /api/token/?p=0', 'GET /api/token/?p=1', 'GET /api/token/?p=2'])
    await page.goBack()
    await row(page, 'token 13').waitFor()
  })

  test('spec 2: its URL keeps the page, sort and search', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token?page=2&sort=remain_quota')
    await row(page, 'token 11').waitFor()
    await eventually(async () => (await names(page))[0]).toBe('token 11')
    const header = page.getByRole('columnheader', { name: 'remaining quota' })
    await eventually(() => header.getAttribute('aria-sort')).toBe('ascending')
    await header.getByRole('button').click()
    await row(page, 'token 23').waitFor()
    await eventually(() => header.getAttribute('aria-sort')).toBe('descending')
    await eventually(() => page.url()).toEndWith('/token?sort=-remain_quota')
  })

  test('spec 5: the search text is trimmed; an empty search shows the whole list again', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token')
    const box = page.getByLabel('Search by name')
    await box.fill('  token 2 ')
    await box.press('Enter')
    await page.waitForURL('**/token?q=token+2')
    await page.getByText('5 rows').waitFor()
    await eventually(async () => (await names(page)).sort()).toEqual([
      'token 2',
      'token 20',
      'token 21',
      'token 22',
      'token 23',
    ])
    await box.fill('nothing like this')
    await box.press('Enter')
    await page.getByText('No results found.').waitFor()
    await page.getByRole('button', { name: 'Clear search' }).filter({ hasText: 'Clear' }).click()
    await row(page, 'token 23').waitFor()
    await eventually(() => box.inputValue()).toBe('')
  })

  test('spec 2: a key is masked, shown on demand and copied with the prefix sk-', async () => {
    const [first] = await tokensOf(owner)
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token')
    const line = row(page, first?.name ?? '')
    await eventually(() => line.locator('code').textContent()).toBe(`sk-••••${first?.key.slice(-4)}`)
    await line.getByRole('button', { name: 'Show key of' }).click()
    await eventually(() => line.locator('code').textContent()).toBe(`sk-${first?.key}`)
    await line.getByRole('button', { name: 'Copy key' }).click()
    await toastShown(page, 'success', 'copied to clipboard!')
    await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`sk-${first?.key}`)
  })

  test('spec 8: if the browser refuses to copy a key, there is a warning, and the key is put into the search box', async () => {
    const [first] = await tokensOf(owner)
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await refuseClipboard(page)
    await visit.open('/token')
    await row(page, first?.name ?? '')
      .getByRole('button', { name: 'Copy key' })
      .click()
    await toastShown(page, 'warning', 'cannot copy to clipboard, please copy manually')
    await page.waitForFunction(
      (key) => document.querySelector('search input')?.matches(`[value="${key}"]`),
      `sk-${first?.key}`,
    )
  })

  test('spec 4: disabling takes effect immediately and can be undone', async () => {
    const token = await addToken(owner, { name: 'to toggle' })
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token')
    await page.getByRole('button', { name: 'Disable: to toggle' }).click()
    await row(page, 'to toggle').getByText('disabled').waitFor()
    await toastOf(page, 'success', 'to toggle is disabled').getByRole('button', { name: 'Undo' }).click()
    await row(page, 'to toggle').getByText('Enabled', { exact: true }).waitFor()
    await eventually(async () => (await tokensOf(owner)).find(({ id }) => id === token.id)?.status).toBe(1)
  })

  test('spec 4: deleting asks for confirmation first; the page fills up with rows of the next page', async () => {
    await addToken(owner, { name: 'to delete' })
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token')
    await page.getByRole('button', { name: 'Actions for to delete' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Delete to delete?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await eventually(() => row(page, 'to delete').count()).toBe(1)
    await page.getByRole('button', { name: 'Actions for to delete' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await row(page, 'to delete').waitFor({ state: 'detached' })
    await toastShown(page, 'success', 'to delete was deleted')
    await eventually(() => rows(page).count()).toBe(10)
  })

  test('several selected rows are disabled at once, with one call for each row', async () => {
    const user = await site.addUser('bulk')
    for (const name of ['a', 'b', 'c']) await addToken(user, { name })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await page.getByLabel('Select a', { exact: true }).check()
    await page.getByLabel('Select c', { exact: true }).check()
    await page.getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'Disable', exact: true }).click()
    await toastShown(page, 'success', 'Disable: 2 done, 0 failed')
    const states = Object.fromEntries((await tokensOf(user)).map(({ name, status }) => [name, status]))
    expect(states).toEqual({ a: 2, b: 1, c: 2 })
    const changes = visit.calls().filter((call) => call === 'PUT /api/token/?status_only=true')
    expect(changes).toHaveLength(2)
  })

  test('the keys of several rows are copied, one per line; if the browser refuses, they are shown', async () => {
    const user = await site.addUser('copier')
    for (const name of ['a', 'b', 'c']) await addToken(user, { name })
    const keys = (await tokensOf(user)).filter(({ name }) => name !== 'b').map(({ key }) => `sk-${key}`)
    const copyTwo = async (page: Page) => {
      await page.getByLabel('Select a', { exact: true }).check()
      await page.getByLabel('Select c', { exact: true }).check()
      await page.getByRole('button', { name: 'Copy', exact: true }).click()
    }
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await copyTwo(page)
    await toastShown(page, 'success', '2 keys copied to clipboard!')
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied.split('\n').sort()).toEqual(keys.sort())
    await page.getByText('2 selected').waitFor()
    await page.getByLabel('Select c', { exact: true }).uncheck()
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await toastShown(page, 'success', '1 key copied to clipboard!')
    await refuseClipboard(page)
    await page.reload()
    await copyTwo(page)
    await toastShown(page, 'warning', 'cannot copy to clipboard, please copy manually')
    const dialog = page.getByRole('dialog', { name: 'Copy manually' })
    const lines = dialog.getByLabel('Lines to copy')
    await eventually(() => lines.inputValue()).toBe(copied)
    await lines.focus()
    const marked = (box: HTMLTextAreaElement) => box.value.slice(box.selectionStart, box.selectionEnd)
    await eventually(() => lines.evaluate(marked)).toBe(copied)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('2 selected').waitFor()
  })

  test('the visible rows are exported as CSV; columns can be hidden and stay hidden', async () => {
    const user = await site.addUser('chooser')
    await addToken(user, { name: '=risky, "name"', remain_quota: 5 })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'created' }).uncheck()
    await eventually(() => page.getByRole('checkbox', { name: 'name', exact: true }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await page.reload()
    await page.getByRole('columnheader', { name: 'expiry' }).waitFor()
    await eventually(() => page.getByRole('columnheader', { name: 'created' }).count()).toBe(0)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export this page (CSV)' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('tokens.csv')
    const [header, line] = readFileSync(await download.path(), 'utf8').split('\r\n')
    expect(header).toBe('\uFEFFname,status,used quota,remaining quota,last used,expiry')
    expect(line).toBe(`"'=risky, ""name""",Enabled,0,5,Never used,-1`)
  })

  test('shows when a token was last used, or that it was never used', async () => {
    const user = await site.addUser('user-of-keys')
    await addToken(user, { name: 'idle' })
    const busy = await addToken(user, { name: 'busy' })
    {
      using database = openDatabase(site)
      database.run(
        `update tokens set accessed_time = unixepoch() - 7260, created_time = unixepoch() - 9000 where id = ${busy.id}`,
      )
    }
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await row(page, 'busy').getByText('2 hours ago').waitFor()
    await row(page, 'idle').getByText('Never used').waitFor()
    await visit.open(`/token?peek=${busy.id}`)
    await page.getByRole('dialog').getByText('2 hours ago').waitFor()
  })

  test('on narrow screens, rows are cards with the same names and actions', async () => {
    await using visit = await site.visit({ as: owner, width: 390 })
    const { page } = visit
    await visit.open('/token')
    const card = rows(page).first()
    await card.waitFor()
    await untilItPasses(async () => {
      const title = await card.getByRole('rowheader').boundingBox()
      const status = await card.getByText('Enabled', { exact: true }).boundingBox()
      const quota = await card.getByText('$', { exact: false }).first().boundingBox()
      expect(Math.abs((title?.y ?? 0) - (status?.y ?? 0))).toBeLessThan(12)
      expect(quota?.y ?? 0).toBeGreaterThan((title?.y ?? 0) + 12)
    })
    await card.getByRole('button', { name: 'Actions for' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  })

  test('spec 4: if the server returns no total and does not sort, more pages are loaded on demand, and the browser sorts the loaded rows, numbers by value', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    // Behaves like one-api, which returns the same rows without a total, always with the newest first.
    await page.route('**/api/token/?**', async (route) => {
      const url = new URL(route.request().url())
      url.searchParams.delete('sort')
      url.searchParams.delete('order')
      const response = await route.fetch({ url: url.href })
      const { 'x-total-count': _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    await visit.open('/token')
    await page.getByText('Page 1', { exact: true }).waitFor()
    await rows(page).first().waitFor()
    const header = page.getByRole('columnheader', { name: 'remaining quota' })
    await header.getByRole('button').click()
    await page.getByText('Sorting only the 10 loaded rows').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('Sorting only the 20 loaded rows').waitFor()
    await untilItPasses(async () => {
      const quotas = await rows(page).evaluateAll((lines) =>
        lines.map((line) => Number(/\$([\d.]+)/.exec(line.querySelectorAll('td')[4]?.textContent ?? '')?.[1])),
      )
      expect(quotas).toHaveLength(10)
      expect(quotas).toEqual([...quotas].sort((a, b) => a - b))
    })
    await header.getByRole('button').click()
    await page.getByText('Sorting only the 20 loaded rows').waitFor()
    const pages = visit.calls().flatMap((call) => /\/api\/token\/\?p=(\d+)/.exec(call)?.[1] ?? [])
    expect([...new Set(pages)]).toEqual(['0', '1'])
  })

  test('the drawer shows a token; its URL can be shared, and Escape closes it', async () => {
    const token = await addToken(owner, { name: 'to look at' })
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open(`/token?peek=${token.id}`)
    const drawer = page.getByRole('dialog', { name: 'to look at' })
    await drawer.getByText('No requests yet.').waitFor()
    await drawer.getByText('curl', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    await eventually(() => page.url()).toEndWith('/token')
  })

  test('the drawer shows the limits that are set, and how much of each budget is spent', async () => {
    const limits = { rpm_limit: 60, daily_budget: 1_000_000, monthly_budget: 4_000_000 }
    const limited = await addToken(owner, { name: 'limited', ...limits })
    const free = await addToken(owner, { name: 'free' })
    using database = openDatabase(site)
    // A time on the next day still counts as the current day, so the test also works if midnight passes during the
    // test.
    const spent = `spent_today = 900000, spent_month = 4000000, spent_at = unixepoch() + 86400`
    database.run(`update tokens set ${spent} where id = ${limited.id}`)
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open(`/token?peek=${limited.id}`)
    const shown = page.getByRole('dialog').getByRole('region', { name: 'Limits' })
    await eventually(() => shown.getByRole('term').allTextContents()).toEqual([
      'Requests per minute',
      'Daily budget',
      'Monthly budget',
    ])
    await shown.getByText('60', { exact: true }).waitFor()
    for (const [name, says, percent, color] of [
      ['Daily budget', '$1.80 of $2.00 (90%)', '90', 'fill-orange'],
      ['Monthly budget', '$8.00 of $8.00 (100%)', '100', 'fill-red'],
    ] as const) {
      await shown.getByText(says, { exact: true }).waitFor()
      const meter = shown.getByRole('meter', { name })
      await eventually(() => meter.getAttribute('aria-valuetext')).toBe(says)
      await eventually(() => meter.getAttribute('aria-valuenow')).toBe(percent)
      await eventually(() => meter.locator('rect').last().getAttribute('class')).toBe(color)
    }
    await visit.open(`/token?peek=${free.id}`)
    await page.getByRole('dialog', { name: 'free' }).getByText('Never expires').waitFor()
    expect(await shown.count()).toBe(0)
  })

  test('if the server does not support limits, the drawer shows none', async () => {
    const token = await addToken(owner, { name: 'of old', rpm_limit: 60 })
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await page.route(`**/api/token/${token.id}`, async (route) => {
      const answer = await (await route.fetch()).json()
      const known = Object.entries(answer.data).filter(([key]) => !/_limit$|_budget$|^spent_/.test(key))
      await route.fulfill({ json: { ...answer, data: Object.fromEntries(known) } })
    })
    await visit.open(`/token?peek=${token.id}`)
    const drawer = page.getByRole('dialog', { name: 'of old' })
    await drawer.getByText('Never expires').waitFor()
    expect(await drawer.getByRole('region', { name: 'Limits' }).count()).toBe(0)
  })

  test('spec 2: links for client apps contain the key and the server URL', async () => {
    await site.api('PUT', '/api/option/', { key: 'ChatLink', value: 'https://chat.example' })
    const [first] = await tokensOf(owner)
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token')
    const { origin } = new URL(page.url())
    const server = encodeURIComponent(origin)
    const links = {
      OpenCat: `opencat://team/join?domain=${server}&token=sk-${first?.key}`,
      'AMA (BotGem)': `ama://set-api-key?server=${server}&key=sk-${first?.key}`,
      'ChatGPT Next Web': `https://chat.example/#/?settings={"key":"sk-${first?.key}","url":"${origin}"}`,
    }
    for (const [app, link] of Object.entries(links)) {
      await page.getByRole('button', { name: `Actions for ${first?.name}`, exact: true }).click()
      await page.getByRole('menuitem', { name: `Copy link for ${app}` }).click()
      await page.waitForFunction(async (text) => (await navigator.clipboard.readText()) === text, link)
      await toastShown(page, 'success', 'copied to clipboard!')
    }
    await site.api('PUT', '/api/option/', { key: 'ChatLink', value: '' })
  })

  test('an account without tokens sees how to create its first one', async () => {
    const user = await site.addUser('fresh')
    await using visit = await site.visit({ as: user })
    await visit.open('/token')
    await visit.page.getByText('No tokens yet').waitFor()
    await visit.page.locator('main').getByRole('link', { name: 'New token' }).last().click()
    await visit.page.waitForURL('**/token/add')
  })

  test('a list that cannot be loaded shows why and can be reloaded', async () => {
    await using visit = await site.visit({ as: owner, expectedErrors: /status of 5|ERR_FAILED/ })
    const { page } = visit
    await page.route('**/api/token/?p=0', (route) => route.fulfill({ status: 500, json: { success: false } }))
    await visit.open('/token')
    await toastShown(page, 'error', 'Error: internal server error, please contact the administrator!')
    await page.getByText('Could not load the list').waitFor()
    await page.unroute('**/api/token/?p=0')
    await page.getByRole('button', { name: 'Retry' }).click()
    await rows(page).first().waitFor()
  })
})

describe('the drawer of a token', () => {
  test('a revealed key is masked again after going to the next token and back', async () => {
    const user = await site.addUser('stepping', { quota: 1000 })
    for (const name of ['older', 'newer']) await addToken(user, { name })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await rows(page).first().getByRole('rowheader').click()
    const drawer = page.getByRole('dialog')
    const heading = (name: string) => drawer.getByRole('heading', { name, exact: true })
    await heading('newer').waitFor()
    await page.keyboard.press('j')
    await heading('older').waitFor()
    await page.keyboard.press('k')
    await heading('newer').waitFor()
    await drawer.getByRole('button', { name: /^Show/ }).first().click()
    await drawer.getByRole('button', { name: /^Hide/ }).waitFor()
    await page.keyboard.press('j')
    await heading('older').waitFor()
    await eventually(() => drawer.getByRole('button', { name: /^Hide/ }).count()).toBe(0)
  })
})

describe('the form of a token', () => {
  test('spec 8, 9: starts with the default quota, creates a token and shows its key, with calls to copy', async () => {
    const user = await site.addUser('maker')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    const quota = page.getByLabel('Quota', { exact: true })
    await eventually(() => quota.inputValue()).toBe('1.00')
    await page.getByText('= 500,000 units').waitFor()
    await eventually(() => page.getByLabel('Expiry').inputValue()).toBe('Never')
    await page.getByLabel('Name').fill('laptop')
    await quota.fill('0.5')
    await page.getByText('= 250,000 units').waitFor()
    await page.getByRole('button', { name: 'Submit' }).click()
    await toastShown(page, 'success', 'token created successfully, please copy the key from the list!')
    const [made] = await tokensOf(user)
    expect(made).toMatchObject({ name: 'laptop', remain_quota: 250_000, expired_time: -1, unlimited_quota: false })
    const dialog = page.getByRole('dialog', { name: 'Your token is ready' })
    await eventually(() => dialog.locator('code').first().textContent()).toBe(`sk-${made?.key}`)
    await dialog.getByText('Python').click()
    await eventually(() => dialog.locator('pre').first().textContent()).toContain(`api_key="sk-${made?.key}"`)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await row(page, 'laptop').waitFor()
  })

  test('spec 5: a new token needs a name; without a name, nothing is sent', async () => {
    const user = await site.addUser('nameless')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.locator('input[aria-invalid="true"]').waitFor()
    await eventually(() => page.getByLabel('Name').evaluate((box) => box === document.activeElement)).toBe(true)
    expect(visit.calls().filter((call) => call.startsWith('POST'))).toEqual([])
  })

  test('spec 2, 9: presets set the expiry relative to the current time', async () => {
    const user = await site.addUser('presets')
    const presets = { 'One month': 30 * 86_400, 'One day': 86_400, 'One hour': 3600, 'One minute': 60 }
    for (const [preset, seconds] of Object.entries(presets)) {
      await using visit = await site.visit({ as: user })
      const { page } = visit
      await visit.open('/token/add')
      await page.getByLabel('Name').fill(preset)
      const before = Math.floor(Date.now() / 1000)
      await page.getByRole('button', { name: preset, exact: true }).click()
      await eventually(() => page.getByLabel('Expiry').inputValue()).toMatch(/^\d{4}-\d\d-\d\dT/)
      const after = Math.ceil(Date.now() / 1000)
      await page.getByRole('button', { name: 'Submit' }).click()
      await page.waitForURL('**/token?start=*')
      const made = (await tokensOf(user)).find(({ name }) => name === preset)
      expect(made?.expired_time).toBeGreaterThanOrEqual(before + seconds)
      expect(made?.expired_time).toBeLessThanOrEqual(after + seconds)
    }
  })

  test('spec 2, 9: the preset "never" removes an expiry', async () => {
    const user = await site.addUser('forever')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('for ever')
    await page.getByRole('button', { name: 'One day', exact: true }).click()
    await eventually(() => page.getByLabel('Expiry').inputValue()).toMatch(/^\d{4}/)
    await page.getByRole('button', { name: 'Never', exact: true }).click()
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.waitForURL('**/token?start=*')
    await eventually(async () => (await tokensOf(user))[0]).toMatchObject({ expired_time: -1 })
  })

  test('spec 5: the quota is a whole number', async () => {
    const user = await site.addUser('fractions')
    await site.api('PUT', '/api/option/', { key: 'DisplayInCurrencyEnabled', value: 'false' })
    try {
      await using visit = await site.visit({ as: user })
      const { page } = visit
      await visit.open('/token/add')
      await page.getByLabel('Name').fill('in parts')
      const quota = page.getByLabel('Quota', { exact: true })
      for (const bad of ['1.5', '']) {
        await quota.fill(bad)
        await page.getByRole('button', { name: 'Submit' }).click()
        await eventually(() => quota.getAttribute('aria-invalid')).toBe('true')
      }
      expect(visit.calls().filter((call) => call.startsWith('POST'))).toEqual([])
      await quota.fill('0012')
      await page.getByRole('button', { name: 'Submit' }).click()
      await page.waitForURL('**/token?start=*')
      await eventually(async () => (await tokensOf(user))[0]).toMatchObject({ remain_quota: 12 })
    } finally {
      await site.api('PUT', '/api/option/', { key: 'DisplayInCurrencyEnabled', value: 'true' })
    }
  })

  test('where dollars are shown, quotas and budgets are typed in dollars and sent as exact quota units', async () => {
    const user = await site.addUser('dollars')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('in dollars')
    const quota = page.getByLabel('Quota', { exact: true })
    for (const bad of ['1,5', 'ten', '']) {
      await quota.fill(bad)
      await page.getByRole('button', { name: 'Submit' }).click()
      await eventually(() => quota.getAttribute('aria-invalid')).toBe('true')
    }
    await page.getByText('Enter a number.').waitFor()
    await quota.fill('3000000000')
    await page.getByText('Must be at most $2,000,000,000.00.').waitFor()
    await page.getByRole('button', { name: 'Set to $10', exact: true }).click()
    await eventually(() => quota.inputValue()).toBe('10.00')
    await quota.fill('$1,234.29')
    await page.getByText('= 617,145,000 units').waitFor()
    await quota.blur()
    await eventually(() => quota.inputValue()).toBe('1234.29')
    await page.getByLabel('Daily budget').fill('0.0000001')
    await page.getByText('= 1 unit', { exact: true }).waitFor()
    await page.getByLabel('Monthly budget').fill('-1')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.getByText('Must be at least $0.00.').waitFor()
    expect(visit.calls().filter((call) => call.startsWith('POST'))).toEqual([])
    await page.getByLabel('Monthly budget').fill('0.29')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.waitForURL('**/token?start=*')
    const [made] = await tokensOf(user)
    expect(made).toMatchObject({ remain_quota: 617_145_000, daily_budget: 1, monthly_budget: 145_000 })
    await visit.open(`/token/edit/${made?.id}`)
    await eventually(() => quota.inputValue()).toBe('1234.29')
    await eventually(() => page.getByLabel('Daily budget').inputValue()).toBe('0.000002')
    // Fields that nobody edits are sent back unchanged.
    await page.getByLabel('Name').fill('renamed')
    await page.getByRole('button', { name: 'Submit' }).click()
    await toastShown(page, 'success', 'token updated successfully!')
    expect((await tokensOf(user))[0]).toMatchObject({ remain_quota: 617_145_000, daily_budget: 1 })
  })

  test('spec 5: the option "unlimited" disables the quota', async () => {
    const user = await site.addUser('unlimited')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('no limit')
    await page.getByRole('switch', { name: 'Unlimited quota' }).check()
    await eventually(() => page.getByLabel('Quota', { exact: true }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.waitForURL('**/token?start=*')
    await eventually(async () => (await tokensOf(user))[0]).toMatchObject({ unlimited_quota: true })
    await page.getByRole('button', { name: 'Done' }).click()
    await row(page, 'no limit').getByText('unlimited').waitFor()
  })

  test('spec 5: without a name, nothing is sent, and only the field shows the error', async () => {
    const user = await site.addUser('noname')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('  ')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.getByText('This field is required.').waitFor()
    await eventually(() => page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator('[data-toast]').count()).toBe(0)
    await eventually(() => tokensOf(user)).toEqual([])
  })

  test('an error from the server is shown at its field in plain words, and disappears when the next attempt succeeds', async () => {
    const user = await site.addUser('refused')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('a token')
    await page.getByLabel('Quota', { exact: true }).fill('-5')
    await page.getByRole('button', { name: 'Submit' }).click()
    const quota = page.getByLabel('Quota', { exact: true })
    await eventually(() => quota.getAttribute('aria-invalid')).toBe('true')
    await eventually(() => quota.evaluate((it) => it === document.activeElement)).toBe(true)
    await page.getByText('Must be at least 0.', { exact: true }).waitFor()
    // While the pointer is on a toast, it does not time out; it disappears only when the page removes it.
    const said = toastOf(page, 'error', 'Error: Quota: Must be at least 0.')
    await said.hover()
    await quota.fill('5')
    const networks = page.getByLabel('Allowed IPs (CIDR)')
    await networks.fill('nowhere')
    await networks.press('Control+Enter')
    const refused = toastOf(page, 'error', 'Error: Allowed IPs (CIDR) has "nowhere", which is not a network')
    await refused.hover()
    await eventually(() => said.count()).toBe(0)
    await networks.fill('')
    await networks.press('Control+Enter')
    await page.waitForURL('**/token?*')
    await toastShown(page, 'success', 'token created successfully, please copy the key from the list!')
    await eventually(() => page.locator('[data-toast="error"]').count()).toBe(0)
  })

  test('spec 5: an invalid expiry is refused with the console’s message, at the field and as a toast', async () => {
    const user = await site.addUser('badtime')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('x')
    await page.getByRole('button', { name: 'One day', exact: true }).click()
    await page.getByLabel('Expiry').fill('')
    await page.getByRole('button', { name: 'Submit' }).click()
    await toastShown(page, 'error', 'expiry time format error!')
    const box = page.getByLabel('Expiry')
    await eventually(() => box.getAttribute('aria-invalid')).toBe('true')
    await eventually(() => box.evaluate((it) => it === document.activeElement)).toBe(true)
    const described = await box.getAttribute('aria-describedby')
    await eventually(() => page.locator(`[id="${described}"]`).textContent()).toBe('expiry time format error!')
    await eventually(() => tokensOf(user)).toEqual([])
  })

  test('models are chosen from those that the account may call, or typed; models that the account may not call are reported', async () => {
    await serve('gpt-4o,gpt-4o-mini')
    const user = await site.addUser('chooses')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('for some')
    const box = page.getByLabel('Models')
    const warning = page.getByText('not available to you now')
    await box.click()
    await page.getByRole('option', { name: 'gpt-4o', exact: true }).click()
    await page.getByRole('button', { name: 'Remove gpt-4o', exact: true }).waitFor()
    await eventually(() => warning.count()).toBe(0)
    await box.fill('gpt-4o-mni')
    await box.press('Enter')
    await eventually(() => warning.textContent()).toBe('This model is not available to you now: gpt-4o-mni')
    await box.fill('another')
    await box.press('Enter')
    await eventually(() => warning.textContent()).toBe('These models are not available to you now: gpt-4o-mni, another')
    await page.getByRole('button', { name: 'Remove gpt-4o-mni', exact: true }).click()
    await eventually(() => warning.textContent()).toBe('This model is not available to you now: another')
    await box.press('Escape')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.waitForURL('**/token?start=*')
    await eventually(async () => (await tokensOf(user))[0]).toMatchObject({ models: 'gpt-4o,another' })
  })

  test('if the user clicks or focuses the models box before it has loaded, it is open or focused after loading', async () => {
    await serve('gpt-4o')
    await using visit = await site.visit({ as: await site.addUser('early') })
    const { page } = visit
    const clicked = await openHeld(page, '/token/add', control)
    const box = page.getByLabel('Models')
    const isWaiting = () => box.getAttribute('aria-busy')
    await box.click()
    expect(await isWaiting()).toBe('true')
    await clicked()
    await page.getByRole('option', { name: 'gpt-4o', exact: true }).click()
    await page.getByRole('button', { name: 'Remove gpt-4o', exact: true }).waitFor()
    const pressed = await openHeld(page, '/token/add', control)
    await box.hover()
    await page.mouse.down()
    expect(await isWaiting()).toBe('true')
    await pressed()
    await eventually(() => box.getAttribute('role')).toBe('combobox')
    await page.mouse.up()
    await page.getByRole('option', { name: 'gpt-4o', exact: true }).click()
    await page.getByRole('button', { name: 'Remove gpt-4o', exact: true }).waitFor()
    const focused = await openHeld(page, '/token/add', control)
    await box.focus()
    expect(await isWaiting()).toBe('true')
    await focused()
    await eventually(() => box.getAttribute('role')).toBe('combobox')
    await page.keyboard.type('by-name')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove by-name', exact: true }).waitFor()
    const added = await openHeld(page, '/token/add', control)
    await box.pressSequentially('early-word')
    await box.press('Enter')
    expect(await isWaiting()).toBe('true')
    await added()
    await page.getByRole('button', { name: 'Remove early-word', exact: true }).waitFor()
    await staysShut(box)
    expect(await page.getByRole('button', { name: 'Remove early-word', exact: true }).count()).toBe(1)
    await page.keyboard.type('gpt')
    await page.getByRole('option', { name: 'gpt-4o', exact: true }).waitFor()
    const typing = await openHeld(page, '/token/add', control)
    await box.pressSequentially('first')
    await box.press('Enter')
    await box.pressSequentially('typed-ea')
    expect(await isWaiting()).toBe('true')
    await typing()
    await eventually(() => box.getAttribute('role')).toBe('combobox')
    await page.keyboard.type('rly')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove typed-early', exact: true }).waitFor()
    // Closes the open list, which hides other content from screen-reader users.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove first', exact: true }).waitFor()
    const left = await openHeld(page, '/token/add', control)
    await box.pressSequentially('left-early')
    await box.press('Tab')
    expect(await isWaiting()).toBe('true')
    await left()
    await page.getByRole('button', { name: 'Remove left-early', exact: true }).waitFor()
  })

  test('a pending list does not open if a model has been added in the meantime', async () => {
    await using visit = await site.visit({ as: await site.addUser('no-models'), expectedErrors: /status of 5/ })
    const { page } = visit
    const box = page.getByLabel('Models')
    const chip = page.getByRole('button', { name: 'Remove my-model', exact: true })
    await page.route('**/api/user/available_models', (route) => route.fulfill({ status: 500 }))
    const clicked = await openHeld(page, '/token/add', control)
    await box.click()
    await clicked()
    await eventually(() => box.getAttribute('role')).toBe('combobox')
    await page.keyboard.type('my-model')
    await page.getByRole('option', { name: 'Add “my-model”', exact: true }).click()
    await chip.waitFor()
    await staysShut(box)
    const ended = await openHeld(page, '/token/add', control)
    await box.pressSequentially('my-model')
    await ended()
    await eventually(() => box.getAttribute('role')).toBe('combobox')
    await page.keyboard.press('Enter')
    await chip.waitFor()
    await staysShut(box)
  })

  test('a pending list opens even if the user presses a key such as Shift, which has no effect by itself', async () => {
    await serve('gpt-4o')
    await using visit = await site.visit({ as: await site.addUser('modifier') })
    const { page } = visit
    const box = page.getByLabel('Models')
    const release = await hold(page, '**/api/user/available_models')
    const load = await openHeld(page, '/token/add', control)
    await box.click()
    await load()
    await eventually(() => box.getAttribute('role')).toBe('combobox')
    await page.keyboard.press('Control')
    release()
    await page.getByRole('option', { name: 'gpt-4o', exact: true }).waitFor()
  })

  test('clicking the models box after it has loaded but before it is shown opens it', async () => {
    await serve('gpt-4o')
    await using visit = await site.visit({ as: await site.addUser('between') })
    const { page } = visit
    // React may show loaded content up to 300 ms after its placeholder. The box appears within that time.
    await page.goto('/token/add', { waitUntil: 'commit' })
    const box = page.getByLabel('Models')
    await box.waitFor()
    // A box that is replaced during the call to `boundingBox` has no position.
    let place = await box.boundingBox()
    while (place === null) place = await box.boundingBox()
    await page.mouse.click(place.x + place.height, place.y + place.height / 2)
    await page.getByRole('option', { name: 'gpt-4o', exact: true }).click()
    await page.getByRole('button', { name: 'Remove gpt-4o', exact: true }).waitFor()
  })

  test('text typed into the models box after it has loaded but before it is shown is kept', async () => {
    await using visit = await site.visit({ as: await site.addUser('typer') })
    const { page } = visit
    const box = page.getByLabel('Models')
    await page.goto('/token/add', { waitUntil: 'commit' })
    await box.waitFor()
    await box.focus()
    // With this delay, the control is likely to be rendered before the last letter is typed and shown after it.
    await page.keyboard.type('my-', { delay: 40 })
    await eventually(() => box.getAttribute('role')).toBe('combobox')
    await page.keyboard.type('model')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove my-model', exact: true }).waitFor()
  })

  test('editing keeps the models unchanged, available or not; removing all of them allows every model', async () => {
    await serve('gpt-4o')
    const user = await site.addUser('keeper')
    const models = 'z-model,gpt-4o,a-model'
    const token = await addToken(user, { name: 'for three', models })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    const sent = () => page.waitForRequest((request) => request.method() === 'PUT')
    await visit.open(`/token/edit/${token.id}`)
    for (const model of models.split(',')) {
      await page.getByRole('button', { name: `Remove ${model}`, exact: true }).waitFor()
    }
    await page.getByText('These models are not available to you now: z-model, a-model').waitFor()
    await page.getByLabel('Name').fill('for three still')
    const [kept] = await Promise.all([sent(), page.getByRole('button', { name: 'Submit' }).click()])
    expect(kept.postDataJSON()).toMatchObject({ name: 'for three still', models })
    await row(page, 'for three still').waitFor()
    await visit.open(`/token/edit/${token.id}`)
    for (const model of models.split(',')) {
      await page.getByRole('button', { name: `Remove ${model}`, exact: true }).click()
    }
    const [emptied] = await Promise.all([sent(), page.getByRole('button', { name: 'Submit' }).click()])
    expect(emptied.postDataJSON()).toMatchObject({ models: '' })
    await toastShown(page, 'success', 'token updated successfully!')
    await eventually(async () => (await tokensOf(user))[0]).toMatchObject({ models: null })
  })

  test('a model name that was typed but not added does not lead to a token for all models', async () => {
    const user = await site.addUser('in-haste', { quota: 1000 })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('for one')
    await page.getByLabel('Models').pressSequentially('gpt-4o')
    await page.getByLabel('Models').press('Tab')
    await page.getByRole('button', { name: 'Remove gpt-4o', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.waitForURL('**/token?start=*')
    await eventually(async () => (await tokensOf(user))[0]).toMatchObject({ name: 'for one', models: 'gpt-4o' })
  })

  test('models can be typed if the account’s models cannot be loaded', async () => {
    const user = await site.addUser('untold')
    await using visit = await site.visit({ as: user, expectedErrors: /status of 5/ })
    const { page } = visit
    const asked = '**/api/user/available_models'
    await page.route(asked, (route) => route.fulfill({ status: 500, json: { success: false } }))
    const failed = page.waitForResponse(asked)
    await visit.open('/token/add')
    await failed
    await page.getByLabel('Name').fill('by name')
    const box = page.getByLabel('Models')
    await box.fill('my-model')
    await box.press('Enter')
    await page.getByRole('button', { name: 'Remove my-model', exact: true }).waitFor()
    expect(await page.getByText('not available to you now').count()).toBe(0)
    await box.press('Escape')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.waitForURL('**/token?start=*')
    await eventually(async () => (await tokensOf(user))[0]).toMatchObject({ models: 'my-model' })
  })

  test('spec 8: editing loads the stored values, saves only once, also with Ctrl+Enter, and keeps unchanged fields', async () => {
    const user = await site.addUser('editor')
    const token = await addToken(user, { name: 'before', remain_quota: 700_000, expired_time: 2_000_000_000 })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(`/token/edit/${token.id}`)
    const name = page.getByLabel('Name')
    await eventually(() => name.inputValue()).toBe('before')
    await name.fill('after')
    await name.press('Control+Enter')
    await toastShown(page, 'success', 'token updated successfully!')
    await row(page, 'after').waitFor()
    await eventually(async () => (await tokensOf(user))[0]).toMatchObject({
      name: 'after',
      remain_quota: 700_000,
      expired_time: 2_000_000_000,
      status: 1,
    })
    await eventually(() => visit.calls().filter((call) => call.startsWith('PUT'))).toEqual(['PUT /api/token/'])
  })

  test('leaving with unsaved changes asks for confirmation; staying keeps the changes', async () => {
    const user = await site.addUser('leaver')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token/add')
    await page.getByLabel('Name').fill('half done')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    await eventually(() => page.getByLabel('Name').inputValue()).toBe('half done')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL('**/token')
    await eventually(() => tokensOf(user)).toEqual([])
  })

  test('for an unknown token, the page reports that it does not exist, with a link back', async () => {
    const user = await site.addUser('seeker')
    await using visit = await site.visit({ as: user })
    await visit.open('/token/edit/999999')
    await visit.page.getByText('Token not found', { exact: true }).waitFor()
    await visit.page.getByRole('link', { name: 'Back' }).click()
    await visit.page.waitForURL('**/token')
  })
})
