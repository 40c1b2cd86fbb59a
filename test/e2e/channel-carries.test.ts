// The headers, parameters and other extra settings of a channel, and what it costs: the form, the filter by tag, the
// costs, and where admins see them.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { behaviour, type FakeUpstream, ok, okPricing, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let upstream: FakeUpstream

beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(ok())
})
afterAll(() => upstream[Symbol.asyncDispose]())

const addChannel = async (fields: object) => {
  const body = { type: 8, key: 'sk-x', models: 'gpt-4o', group: 'default', base_url: upstream.url, ...fields }
  const [id = 0] = await site.api<number[]>('POST', '/api/channel/', body)
  return id
}

test('the extra settings of a channel are written as lines and JSON and checked at their fields, and secret values are not shown again', async () => {
  const id = await addChannel({ name: 'carrier' })
  const shown = () => site.api<Record<string, unknown>>('GET', `/api/channel/${id}`)
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/channel/edit/${id}`)
  const fold = page.getByRole('button', { name: /^Advanced/ })
  if ((await fold.getAttribute('aria-expanded')) === 'false') await fold.click()
  await page.getByLabel('Tags').fill('eu, cheap')
  await page.getByLabel('Headers').fill('X-Title: Team\nX-Token: hidden')
  await page.getByLabel('Parameters').fill('{"op": "drop"}')
  await page.getByLabel('Status codes').fill('400: 503')
  await page.getByLabel('Proxy URL').fill('http://127.0.0.1:9')
  await page.getByRole('button', { name: 'Submit' }).click()
  await page.getByText('Enter a JSON list.').waitFor()
  await page.getByLabel('Parameters').fill('[{"op": "drop", "path": "user"}]')
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'updated')
  expect(await shown()).toMatchObject({
    tags: ['eu', 'cheap'],
    headers: { 'x-title': 'Team', 'x-token': '' },
    parameters: [{ op: 'drop', path: 'user' }],
    status_map: { '400': 503 },
    proxy: 'http://127.0.0.1:9',
  })
  await visit.open(`/channel/edit/${id}`)
  await eventually(() => page.getByLabel('Headers').inputValue()).toBe('x-title: Team\nx-token:')
  await page.getByLabel('Headers').fill('X-Title: Other\nX-Token:')
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'updated')
  expect(await shown()).toMatchObject({ headers: { 'x-title': 'Other', 'x-token': '' } })
  await visit.open('/channel')
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('cheap')
  await page.waitForURL('**/channel?tag=cheap')
  await eventually(() => page.getByRole('rowheader').allTextContents()).toEqual(['carrier'])
})

test('costs are set by hand or from a price list; a tenfold price is used only if the admin selects it; requests show their margin', async () => {
  const id = await addChannel({ name: 'priced' })
  const costs = () => site.api<{ models: object }>('GET', `/api/channel/${id}/costs`)
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/channel?peek=${id}`)
  await page.getByText('Not known.').waitFor()
  await page.getByRole('button', { name: 'Set costs' }).click()
  const dialog = page.getByRole('dialog', { name: 'Costs of priced' })
  await dialog.getByLabel('Multiplier on the price list').fill('0.5')
  await dialog.getByRole('button', { name: 'Add model' }).click()
  await dialog.getByLabel('Model', { exact: true }).fill('gpt-4o')
  await dialog.getByLabel('gpt-4o Input').fill('0.1')
  await dialog.getByLabel('gpt-4o Output').fill('0.4')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await toastShown(page, 'success', 'Costs saved')
  expect(await costs()).toMatchObject({ multiplier: 0.5, models: { 'gpt-4o': { input: 0.1, output: 0.4 } } })

  upstream.always(okPricing())
  await page.getByRole('button', { name: 'Edit costs' }).click()
  await dialog.getByRole('button', { name: 'Compare' }).click()
  await dialog.getByText('1 price differs by a factor of ten or more.').waitFor()
  await dialog.getByRole('checkbox', { name: /gpt-4o/ }).check()
  await dialog.getByRole('button', { name: 'Use these prices' }).click()
  await eventually(() => dialog.getByLabel('gpt-4o Input').inputValue()).toBe('2.5')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await eventually(async () => (await costs()).models).toEqual({ 'gpt-4o': { input: 2.5, output: 10 } })

  // From here on, the same list is read on a schedule. Its price for gpt-4o is more than ten times the channel's
  // current price.
  await site.api('PUT', `/api/channel/${id}/costs`, {
    multiplier: null,
    models: { 'gpt-4o': { input: 0.1, output: 0.4 } },
  })
  await visit.open(`/channel?peek=${id}`)
  await page.getByRole('button', { name: 'Read on a schedule' }).click()
  const schedule = page.getByRole('dialog', { name: 'Price list of priced' })
  await schedule.getByLabel('Hours between checks').fill('12')
  await schedule.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Read every 12 hours').waitFor()
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('1 price differs too much and is not used yet.').waitFor()
  await page.getByRole('button', { name: 'Use the new price of gpt-4o' }).click()
  await eventually(async () => (await costs()).models).toEqual({ 'gpt-4o': { input: 2.5, output: 10 } })
  await page.getByText('Prices synced').waitFor()
  upstream.always(status(503))
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('The price list cannot be read: status code: 503.').waitFor()
  await page.getByRole('button', { name: 'Edit schedule' }).click()
  await schedule.getByRole('button', { name: 'Stop reading' }).click()
  await page.getByRole('button', { name: 'Read on a schedule' }).waitFor()

  upstream.always(ok())
  const { key } = await site.api<{ key: string }>('POST', '/api/token/', { name: 'margins', unlimited_quota: true })
  const question = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }
  const response = await fetch(`${site.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}-${id}` },
    body: JSON.stringify(question),
  })
  expect(response.status).toBe(200)
  await response.text()
  await site.api('PUT', `/api/channel/${id}/costs`, {
    multiplier: null,
    models: { 'gpt-4o': { input: 250, output: 1000 } },
  })
  const costly = await fetch(`${site.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}-${id}` },
    body: JSON.stringify(question),
  })
  await costly.text()
  await visit.open('/usage?metric=margin')
  await page.getByRole('radio', { name: 'Margin' }).waitFor()
  // A loss is drawn below zero, and its amounts are marked.
  await eventually(() =>
    page
      .locator('main svg[role=img] g rect')
      .evaluateAll((bars) =>
        bars.some((bar) => bar.getAttribute('fill') !== 'transparent' && Number(bar.getAttribute('height')) > 10),
      ),
  ).toBe(true)
  await page.locator('.text-bad').filter({ hasText: /^-/ }).first().waitFor()
  await page.getByRole('columnheader', { name: 'Upstream cost' }).waitFor()
})

