// Beyond the specification: the models that users can call, and their prices.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { refuseClipboard } from './support/clipboard.ts'
import { type Account, openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { rowOf, rowsOf } from './support/lists.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let user: Account
let vip: Account

beforeAll(async () => {
  const channel = { type: 8, key: 'k', base_url: 'http://127.0.0.1:1' }
  const models = 'gpt-4o,gpt-4o-mini,claude-sonnet-4-5,dall-e-2,tts-1,per-call,not-priced'
  await site.api('POST', '/api/channel/', { ...channel, name: 'for all', models, group: 'default,vip' })
  await site.api('POST', '/api/channel/', { ...channel, name: 'for some', models: 'gemini-2.5-pro', group: 'vip' })
  const odd = { ...channel, group: 'odd' }
  const many = Array.from({ length: 55 }, (_, index) => `model-${String(index).padStart(2, '0')}`)
  await site.api('POST', '/api/channel/', { ...channel, name: 'many', models: many.join(','), group: 'many' })
  const names = 'renamed,somewhere,whisper-call,text-embedding-3-small,tiny'
  const renamed = { renamed: 'gpt-4o', somewhere: 'gpt-4o' }
  await site.api('POST', '/api/channel/', {
    ...odd,
    name: 'odd',
    models: names,
    model_mapping: JSON.stringify(renamed),
  })
  const other = { renamed: 'gpt-4o-mini', somewhere: 'no-price' }
  const models2 = 'renamed,somewhere'
  await site.api('POST', '/api/channel/', {
    ...odd,
    name: 'odd 2',
    models: models2,
    model_mapping: JSON.stringify(other),
  })
  const options = {
    GroupRatio: '{"default":1,"vip":0.5,"empty":1,"odd":1,"many":1}',
    ModelPrice: '{"per-call":0.02,"whisper-call":0.01}',
    ModelRatio: JSON.stringify({ tiny: 0.000001, ...Object.fromEntries(many.map((name, index) => [name, index + 1])) }),
  }
  for (const [key, value] of Object.entries(options)) await site.api('PUT', '/api/option/', { key, value })
  user = await site.addUser('reader', { quota: 1_000_000 })
  const important = await site.addUser('important')
  await site.api('PUT', '/api/user/', { id: important.id, group: 'vip' })
  vip = important
})

/** Name, type and prices of a row. */
const cells = async (page: Page, model: string) => {
  // The column is shown once the page has loaded the details of the models.
  await page.getByRole('columnheader', { name: 'Context' }).waitFor()
  // The cells of a row are: checkbox, name, type, context, three prices, figures of this server, buttons.
  const [, name, kind, , ...others] = await rowOf(page, model).locator('th, td').allInnerTexts()
  return [name, kind, ...others.slice(0, 3)].map((text) => text?.trim())
}

const names = (page: Page) => rowsOf(page).locator('th').allInnerTexts()

test('the menu leads to the models that the user’s own group can call, with the price of each', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open('/')
  await page.getByRole('link', { name: 'Models', exact: true }).click()
  await page.getByRole('heading', { name: 'models and prices' }).waitFor()
  await eventually(() => rowsOf(page).count()).toBe(6)
  expect(await cells(page, 'gpt-4o')).toEqual(['gpt-4o', 'Chat', '$2.50', '$1.25', '$10.00'])
  expect(await cells(page, 'gpt-4o-mini')).toEqual(['gpt-4o-mini', 'Chat', '$0.15', '$0.075', '$0.60'])
  expect(await cells(page, 'dall-e-2')).toEqual(['dall-e-2', 'Images', '$0.016 / image', '', ''])
  expect(await cells(page, 'tts-1')).toEqual(['tts-1', 'Speech', '$15.00 / 1M characters', '', ''])
  expect(await cells(page, 'per-call')).toEqual(['per-call', 'Chat', '$0.02 / request', '', ''])
  // A model without a price cannot be called, so only administrators see it in the list.
  expect(await rowOf(page, 'not-priced').count()).toBe(0)
  // Only administrators can choose another group.
  expect(await page.getByLabel('Prices for group').count()).toBe(0)
})

