// Sections of the specification (see coverage.md): 1, 2 (home, channels, tokens). From a fresh server to the first
// successful call, using only the console. With UPDATE_SCREENSHOTS=1, it also takes screenshots of the README;
// jobs.test.ts takes the one of the overview.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type FakeUpstream, ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { chooseModel } from './support/playground.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
const pictures = join(import.meta.dir, '../../docs/images')
const takesPictures = process.env['UPDATE_SCREENSHOTS'] === '1'
const answer =
  'A tollgate stands where a road is paid for: it lets you through, counts what passes, and writes down what it took.'
const question = 'What is a tollgate?'

let upstream: FakeUpstream
beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(ok({ text: answer, promptTokens: 21 }))
})
afterAll(() => upstream[Symbol.asyncDispose]())

const step = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })
const ticked = (page: Page) => page.locator('li[data-done="true"]')

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('Username').fill(rootAccount.username)
  await page.getByLabel('Password', { exact: true }).fill(rootAccount.password)
  await page.keyboard.press('Enter')
  await page.getByText('0 of 5 done').waitFor()
  await page.getByText('No channels yet. Requests cannot be routed.').waitFor()
}

async function addChannel(page: Page): Promise<void> {
  await step(page, 'Add a channel').getByRole('link', { name: 'New channel' }).click()
  await page.getByLabel('Name', { exact: true }).fill('OpenAI')
  await page.getByLabel('Key', { exact: true }).fill('sk-upstream')
  await page.getByLabel('Base URL').fill(upstream.url)
  const models = page.getByLabel('Models', { exact: true })
  for (const model of ['gpt-4o-mini', 'gpt-4o']) {
    await models.fill(model)
    await models.press('Enter')
  }
  await models.press('Escape')
  await page.getByRole('button', { name: 'Save and test' }).click()
  // The button "Save and test" opens this page only after the test has ended.
  await page.waitForURL('**/channel/edit/*')
}

async function addToken(page: Page): Promise<void> {
  await step(page, 'Create a token').getByRole('link', { name: 'New token' }).click()
  await page.getByLabel('Name', { exact: true }).fill('laptop')
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'token created successfully')
  await page.getByRole('dialog').getByRole('link', { name: 'Try in the playground' }).click()
}

const goHome = (page: Page) => page.getByRole('navigation').getByRole('link', { name: 'Home' }).first().click()

test('spec 1, 2: log in, add a channel, create a token, get a streamed response', async () => {
  await using visit = await site.visit({ theme: 'light' })
  const { page } = visit
  await visit.open('/login')
  await logIn(page)
  await eventually(() => ticked(page).count()).toBe(0)

  await addChannel(page)
  await goHome(page)
  await page.getByText('2 of 5 done').waitFor()
  await eventually(() => ticked(page).allTextContents()).toEqual([
    expect.stringContaining('Add a channel'),
    expect.stringContaining('Test the channel'),
  ])

  await addToken(page)
  await page.waitForURL('**/playground?token=*')
  await chooseModel(page, 'gpt-4o-mini')
  await page.getByRole('textbox', { name: 'Message' }).fill(question)
  await page.keyboard.press('Control+Enter')
  const card = page.getByRole('article', { name: 'gpt-4o-mini' })
  await card.getByText(answer).waitFor()
  await card.getByText(/21 \+ 22 tokens · cost \$0\.\d{6}/).waitFor()
  expect(upstream.last.fields).toMatchObject({ model: 'gpt-4o-mini', stream: true })
  const [row] = await site.api<{ token_name: string; quota: number; is_stream: boolean }[]>('GET', '/api/log/?type=2')
  expect(row).toMatchObject({ token_name: 'laptop', is_stream: true })
  expect(row?.quota).toBeGreaterThan(0)

  await goHome(page)
  await page.getByText('4 of 5 done').waitFor()
  await step(page, 'Make your first request').and(page.locator('[data-done="true"]')).waitFor()
  if (takesPictures) await takePictures()
})

/** Writes several days of usage, so that the charts in the screenshots are not empty. */
async function fillIn(): Promise<void> {
  const usage = { prompt_tokens: 6400, completion_tokens: 900, total_tokens: 7300 }
  upstream.always(ok({ text: answer, usage }))
  await site.api('PUT', '/api/user/', { id: 1, quota: 25_000_000 })
  await site.api('PUT', '/api/option/', { key: 'ServerAddress', value: 'https://gateway.example.com' })
  for (const [name, models] of [
    ['Azure west', 'gpt-4o,gpt-4o-mini'],
    ['DeepSeek', 'deepseek-chat'],
    ['Local', 'gpt-3.5-turbo'],
  ] as const) {
    const fields = { type: 8, name, models, key: 'sk-x', group: 'default', base_url: upstream.url }
    const [id] = await site.api<number[]>('POST', '/api/channel/', fields)
    await site.api('GET', `/api/channel/test/${id}/`)
  }
  for (const name of ['support bot', 'nightly report', 'editor plugin']) {
    const token = { name, remain_quota: 5_000_000, expired_time: -1 }
    const { key } = await site.apiAs<{ key: string }>(rootAccount, 'POST', '/api/token/', token)
    for (let call = 0; call < 9; call++) {
      const model = ['gpt-4o-mini', 'gpt-4o', 'deepseek-chat', 'gpt-3.5-turbo'][call % 4]
      const body = { model, messages: [{ role: 'user', content: 'Sum this up.' }], stream: call % 2 === 0 }
      await (await site.gateway.post('/v1/chat/completions', body, `sk-${key}`)).text()
    }
  }
}

async function takePictures(): Promise<void> {
  mkdirSync(pictures, { recursive: true })
  await fillIn()
  upstream.always(ok({ text: answer, promptTokens: 21 }))
  const pages = [
    ['channels', '/channel', 'light', 'en'],
    ['logs', '/log', 'dark', 'en'],
    ['playground', '/playground?model=gpt-4o-mini&compare=gpt-4o', 'light', 'en'],
    ['prices', '/setting?tab=operation#ratios', 'light', 'en'],
    ['logs-zh', '/log', 'light', 'zh'],
  ] as const
  for (const [name, path, theme, language] of pages) {
    await using visit = await site.visit({ as: rootAccount, theme, language, height: 800 })
    const { page } = visit
    await visit.open(path)
    if (name === 'playground') {
      await page.getByRole('textbox', { name: 'Message' }).fill(question)
      await page.keyboard.press('Control+Enter')
      await page.getByText('cost $').nth(1).waitFor()
      await page.evaluate(() => window.scrollTo(0, 0))
    }
    await page.waitForLoadState('networkidle')
    await page.waitForFunction(() => document.querySelector('.skeleton') === null)
    await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' })
  }
}
