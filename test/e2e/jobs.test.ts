// Typical questions that people answer with the console, on an installation with 60 channels, 300 users and 20,000
// calls. Each test ends when the answer is on the screen. first-call.test.ts tests the way from an empty installation
// to the first call.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { rowsOf } from './support/lists.ts'
import { busiestUser, newestFailure, openHealthyConsole, openSeededConsole } from './support/seeded.ts'

const site = openSeededConsole()
const healthy = openHealthyConsole()

if (process.env['UPDATE_SCREENSHOTS'] === '1')
  test('the screenshot of the overview for the README', async () => {
    await using visit = await site.visit({ as: rootAccount, theme: 'light', language: 'en', height: 800 })
    const { page } = visit
    await visit.open('/')
    await page.getByText('Needs attention').waitFor()
    await page.waitForLoadState('networkidle')
    await page.waitForFunction(() => document.querySelector('.skeleton') === null)
    await page.screenshot({ path: join(import.meta.dir, '../../docs/images/home.png'), animations: 'disabled' })
  })

const scrollsSideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

test('an incident: from the request ID that a user reports to the channel and the reason', async () => {
  const failure = newestFailure(site)
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search and commands' }).fill(failure.request_id)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/log/${failure.request_id}`)
  await page.getByRole('region', { name: 'Error' }).getByText(failure.upstream_message).waitFor()
  await page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: failure.channel }).waitFor()
})

test('an incident: the channel that fails every request is found, with its error in words', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel')
  await page.getByText('Health', { exact: true }).click()
  const board = page.getByRole('region', { name: 'Health' })
  // The channels that the gateway disabled come first, then those that fail, then the busy ones.
  const names = board.getByRole('rowheader')
  await names.nth(2).waitFor()
  const failing = board.getByRole('row').filter({ hasText: '100.0%' }).first()
  await failing.getByText('The server is overloaded').waitFor()
  expect((await failing.getByRole('rowheader').textContent()) ?? '').toContain(
    (await names.nth(2).textContent()) ?? '?',
  )
})

test('a user: balance, how long it lasts, and which requests failed and why', async () => {
  const user = busiestUser(site)
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open('/')
  await page.getByText('Balance', { exact: true }).first().waitFor()
  await page
    .getByText(/^(?:Runs out in|Lasts)|at this pace/)
    .first()
    .waitFor()
  await visit.open('/log?outcome=failed')
  const row = rowsOf(page)
    .filter({ hasText: /Failed with \d+/ })
    .first()
  await row.waitFor()
  await row.click()
  await page.getByRole('dialog').getByRole('region', { name: 'Failure' }).locator('p').first().waitFor()
})

test('finance: three clicks from the overview save a file of last month’s spend by user and model, in dollars; its sum equals that of the log rows', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/')
  await page.getByRole('link', { name: 'By user and model' }).click()
  await page.getByText('Last month', { exact: true }).click()
  const now = new Date()
  const [start, end] = [-1, 0].map((months) => new Date(now.getFullYear(), now.getMonth() + months, 1).getTime() / 1000)
  const exporting = page.getByRole('link', { name: 'Export CSV', exact: true })
  await eventually(() => exporting.getAttribute('href')).toContain(`start_timestamp=${start}`)
  const saving = page.waitForEvent('download')
  await exporting.click()
  const file = await saving
  const text = await Bun.file(await file.path()).text()
  expect(text.slice(0, text.indexOf('\r'))).toContain('"user","model","usd","quota"')
  const total = text.trim().split('\r\n').at(-1)?.split(',') ?? []
  using database = openDatabase(site)
  const { sum } = database
    .query('select sum(quota) as sum from logs where type = 2 and created_at >= ? and created_at < ?')
    .get(start ?? 0, end ?? 0) as { sum: number }
  expect(sum).toBeGreaterThan(0)
  expect(total).toContain(String(sum))
  expect(total).toContain((sum / 500_000).toFixed(6))
})

test('on a phone: from the overview to the reason of a failed request, without scrolling sideways', async () => {
  await using visit = await site.visit({ as: rootAccount, width: 390 })
  const { page } = visit
  await visit.open('/')
  await page.getByText('Needs attention').waitFor()
  expect(await scrollsSideways(page)).toBe(false)
  await visit.open('/log?outcome=failed')
  const row = rowsOf(page)
    .filter({ hasText: /Failed with \d+/ })
    .first()
  await row.waitFor()
  expect(await scrollsSideways(page)).toBe(false)
  await row.click()
  await page.getByRole('dialog').getByRole('region', { name: 'Failure' }).waitFor()
  expect(await scrollsSideways(page)).toBe(false)
})

test('with only the keyboard: log in, find a user, read the balance', async () => {
  const user = busiestUser(site)
  await using visit = await site.visit()
  const { page } = visit
  await visit.open('/login')
  await page.keyboard.type(rootAccount.username)
  await page.keyboard.press('Tab')
  await page.keyboard.type(rootAccount.password)
  await page.keyboard.press('Enter')
  await page.getByText('Needs attention').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search and commands' }).waitFor()
  await page.keyboard.type(user.username)
  // Names of other users begin with this name, and their accounts are newer. The exact match is first all the same.
  await page.getByRole('option', { name: user.username }).first().waitFor()
  await page.keyboard.press('Enter')
  const drawer = page.getByRole('dialog', { name: user.username, exact: true })
  await drawer.getByText('Balance').first().waitFor()
})

test('in Chinese: the failed requests and their number', async () => {
  await using visit = await site.visit({ as: rootAccount, language: 'zh' })
  const { page } = visit
  await visit.open('/log?outcome=failed')
  using database = openDatabase(site)
  const { count } = database
    .query("select count(*) as count from logs where outcome in ('failed', 'interrupted')")
    .get() as {
    count: number
  }
  await page.getByText(count.toLocaleString('zh-CN'), { exact: true }).first().waitFor()
  await rowsOf(page)
    .filter({ hasText: /失败（\d+）/ })
    .first()
    .waitFor()
})

test('in the dark theme: problems are listed with what to do about them, and disappear from the list once they are fixed', async () => {
  await using visit = await site.visit({ as: rootAccount, theme: 'dark' })
  const { page } = visit
  await visit.open('/')
  const items = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
  await items.first().waitFor()
  using database = openDatabase(site)
  const off = database.query('select name from channels where status = 3').all() as { name: string }[]
  expect(off).toHaveLength(2)
  for (const { name } of off) {
    const item = items.filter({ hasText: name })
    await item.getByText('was disabled automatically: Incorrect API key provided').waitFor()
    await item.getByRole('button', { name: 'Test and enable' }).waitFor()
  }
  const failing = items.filter({ hasText: /\d+ of \d+ requests failed/ }).first()
  await failing.getByRole('link', { name: 'Open channel' }).waitFor()
  const before = await items.count()
  database.run('update channels set status = 1 where status = 3')
  await visit.open('/')
  await eventually(() => items.count()).toBe(before - 2)
})

test('on a healthy installation, nothing needs attention', async () => {
  await using visit = await healthy.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/')
  await page.getByRole('status').filter({ hasText: 'All good' }).waitFor()
  const attention = page.getByRole('region', { name: 'Needs attention' })
  await attention.getByText('Nothing needs your attention.').waitFor()
  expect(await attention.getByRole('listitem').count()).toBe(0)
})