test('prices are sorted as numbers; search and kind filter the list and are kept in the URL', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open('/model')
  await page.getByRole('button', { name: 'Output', exact: true }).click()
  const first = async () => (await names(page)).slice(0, 3)
  await eventually(first).toEqual(['gpt-4o-mini', 'gpt-4o', 'claude-sonnet-4-5'])
  // The most expensive model comes first; models without an output price come last.
  await page.getByRole('button', { name: 'Output', exact: true }).click()
  await eventually(first).toEqual(['claude-sonnet-4-5', 'gpt-4o', 'gpt-4o-mini'])
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'Images' })
  await eventually(() => names(page)).toEqual(['dall-e-2'])
  await page.getByLabel('Search by name').fill('gpt')
  await page.getByText('No results match your search and filters.').waitFor()
  await page.getByRole('button', { name: 'Clear search and filters' }).click()
  await eventually(() => rowsOf(page).count()).toBe(6)
  await visit.open('/model?q=GPT&sort=-model')
  await eventually(() => names(page)).toEqual(['gpt-4o-mini', 'gpt-4o'])
})

test('the drawer shows every price and a link to a first call', async () => {
  await using visit = await site.visit({ as: vip })
  const { page } = visit
  await visit.open('/model')
  await rowOf(page, 'gemini-2.5-pro').getByRole('button', { name: 'gemini-2.5-pro', exact: true }).click()
  const drawer = page.getByRole('dialog')
  await drawer.getByText('Prompts over 200,000 tokens').waitFor()
  const prices = await drawer.locator('section[aria-label="Price"] dl').allInnerTexts()
  expect(prices.map((text) => text.split(/\s*\n\s*/))).toEqual([
    ['Input', '$0.625', 'Cached input', '$0.0625', 'Output', '$5.00'],
    ['Input', '$1.25', 'Cached input', '$0.125', 'Output', '$7.50'],
  ])
  await drawer.getByText('Prices include the 0.5 multiplier of group vip.').waitFor()
  await drawer.getByText('10,000 input tokens and 1,000 output tokens cost $0.01125.').waitFor()
  await drawer.getByRole('link', { name: 'Try in the playground' }).click()
  await page.waitForURL(
    (url) => url.pathname.endsWith('/playground') && url.searchParams.get('model') === 'gemini-2.5-pro',
  )
})

test('the drawer shows a message if the group cannot call a model or a model has no price', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open('/model?peek=gemini-2.5-pro')
  await page.getByRole('dialog').getByText('This model is not available to group default.').waitFor()
  await visit.open('/model?peek=not-priced')
  await page.getByRole('dialog').getByText('This model has no price, so requests to it are rejected.').waitFor()
})

test('the list and the drawer show prices that differ between channels, prices in other units, tiny prices, and names of upstreams', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/model?group=odd')
  await eventually(() => rowsOf(page).count()).toBe(5)
  expect(await cells(page, 'renamed')).toEqual(['renamed', 'Chat', 'from $0.15', 'from $0.075', 'from $0.60'])
  expect(await cells(page, 'whisper-call')).toEqual(['whisper-call', 'Transcription', '$0.01 / request', '', ''])
  expect(await cells(page, 'text-embedding-3-small')).toEqual(['text-embedding-3-small', 'Embeddings', '$0.02', '', ''])
  expect((await cells(page, 'tiny'))[2]).toBe('$0.000002')
  const drawer = page.getByRole('dialog')
  await visit.open('/model?group=odd&peek=renamed')
  await drawer.getByText('Several channels serve this model at different prices.').waitFor()
  await drawer.getByText('Channels send this model upstream under another name').waitFor()
  expect(await drawer.getByRole('link', { name: 'View logs' }).count()).toBe(0)
  await visit.open('/model?group=odd&peek=somewhere')
  await drawer
    .getByText('One channel that serves this model has no price for it. Requests go to the other channels.')
    .waitFor()
  await visit.open('/model?group=odd&peek=text-embedding-3-small')
  await drawer.getByText('10,000 input tokens cost $0.0002.').waitFor()
  expect(await drawer.getByText('Output', { exact: true }).count()).toBe(0)
})

