// Who spent what last month: the table on the usage page, its CSV export, and its time ranges. In titles, "spec 7" is
// section 7 of the specification (see coverage.md).
import { beforeAll, expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { rowsOf } from './support/lists.ts'
import { logWriter } from './support/log-rows.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
const today = new Date()
const lastMonth = new Date(today.getFullYear(), today.getMonth() - 1, 1)
const start = lastMonth.getTime() / 1000
const end = new Date(today.getFullYear(), today.getMonth(), 1).getTime() / 1000
const people = Array.from({ length: 14 }, (_, index) => `person-${index}`)
const models = ['gpt-4o', 'claude', '=model']

interface Written {
  created_at: number
  username: string
  model_name: string
  quota: number
}
const written: Written[] = []

beforeAll(() => {
  using database = openDatabase(site)
  const insert = logWriter(database)
  // The rows cover the month and two more days at each end.
  const step = Math.floor((end - start + 4 * 86_400) / 300)
  for (let index = 0; index < 300; index++) {
    const person = index % people.length
    const row = {
      created_at: Math.min(start - 2 * 86_400 + index * step, Math.floor(Date.now() / 1000)),
      username: people[person] ?? '',
      model_name: models[index % models.length] ?? '',
      quota: 1000 + ((index * 7919) % 50_021),
    }
    written.push(row)
    insert({
      ...row,
      user_id: 100 + person,
      token_name: 'main',
      prompt_tokens: 20,
      completion_tokens: 7,
      channel_id: 1,
      request_id: `request-${index}`,
      elapsed_time: 900,
      is_stream: 1,
      token_id: 100 + person,
      first_byte_time: 120,
      outcome: 'complete',
    })
  }
})

test('three clicks export last month’s spend by user and model, in dollars; its sum equals that of the log rows', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/usage')
  await page.getByText('Last month', { exact: true }).click()
  await page.getByLabel('Group by').selectOption('user model')
  // Once the table is grouped as chosen in the menu, the link exports the same groups.
  await page.locator('a[href*="and=model"]').waitFor()
  const saving = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export CSV', exact: true }).click()
  const download = await saving
  const month = `${lastMonth.getFullYear()}-${String(lastMonth.getMonth() + 1).padStart(2, '0')}`
  expect(download.suggestedFilename()).toBe(`usage-by-user-model-${month}.csv`)
  const lines = (await Bun.file(await download.path()).text()).replace('\u{FEFF}', '').trim().split('\r\n')
  const cells = lines.map((line) => line.split(',').map((cell) => cell.replaceAll('"', '')))
  const wanted = written.filter(({ created_at }) => created_at >= start && created_at < end)
  const spent = new Map<string, number>()
  for (const { username, model_name, quota } of wanted) {
    const pair = `${username} ${model_name}`
    spent.set(pair, (spent.get(pair) ?? 0) + quota)
  }
  const exported = new Map(
    cells.slice(1, -1).map(([, user, model, , quota]) => [`${user} ${model?.replace("'", '')}`, Number(quota)]),
  )
  expect(exported).toEqual(spent)
  const sum = wanted.reduce((total, { quota }) => total + quota, 0)
  expect(cells.at(-1)?.slice(0, 5)).toEqual(['Total', '', '', (sum / 500_000).toFixed(6), String(sum)])
})

test('all names are in the table, page by page; it can be sorted and searched, and the chosen time range is kept', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/usage?group=user')
  await page.getByText('This quarter', { exact: true }).click()
  await page.getByText('Last month', { exact: true }).click()
  const rows = rowsOf(page)
  await page.getByText(`Page 1 of 2 · ${people.length} rows`).waitFor()
  await page.getByRole('columnheader').getByRole('button', { name: 'User', exact: true }).click()
  await page.waitForURL((url) => url.searchParams.get('sort') === 'name')
  await eventually(() => rows.first().textContent()).toContain('person-0')
  await page.getByLabel('Search by name').fill('person-13')
  await eventually(() => rows.count()).toBe(1)
  await rows.first().getByRole('img', { name: 'Spend of person-13 over time' }).waitFor()
  await visit.open('/usage?group=user')
  await page.getByRole('radio', { name: 'Last month' }).waitFor({ state: 'attached' })
  expect(await page.getByRole('radio', { name: 'Last month' }).isChecked()).toBe(true)
})

