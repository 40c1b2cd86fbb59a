// Sections of the specification (see coverage.md): 2 (operations: ratios), 3 (ModelRatio, GroupRatio), 5 (valid JSON),
// 8 (messages).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { type FakeUpstream, ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let upstream: FakeUpstream

beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(ok({ text: 'one two three four five six seven eight nine ten' }))
  const channel = { name: 'main', type: 1, key: 'sk-1', base_url: upstream.url, group: 'default' }
  await site.api('POST', '/api/channel/', { ...channel, models: 'gpt-4o,gpt-4o-mini,homemade' })
})
afterAll(() => upstream.close())

const stored = async (key: string): Promise<Record<string, number>> => {
  const options = await site.api<{ key: string; value: string }[]>('GET', '/api/option/')
  return JSON.parse(options.find((option) => option.key === key)?.value || '{}')
}
const put = (key: string, value: object) => site.api('PUT', '/api/option/', { key, value: JSON.stringify(value) })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const line = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
const save = async (page: Page) => {
  await button(page, 'Save').click()
  await toastShown(page, 'success', 'operation completed successfully!')
  // The toast may be from the previous save, but the Save button disappears only when the current changes are saved.
  await button(page, 'Save').waitFor({ state: 'detached' })
}
const puts = (calls: readonly string[]) => calls.filter((call) => call.startsWith('PUT /api/option'))

/** Waits until the call is counted. Log rows are written in batches, shortly after their calls. */
const untilCounted = () =>
  eventually(
    async () => (await site.api<{ total: { quota: number } }>('GET', '/api/usage/')).total.quota,
  ).toBeGreaterThan(0)

beforeEach(async () => {
  await put('ModelRatio', {})
  await put('CompletionRatio', {})
  await put('GroupRatio', { default: 1, vip: 1, svip: 1 })
})

describe('the table of models', () => {
  test('shows all values of a model on a narrow screen', async () => {
    await put('ModelRatio', { 'gpt-4o': 2 })
    await using visit = await site.visit({ as: rootAccount, width: 390 })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    const row = line(page, 'gpt-4o')
    for (const part of [
      row.getByLabel('Prompt price of gpt-4o', { exact: true }),
      row.getByLabel('Completion price of gpt-4o', { exact: true }),
      row.getByText('Your entry'),
      row.getByRole('button', { name: 'Remove entry for gpt-4o' }),
    ]) {
      await part.waitFor()
      const box = await part.boundingBox()
      expect(box?.x).toBeGreaterThanOrEqual(0)
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
    }
    const region = page.getByRole('region', { name: 'Models, scrollable' })
    await eventually(() => region.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0)
  })

  test('shows each model’s price per million tokens and where it comes from, and flags models without a price', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await line(page, 'gpt-4o').getByText('Built in').waitFor()
    await eventually(() => page.getByLabel('Prompt price of gpt-4o', { exact: true }).getAttribute('placeholder')).toBe(
      '2.5',
    )
    await eventually(() =>
      page.getByLabel('Completion price of gpt-4o', { exact: true }).getAttribute('placeholder'),
    ).toBe('10')
    await line(page, 'homemade').getByText('No price').waitFor()
    await page.getByText('Ratio', { exact: true }).click()
    await eventually(() => page.getByLabel('Prompt price of gpt-4o', { exact: true }).getAttribute('placeholder')).toBe(
      '1.25',
    )
  })

  test('dollars are converted to ratios, the review shows the entries, and one call per option saves them', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await page.getByLabel('Prompt price of homemade', { exact: true }).fill('3')
    await page.getByLabel('Completion price of homemade', { exact: true }).fill('12')
    await line(page, 'homemade').getByText('Your entry').waitFor()
    await button(page, 'Review').click()
    await eventually(() => page.locator('ins').allTextContents()).toEqual(['homemade: 1.5', 'homemade: 4'])
    await save(page)
    await eventually(async () => [await stored('ModelRatio'), await stored('CompletionRatio')]).toEqual([
      { homemade: 1.5 },
      { homemade: 4 },
    ])
    await eventually(() => puts(visit.calls())).toHaveLength(2)
    await button(page, 'Remove entry for homemade').click()
    await save(page)
    await eventually(async () => [await stored('ModelRatio'), await stored('CompletionRatio')]).toEqual([{}, {}])
  })

  test('rows can be searched and added, and the ratios of all shown rows can be multiplied at once', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await line(page, 'gpt-4o').waitFor()
    await page.getByLabel('New model').fill('gpt-4o')
    await page.getByLabel('New model').press('Enter')
    await page.getByRole('alert').getByText('gpt-4o is already in the table.').waitFor()
    await page.getByLabel('New model').fill('added-one')
    await page.getByLabel('New model').press('Enter')
    await line(page, 'added-one').waitFor()
    await page.getByLabel('Search models').fill('gpt-4o')
    await eventually(() => line(page, 'added-one').count()).toBe(0)
    await page.getByLabel('Multiply shown prices by').fill('2')
    await button(page, 'Multiply').click()
    await save(page)
    await eventually(() => stored('ModelRatio')).toEqual({ 'added-one': 1, 'gpt-4o': 2.5, 'gpt-4o-mini': 0.15 })
  })

  test('shows what the calls of the last 7 days cost, and what they would cost with the edited prices', async () => {
    await put('ModelRatio', { homemade: 20_000 })
    await put('CompletionRatio', { homemade: 1 })
    const token = await site.api<{ key: string }>('POST', '/api/token/', {
      name: 'week',
      remain_quota: 0,
      expired_time: -1,
      unlimited_quota: true,
    })
    const body = { model: 'homemade', messages: [{ role: 'user', content: 'Hello' }] }
    const answer = await site.gateway.post('/v1/chat/completions', body, `sk-${token.key}`)
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
    await untilCounted()
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    const preview = page.getByRole('region', { name: 'Cost of the last 7 days at new prices' })
    await preview.getByText(/The last 7 days cost \$\d/).waitFor()
    const [, cost = ''] = /cost (\$[\d.]+)\./.exec((await preview.textContent()) ?? '') ?? []
    expect(Number(cost.slice(1))).toBeGreaterThan(0)
    await page.getByLabel('Prompt price of homemade', { exact: true }).fill('80000')
    const twice = `$${(Number(cost.slice(1)) * 2).toFixed(2)}`
    await preview.getByText(`cost ${cost}. At the new prices: ${twice} (+100.0%).`).waitFor()
    await button(page, 'Discard').click()
    await preview.getByText(`The last 7 days cost ${cost}.`).waitFor()
  })
})