test('first prices that are far from the built-in prices are shown beside these, and one button accepts them all', async () => {
  const id = await addChannel({ name: 'cheap', models: 'gpt-4o,gpt-4-turbo' })
  const row = { quota_type: 0, completion_ratio: 4 }
  const data = ['gpt-4o', 'gpt-4-turbo'].map((model_name) => ({ ...row, model_name, model_ratio: 0.05 }))
  upstream.always(
    behaviour('lists low prices', async (exchange) => {
      exchange.head(200, [['content-type', 'application/json']])
      await exchange.write(JSON.stringify({ data }))
      exchange.end()
    }),
  )
  const feed = { kind: 'gateway', url: '', group: '', every_hours: 24 }
  await site.api('PUT', `/api/channel/${id}/costs/feed`, { feed })
  await site.api('POST', `/api/channel/${id}/costs/feed/check`)
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/channel?peek=${id}`)
  await page.getByText('2 prices differ too much and are not used yet.').waitFor()
  await page.getByText('usually $2.5 · $10').waitFor()
  await page.getByRole('button', { name: 'Do not use the price of gpt-4-turbo' }).waitFor()
  await page.getByRole('button', { name: 'Use all' }).click()
  const costs = () => site.api<{ models: object }>('GET', `/api/channel/${id}/costs`)
  const low = { input: 0.1, output: 0.4 }
  await eventually(async () => (await costs()).models).toEqual({ 'gpt-4o': low, 'gpt-4-turbo': low })
})
