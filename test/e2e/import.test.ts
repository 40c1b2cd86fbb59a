// In titles, "spec 7" is section 7 of the specification (see coverage.md).
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownSource, smallRows } from '../import/own-samples.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

test('spec 7: root uploads a database, checks it without changes, imports it, and compares the sums of the source and the installation', async () => {
  const from = ownSource('new-api', {
    ...smallRows(),
    subscription_plans: [{ id: 1, title: 'Gold', price_amount: 9.5 }],
    options: [{ key: 'ModelRatio', value: '{"gpt-4o":7}' }],
  })
  await using visit = await site.visit({ as: rootAccount, width: 390 })
  const { page } = visit
  await visit.open('/import')
  await page.getByRole('button', { name: 'Check first' }).click()
  await page.getByText('Enter the database URL.').waitFor()
  await page.getByText('File', { exact: true }).click()
  await page.getByRole('button', { name: 'Check first' }).click()
  await page.getByText('Choose a file.').waitFor()

  const wrong = join(site.folder, 'wrong.db')
  writeFileSync(wrong, 'hello')
  await page.getByLabel('SQLite database or config.yaml').setInputFiles(wrong)
  await page.getByRole('button', { name: 'Check first' }).click()
  await toastShown(page, 'error', 'The file is neither a SQLite database nor a config.yaml of LiteLLM.')

  await page.getByLabel('SQLite database or config.yaml').setInputFiles(from)
  await page.getByRole('button', { name: 'Check first' }).click()
  await page.getByText('The source was checked. Nothing was changed.').waitFor()
  await page.getByText('This installation is empty: ids are kept.').waitFor()
  const sums = page.getByRole('region', { name: 'Sums' }).first()
  await sums.getByRole('rowheader', { name: 'Users', exact: true }).waitFor()
  await page.getByRole('rowheader', { name: 'ModelRatio' }).waitFor()
  expect(await site.api<unknown[]>('GET', '/api/user/?p=0')).toHaveLength(1)

  // After a reload, the page still offers to start the import.
  await page.reload()
  await page.getByRole('button', { name: 'Start the import' }).click()
  await page.getByText('The import is complete.').waitFor()
  await sums.getByRole('row', { name: /^Log rows 2 2$/ }).waitFor()
  await sums.getByRole('row', { name: /^Quota of charges 60 60$/ }).waitFor()
  expect(await site.api<unknown[]>('GET', '/api/user/?p=0')).toHaveLength(2)

  const [report] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download report' }).click(),
  ])
  expect(report.suggestedFilename()).toMatch(/^import-\d+\.json$/)
  const [leftovers] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download leftovers' }).click(),
  ])
  expect(leftovers.suggestedFilename()).toMatch(/^new-api-\d+-\d+\.jsonl$/)

  for (const [language, sentence] of [
    ['zh', '表 subscription_plans 没有对应项。'],
    ['ja', 'テーブル subscription_plans に対応するものがありません。'],
  ] as const) {
    await using other = await site.visit({ as: rootAccount, language })
    await other.open('/import')
    await other.page.getByText(sentence).waitFor()
    expect(await other.page.getByText('has no counterpart').count()).toBe(0)
  }
})