test('a custom range has a first and a last day, and both are included', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/usage?range=custom&group=user')
  const text = (day: number) =>
    `${lastMonth.getFullYear()}-${String(lastMonth.getMonth() + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}`
  await page.getByLabel('From', { exact: true }).fill(text(3))
  await page.getByLabel('To', { exact: true }).fill(text(4))
  await page.waitForURL((url) => url.searchParams.get('to') !== null)
  const { searchParams } = new URL(page.url())
  expect([Number(searchParams.get('from')), Number(searchParams.get('to'))]).toEqual([
    start + 2 * 86_400,
    start + 4 * 86_400,
  ])
})

test('spec 7: the statement of a month adds up', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/usage')
  await page.getByRole('link', { name: 'Monthly statement' }).click()
  await page.waitForURL('**/statement')
  const amounts = page.locator('main dl dd')
  await eventually(() => amounts.count()).toBe(6)
  const [opening, ...changes] = (await amounts.allTextContents()).map((text) => Number(text.replace(/[$,+]/g, '')))
  const closing = changes.pop()
  const sum = changes.reduce((total, change) => total + change, opening ?? 0)
  expect(Math.round(sum * 1e6)).toBe(Math.round((closing ?? Number.NaN) * 1e6))
  expect(await page.getByLabel('Month').locator('option').count()).toBe(24)
})

test('spec 7: statements by email are offered if the installation sends them, and each user can switch them off', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/?scope=own')
  await page.getByRole('link', { name: 'Statement', exact: true }).click()
  await page.waitForURL('**/statement')
  await page.locator('main dl').waitFor()
  const emails = page.getByRole('switch', { name: 'Email me a monthly statement' })
  expect(await emails.count()).toBe(0)
  await site.api('PUT', '/api/option/', { key: 'StatementEmailEnabled', value: 'true' })
  await page.reload()
  await emails.waitFor()
  expect(await emails.isChecked()).toBe(true)
  await page.getByText('Your account has no email address. Connect one in the settings.').waitFor()
  await emails.click()
  await eventually(() => emails.isChecked()).toBe(false)
  const wanted = async () => (await site.api<{ wanted: boolean }>('GET', '/api/user/statement-emails')).wanted
  await eventually(wanted).toBe(false)
  await page.reload()
  await emails.waitFor()
  expect(await emails.isChecked()).toBe(false)
  await page.route('**/api/user/statement-emails', (route) =>
    route.fulfill({ status: 200, json: { success: false, message: 'Not now.' } }),
  )
  await emails.click()
  await toastShown(page, 'error', 'Not now.')
  expect(await emails.isChecked()).toBe(false)
  await page.unroute('**/api/user/statement-emails')
  await emails.click()
  await eventually(wanted).toBe(true)
  await site.api('PUT', '/api/option/', { key: 'StatementEmailEnabled', value: 'false' })
})

test('spec 7: the budgets page first lists the limits that are closest to being reached', async () => {
  using database = openDatabase(site)
  database
    .query('UPDATE users SET monthly_budget = 1000, spent_month = 990, spent_at = ? WHERE username = ?')
    .run(Math.floor(Date.now() / 1000), rootAccount.username)
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/usage')
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await page.waitForURL('**/budget')
  await page.getByLabel('Limit', { exact: true }).selectOption('month')
  const rows = rowsOf(page)
  await eventually(() => rows.count()).toBe(1)
  expect(await rows.first().textContent()).toContain('99%')
  await page.getByLabel('Level', { exact: true }).selectOption('critical')
  await page.waitForURL((url) => url.searchParams.get('level') === 'critical')
  await eventually(() => rows.count()).toBe(1)
  const saving = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export all (CSV)' }).click()
  expect((await saving).suggestedFilename()).toMatch(/^budgets-\d{4}-\d\d-\d\d\.csv$/)
  await rows
    .first()
    .getByRole('button', { name: /^Edit limit/ })
    .click()
  await page.waitForURL('**/user/edit/*')
})