test('a page has fifty rows; a page number that is too high shows the last page', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/model?group=many')
  await page.getByText('Page 1 of 2 · 55 rows').waitFor()
  await page.getByRole('button', { name: 'Next page' }).click()
  await eventually(() => names(page)).toEqual(['model-50', 'model-51', 'model-52', 'model-53', 'model-54'])
  await page.getByText('55 results, showing 51 to 55').waitFor({ state: 'attached' })
  await visit.open('/model?group=many&page=99')
  await page.getByText('Page 2 of 2 · 55 rows').waitFor()
})

test('a name is copied; if the browser refuses, the name is put into the search box', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open('/model')
  await page.getByRole('button', { name: 'Copy name: tts-1' }).click()
  await toastShown(page, 'success', 'copied to clipboard!')
  await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toBe('tts-1')
  await refuseClipboard(page)
  await page.reload()
  await page.getByRole('button', { name: 'Copy name: dall-e-2' }).click()
  await eventually(() => page.getByLabel('Search by name').inputValue()).toBe('dall-e-2')
})

test('administrators can choose the group whose prices are shown; for other users, a group in the URL has no effect', async () => {
  {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/model')
    await page.getByLabel('Prices for group').selectOption('vip')
    await eventually(() => cells(page, 'gpt-4o')).toEqual(['gpt-4o', 'Chat', '$1.25', '$0.625', '$5.00'])
    await eventually(() => rowsOf(page).count()).toBe(8)
    expect((await cells(page, 'not-priced'))[2]).toBe('No price')
    await page.getByLabel('Prices for group').selectOption('empty')
    await page.getByText('No enabled channel serves group empty.').waitFor()
  }
  await using visit = await site.visit({ as: user })
  await visit.open('/model?group=vip')
  await eventually(() => cells(visit.page, 'gpt-4o')).toEqual(['gpt-4o', 'Chat', '$2.50', '$1.25', '$10.00'])
})

test('a failure shows the server’s message, and a retry works', async () => {
  await using visit = await site.visit({ as: user, expectedErrors: /503/ })
  const { page } = visit
  await page.route('**/api/price/**', (route) =>
    route.fulfill({ status: 503, json: { success: false, message: 'out of order' } }),
  )
  await visit.open('/model')
  await page.getByRole('alert').getByText('out of order', { exact: true }).waitFor()
  await page.unroute('**/api/price/**')
  await page.getByRole('button', { name: 'Retry' }).click()
  await eventually(() => rowsOf(page).count()).toBe(6)
})

test('prices use the server’s quota format', async () => {
  await site.api('PUT', '/api/option/', { key: 'DisplayInCurrencyEnabled', value: 'false' })
  try {
    await using visit = await site.visit({ as: user })
    await visit.open('/model')
    await eventually(() => cells(visit.page, 'gpt-4o')).toEqual(['gpt-4o', 'Chat', '1,250,000', '625,000', '5,000,000'])
  } finally {
    await site.api('PUT', '/api/option/', { key: 'DisplayInCurrencyEnabled', value: 'true' })
  }
})

test('the filters are on the same lines as the search box and the toolbar’s buttons', async () => {
  await using visit = await site.visit({ as: rootAccount, width: 1366 })
  const { page } = visit
  await visit.open('/model')
  await rowOf(page, 'gpt-4o').waitFor()
  const filters = page.getByRole('group', { name: 'Filters' })
  const middle = (name: string) =>
    page.getByLabel(name, { exact: true }).evaluate((box) => {
      const { top, bottom } = box.getBoundingClientRect()
      return Math.round((top + bottom) / 2)
    })
  await eventually(() => filters.getByRole('combobox').count()).toBeGreaterThan(3)
  await eventually(async () => (await middle('Provider')) - (await middle('Search by name'))).toBe(0)
  await eventually(async () => (await middle('Refresh')) - (await middle('Prices for group'))).toBe(0)
})