describe('groups', () => {
  test('are added, changed and removed', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await page.getByText('Groups', { exact: true }).click()
    await page.getByLabel('Multiplier of vip').fill('0.8')
    await page.getByLabel('New group').fill('beta')
    await page.getByLabel('New group').press('Enter')
    await button(page, 'Remove svip').click()
    await save(page)
    await eventually(() => stored('GroupRatio')).toEqual({ default: 1, vip: 0.8, beta: 1 })
  })
})

describe('the JSON', () => {
  test('spec 5, 8: invalid JSON is not sent, and the console shows a message', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await page.getByText('JSON', { exact: true }).click()
    await page.getByLabel('Model ratio', { exact: true }).fill('{"gpt-4o": 2')
    await page.getByLabel('Group ratio', { exact: true }).fill('nonsense')
    await button(page, 'Save').click()
    await toastShown(page, 'error', 'Error: model ratio is not a valid JSON string')
    await toastShown(page, 'error', 'Error: group ratio is not a valid JSON string')
    expect(puts(visit.calls())).toEqual([])
    await page.locator('[id="ModelRatio"]').getByText('model ratio is not a valid JSON string').waitFor()
    await page.locator('main').getByText('Models', { exact: true }).click()
    await page.getByText('Fix the JSON to use the table.').waitFor()
    await page.getByText('JSON', { exact: true }).first().click()
    await page.getByLabel('Model ratio', { exact: true }).fill('{"gpt-4o": -1}')
    await page.getByLabel('Group ratio', { exact: true }).fill('{"default": 1}')
    await button(page, 'Save').click()
    await toastShown(page, 'error', 'Error: ModelRatio')
    await eventually(() => stored('GroupRatio')).toEqual({ default: 1 })
    await eventually(() => stored('ModelRatio')).toEqual({})
    await button(page, 'Discard').click()
  })

  test('is shown formatted; formatting the same JSON differently is not a change', async () => {
    await put('ModelRatio', { a: 1, b: 2 })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await page.getByText('JSON', { exact: true }).click()
    const box = page.getByLabel('Model ratio', { exact: true })
    await eventually(() => box.inputValue()).toBe('{\n  "a": 1,\n  "b": 2\n}')
    await box.fill('{ "a":1, "b":2 }')
    await eventually(() => page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
  })

  test('can be exported to a file and imported from one; an import can be saved or discarded', async () => {
    await put('ModelRatio', { a: 1 })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting?tab=operation')
    await line(page, 'a').waitFor()
    const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()])
    expect(file.suggestedFilename()).toBe('ratios.json')
    expect(JSON.parse(readFileSync(await file.path(), 'utf8'))).toMatchObject({ ModelRatio: { a: 1 } })
    const give = (text: string) =>
      page.locator('input[type=file]').setInputFiles({
        name: 'ratios.json',
        mimeType: 'application/json',
        buffer: Buffer.from(text),
      })
    await give('{')
    await toastShown(page, 'error', 'Error: model ratio is not a valid JSON string')
    await give('{"ModelRatio":"x"}')
    await toastShown(page, 'error', 'Error: The file contains no ratios.')
    await eventually(() => page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
    await give('{"ModelRatio":{"b":2},"GroupRatio":{"default":1,"gold":0.5}}')
    await page.getByRole('region', { name: '2 changes' }).waitFor()
    await save(page)
    await eventually(async () => [await stored('ModelRatio'), await stored('GroupRatio')]).toEqual([
      { b: 2 },
      { default: 1, gold: 0.5 },
    ])
  })
})

test('administrators who may not write the ratios see them locked', async () => {
  const admin = await site.addUser('reader', { role: 10 })
  await using visit = await site.visit({ as: admin })
  const { page } = visit
  await visit.open('/setting?tab=operation')
  await page.getByLabel('Prompt price of gpt-4o', { exact: true }).waitFor()
  await eventually(() => page.getByLabel('Prompt price of gpt-4o', { exact: true }).isDisabled()).toBe(true)
  await eventually(() => button(page, 'Import').isDisabled()).toBe(true)
})