test('a running import survives a reload, and can be cancelled; one that was killed can be continued', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  // A running import as another node returns it. The test sends it to the page instead of the server's response.
  const run = {
    ...{ id: 77, state: 'running', dry_run: false, source: 'mysql://10.0.0.5:3306/oneapi', merge: false, only: [] },
    ...{ since: 0, started_by: 'root', created_at: 1_790_000_000, finished_at: 0, stage: 'logs', done: 250_000 },
    ...{ total: 1_000_000, per_second: 31_000, error: '', can_continue: false, has_leftovers: false },
  }
  let shown: object = run
  let cancelled = 0
  await page.route('**/api/import/', (route) => route.fulfill({ json: { success: true, message: '', data: [shown] } }))
  await page.route('**/api/import/77/cancel', (route) => {
    cancelled++
    shown = { ...run, state: 'cancelled', finished_at: 1_790_000_100 }
    return route.fulfill({ json: { success: true, message: '' } })
  })
  await visit.open('/import')
  await page.getByText('250,000 of 1,000,000 log rows, 31,000 a second').waitFor()
  expect(await page.getByRole('progressbar', { name: 'Progress' }).getAttribute('value')).toBe('250000')
  shown = { ...run, done: 500_000 }
  await page.getByText('500,000 of 1,000,000 log rows').waitFor()
  await page.reload()
  await page.getByText('500,000 of 1,000,000 log rows').waitFor()
  await page.getByRole('button', { name: 'Cancel the import' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the import' }).click()
  await page.getByText('The import was cancelled.').waitFor()
  expect(cancelled).toBe(1)

  let again: unknown
  await page.route('**/api/import/77/again', (route) => {
    again = route.request().postDataJSON()
    shown = run
    return route.fulfill({ json: { success: true, message: '', data: { id: 78 } } })
  })
  shown = { ...run, state: 'interrupted', finished_at: 1_790_000_100, can_continue: true }
  await page.reload()
  await page.getByText('The import was interrupted.').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await eventually(() => Promise.resolve(again)).toEqual({ dry_run: false, merge: false, only: [], since: 0 })
  await page.getByText('250,000 of 1,000,000 log rows').waitFor()
})

test('the reasons why an import failed and a field was dropped are shown in the language of the page', async () => {
  await using visit = await site.visit({ as: rootAccount, language: 'ja' })
  const { page } = visit
  const run = {
    ...{ id: 78, state: 'failed', dry_run: true, source: 'one-api.db', merge: false, only: [], since: 0 },
    ...{ started_by: 'root', created_at: 1_790_000_000, finished_at: 1_790_000_001, stage: '', done: 0, total: 0 },
    ...{ per_second: 0, can_continue: false, has_leftovers: false },
  }
  let shown: object = {
    ...run,
    error: 'one-api.db is empty. Copy the database again while its program is stopped.',
    ...{ error_code: 'fault_empty', error_values: { source: 'one-api.db' } },
  }
  await page.route('**/api/import/', (route) => route.fulfill({ json: { success: true, message: '', data: [shown] } }))
  const finding = {
    ...{ kind: 'channels', text: 'in English', count: 1, examples: ['channel 1'], code: 'channel_field_dropped' },
    values: { key: 'status_code_mapping', reason: 'The statuses in status_map must be from 400 to 599.' },
    reason: { code: 'status_map_range' },
  }
  const report = {
    ...{ program: 'one-api', version: '', source: 'one-api.db', dryRun: true, mode: 'empty', sums: [], options: [] },
    ...{ added: { users: 0, tokens: 0, channels: 0, codes: 0, logs: 0 }, prices: [], leftoversFile: '', leftovers: 0 },
    ...{ changedMeanwhile: false, seconds: 1, findings: [finding, { ...finding, code: undefined, text: 'No code.' }] },
  }
  await page.route('**/api/import/78/report', (route) =>
    route.fulfill({ json: { success: true, message: '', data: report } }),
  )
  await visit.open('/import')
  await page
    .getByText('one-api.db は空です。プログラムを停止した状態でデータベースをコピーし直してください。')
    .waitFor()
  shown = { ...run, state: 'done', error: '' }
  await page.reload()
  const told = page.getByText('status_code_mapping はここでは無効なため、破棄されます：', { exact: false })
  await told.waitFor()
  expect(await told.textContent()).toContain('400')
  expect(await told.textContent()).not.toContain('must be')
  // A sentence without a code is shown as the server wrote it.
  expect(await page.getByText('No code.').getAttribute('lang')).toBe('en')
})

test('admins see that only a super admin can import', async () => {
  const ada = await site.addUser('import-ada', { role: 10 })
  await using visit = await site.visit({ as: ada })
  await visit.open('/import')
  await visit.page.getByText('Only a super admin can import').waitFor()
})
