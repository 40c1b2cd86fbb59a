// The health board and the models map of the channel page, the report on a test of all channels, and the selection of
// several rows.
import { beforeAll, expect, test } from 'bun:test'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { axeFaults } from './support/audit.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { rowsOf } from './support/lists.ts'
import { logWriter } from './support/log-rows.ts'

const site = openConsole()
const ids: Record<string, number> = {}

beforeAll(async () => {
  for (const name of ['busy', 'calm', 'idle']) {
    const fields = { name, type: 8, key: 'k', group: 'default', base_url: 'http://127.0.0.1:1' }
    const [id] = await site.api<number[]>('POST', '/api/channel/', { ...fields, models: 'gpt-4o,own-model-x' })
    ids[name] = id ?? 0
  }
  using database = openDatabase(site)
  const now = Math.floor(Date.now() / 1000)
  const insert = logWriter(database)
  for (let call = 0; call < 4; call++) {
    const outcome = call === 0 ? 'interrupted' : 'complete'
    insert({
      created_at: now - 600 - call,
      token_name: 'one',
      model_name: 'gpt-4o',
      quota: 1,
      prompt_tokens: 1,
      completion_tokens: 1,
      channel_id: ids[call < 3 ? 'busy' : 'calm'] ?? 0,
      request_id: `request-${call}`,
      elapsed_time: 9,
      token_id: 1,
      first_byte_time: 1,
      outcome,
    })
  }
})

test('the health board shows attempts, error rate and share of traffic of each channel, as a table or cards', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel?view=board')
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })
  await row('busy').getByText('33.3%').waitFor()
  await row('busy').getByText('75.0%').waitFor()
  await row('busy').getByRole('img', { name: '3 attempts in 24 hours, 1 failed' }).waitFor()
  await row('calm').getByText('25.0%').waitFor()
  await row('idle').getByText('0.0%').waitFor()
  await page.getByText('Cards', { exact: true }).click()
  await page.getByRole('button', { name: /^calm/ }).getByText('Error rate 0.0%, 25.0% of traffic').waitFor()
  await page.getByRole('button', { name: /^calm/ }).click()
  const timeline = page.getByRole('dialog').getByRole('region', { name: 'Timeline' })
  await timeline.getByText('Created by root').waitFor()
})

test('the models map flags models without a price, and links to the prices', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel?view=models')
  const row = (model: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: model }) })
  await row('own-model-x').getByRole('link', { name: 'No price' }).waitFor()
  expect(await row('gpt-4o').getByRole('link').count()).toBe(0)
  await page.getByText('Problems only').click()
  await row('gpt-4o').waitFor({ state: 'detached' })
  await row('own-model-x').getByRole('link', { name: 'No price' }).click()
  await page.waitForURL('**/setting?tab=operation#ratios')
})

test('after a test of all channels, a report groups the failures by reason; a group can be disabled, enabled again and tested again', async () => {
  // No server listens on the channels' base URLs, so each test fails.
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel')
  await page.getByRole('button', { name: 'Test all' }).click()
  const report = page.getByRole('dialog', { name: 'Test results' })
  await report.getByText('0 passed, 3 failed').waitFor()
  const group = report.getByRole('region')
  expect(await group.count()).toBe(1)
  expect(await axeFaults(page)).toEqual([])
  expect(await group.getByRole('listitem').allTextContents()).toHaveLength(3)
  const saving = page.waitForEvent('download')
  await report.getByRole('button', { name: 'Export CSV' }).click()
  const [header, ...lines] = (await Bun.file(await (await saving).path()).text()).trim().split('\r\n')
  expect(header).toContain('ID,Name,Type,Status,Response time,Error')
  expect(lines.map((line) => line.split(',')[1]).sort()).toEqual(['busy', 'calm', 'idle'])
  // Opening a channel of the report hides the report. Closing the channel shows it again.
  await group.getByRole('button', { name: 'busy', exact: true }).click()
  await page.getByRole('dialog', { name: 'busy' }).waitFor()
  await page.keyboard.press('Escape')
  await report.waitFor()
  await report.getByRole('button', { name: 'Disable 3 channels' }).click()
  const statuses = async () =>
    (await site.api<{ status: number }[]>('GET', '/api/channel/')).map(({ status }) => status)
  await eventually(statuses).toEqual([2, 2, 2])
  await report.getByRole('button', { name: 'Enable 3 channels' }).click()
  await eventually(statuses).toEqual([1, 1, 1])
  await using upstream = await startFakeUpstream()
  upstream.always(ok())
  await site.api('PUT', '/api/channel/', { id: ids['idle'], base_url: upstream.url })
  await report.getByRole('button', { name: 'Test again' }).click()
  await report.getByText('1 passed, 2 failed').waitFor()
  await page.keyboard.press('Escape')
  await report.waitFor({ state: 'detached' })
  await page.getByRole('row').filter({ hasText: 'idle' }).getByText('Test failed').waitFor({ state: 'detached' })
  await page.getByRole('row').filter({ hasText: 'busy' }).getByText('Test failed').waitFor()
})

test('the result of testing all channels is also shown if the tests end before the page has seen them running', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  const ended = async () =>
    !(await site.api<{ running: boolean }>('GET', '/api/channel/test/progress')).running &&
    (await site.api<{ finished_at: number }>('GET', '/api/channel/test/progress')).finished_at > 0
  await visit.open('/channel')
  await rowsOf(page).first().waitFor()
  await page.route('**/api/channel/test', async (route) => {
    const response = await route.fetch()
    await eventually(ended).toBe(true)
    await route.fulfill({ response })
  })
  await page.getByRole('button', { name: 'Test all' }).click()
  await page.getByRole('dialog', { name: 'Test results' }).getByText('passed').first().waitFor()
})

test('Shift+click selects all rows in between', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/channel')
  const boxes = rowsOf(page).getByRole('checkbox')
  await boxes.nth(0).click()
  await page.getByText('1 selected').waitFor()
  await boxes.nth(2).click({ modifiers: ['Shift'] })
  await page.getByText('3 selected').waitFor()
  await eventually(() => boxes.evaluateAll((all) => all.map((box) => (box as HTMLInputElement).checked))).toEqual([
    true,
    true,
    true,
  ])
  await boxes.nth(1).click({ modifiers: ['Shift'] })
  await page.getByText('1 selected').waitFor()
})
