// The pages that visitors see if the administrators switch them on. In titles, "spec 2" is section 2 of the
// specification (see coverage.md).
import { afterEach, beforeAll, expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { rowsOf } from './support/lists.ts'

const site = openConsole()

const turn = async (key: string, value: boolean) => site.api('PUT', '/api/option/', { key, value: String(value) })

beforeAll(async () => {
  const channel = { type: 8, key: 'k', base_url: 'http://127.0.0.1:1' }
  const models = 'gpt-4o,gpt-5-mini,claude-sonnet-4-5,no-price-for-this'
  await site.api('POST', '/api/channel/', { ...channel, name: 'cheap reseller', models, group: 'default,vip' })
  await site.api('POST', '/api/channel/', { ...channel, name: 'for some', models: 'gemini-2.5-pro', group: 'vip' })
})

afterEach(async () => {
  await turn('StatusPageEnabled', false)
  await turn('PublicModelsEnabled', false)
})

test('if the options are off, visitors see neither the status page nor the prices, and no link to them', async () => {
  await using visit = await site.visit()
  const { page } = visit
  await visit.open('/status')
  await page.getByText('This server has no public status page').waitFor()
  await visit.open('/pricing')
  await page.getByText('The model list is not public').waitFor()
  expect(await page.getByRole('link', { name: 'Status', exact: true }).count()).toBe(0)
  await visit.open('/login')
  await page.getByLabel('Username').waitFor()
  expect(await page.getByRole('link', { name: 'Service status' }).count()).toBe(0)
})

test('spec 2: visitors see the status page, 90 days for each family', async () => {
  await turn('StatusPageEnabled', true)
  await using visit = await site.visit()
  const { page } = visit
  await visit.open('/login')
  await page.getByRole('link', { name: 'Service status' }).click()
  await page.getByRole('heading', { name: 'status', exact: true }).waitFor()
  await page.getByText('No recent requests to judge by').waitFor()
  const bars = page.getByRole('img', { name: /^Claude, last 90 days: too few requests to tell/ })
  await bars.waitFor()
  await eventually(() => bars.locator('rect[data-state]').count()).toBe(90)
  await page.getByRole('heading', { name: 'OpenAI GPT' }).waitFor()
  await page.getByText('No incidents today.').waitFor()
  const text = await page.locator('main').textContent()
  for (const word of ['reseller', 'gpt-4o', 'no-price']) expect(text).not.toContain(word)
})

test('spec 2: visitors see models and prices of the default group, search and filter them, and log in from there', async () => {
  await turn('PublicModelsEnabled', true)
  await using visit = await site.visit()
  const { page } = visit
  await visit.open('/')
  await page.getByRole('link', { name: 'Models', exact: true }).click()
  const names = () => rowsOf(page).locator('th').allInnerTexts()
  await eventually(names).toEqual(['gpt-5-mini', 'gpt-4o', 'claude-sonnet-4-5'])
  await page.getByLabel('Provider', { exact: true }).selectOption({ label: 'Claude' })
  await eventually(names).toEqual(['claude-sonnet-4-5'])
  await rowsOf(page).first().getByRole('button', { name: 'claude-sonnet-4-5', exact: true }).click()
  const drawer = page.getByRole('dialog')
  await drawer.getByText('200,000', { exact: true }).waitFor()
  expect(await drawer.getByRole('link', { name: 'Try in the playground' }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Log in to use these models' }).click()
  await page.getByLabel('Username').waitFor()
})

test('models are compared side by side, and one can be removed', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/model')
  for (const name of ['gpt-4o', 'claude-sonnet-4-5'])
    await rowsOf(page).filter({ hasText: name }).first().getByRole('checkbox').click()
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Compare models' })
  await eventually(() => dialog.getByRole('columnheader').count()).toBe(2)
  await dialog.getByRole('row', { name: /Context 128,000 200,000/ }).waitFor()
  await dialog.getByRole('button', { name: 'Remove gpt-4o' }).click()
  await eventually(() => dialog.getByRole('columnheader').count()).toBe(1)
})
