// The API reference: who sees it, its search, and samples with the reader's own address and token. In titles, "spec 7"
// is section 7 of the specification (see coverage.md).
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type Account, openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'

const site = openConsole()
const setOption = (key: string, value: string) => site.api('PUT', '/api/option/', { key, value })
let user: Account
let key: string

beforeAll(async () => {
  user = await site.addUser('reader')
  const fields = { name: 'my app', remain_quota: 1000, unlimited_quota: false, expired_time: -1 }
  key = (await site.apiAs<{ key: string }>(user, 'POST', '/api/token/', fields)).key
})

/** Records what the page's content security policy forbids, and returns a function that reads the record. */
async function watchPolicy(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const seen: string[] = []
    Object.assign(window, { forbidden: seen })
    addEventListener(
      'securitypolicyviolation',
      (event) => seen.push((event as SecurityPolicyViolationEvent).effectiveDirective),
      true,
    )
  })
  return () => page.evaluate(() => (window as unknown as { forbidden: string[] }).forbidden)
}

const sampleOf = (page: Page) => page.locator('article pre').first()
const endpoints = (page: Page) => page.getByRole('navigation', { name: 'Endpoints' })

test('spec 7: users find an endpoint, and its samples have the address of the server and their token', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  const forbidden = await watchPolicy(page)
  await visit.open('/reference')
  await page.getByRole('searchbox', { name: 'Search endpoints' }).fill('anthropic count')
  await eventually(() => endpoints(page).getByRole('button').count()).toBe(1)
  await endpoints(page).getByRole('button').click()
  await page.getByRole('heading', { name: 'Count the tokens of a request (Anthropic)' }).waitFor()
  await eventually(() => sampleOf(page).textContent()).toContain(`curl ${site.gateway.url}/v1/messages/count_tokens`)
  expect(await sampleOf(page).textContent()).toContain('x-api-key: $TOKEN')
  await page.getByLabel('Token in the samples').selectOption({ label: 'my app' })
  await eventually(() => sampleOf(page).textContent()).toContain(`x-api-key: sk-••••${key.slice(-4)}`)
  await page.getByRole('radio', { name: 'Python' }).check({ force: true })
  await eventually(() => sampleOf(page).textContent()).toContain('requests.post(')
  await page.getByRole('radio', { name: 'TypeScript' }).check({ force: true })
  await eventually(() => sampleOf(page).textContent()).toContain(`fetch('${site.gateway.url}/v1/messages/count_tokens'`)
  for (const word of [
    'anthropic-beta',
    'max_tokens',
    'thinking.type',
    'rate_limit_exceeded',
    'X-RateLimit-Limit-Tokens',
  ])
    expect(await page.locator('article').getByText(word, { exact: true }).count()).toBeGreaterThan(0)
  expect(await page.locator('article pre').last().textContent()).toContain('"type": "error"')
  expect(page.url()).not.toContain(key)
  expect(await forbidden()).toEqual([])
})

test('the copied sample contains the whole key, and works', async () => {
  await using visit = await site.visit({ as: user })
  const { page, context } = visit
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await visit.open('/reference?call=relayModels')
  await page.getByLabel('Token in the samples').selectOption({ label: 'my app' })
  await page.getByRole('button', { name: /^Copy: Sample/ }).click()
  await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toContain(`Bearer sk-${key}`)
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  const ran = Bun.spawn(['sh', '-c', `${copied} -s`], { stdout: 'pipe' })
  expect(JSON.parse(await new Response(ran.stdout).text())).toMatchObject({ object: 'list' })
})

test('the keyboard reaches the endpoints, and the browser goes back to the previous one', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open('/reference')
  await endpoints(page).getByRole('button', { name: 'Create embeddings POST /v1/embeddings' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('article').getByRole('heading', { name: 'Create embeddings' }).waitFor()
  await page.getByRole('radio', { name: 'Management' }).check({ force: true })
  await eventually(() =>
    endpoints(page)
      .getByRole('button', { name: /\/api\/token\/$/ })
      .count(),
  ).toBeGreaterThan(0)
  await page.goBack()
  await page.locator('article').getByRole('heading', { name: 'Create embeddings' }).waitFor()
})

test('visitors see the API reference only if the option is on', async () => {
  await using visit = await site.visit()
  const { page } = visit
  const menu = page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'API reference' })
  await visit.open('/reference')
  await page.getByText('Log in to read the API reference').waitFor()
  expect(await menu.count()).toBe(0)
  expect(visit.calls().filter((call) => call.includes('openapi'))).toEqual([])
  await setOption('PublicApiReferenceEnabled', 'true')
  await visit.open('/reference?call=relayChatCompletions')
  await eventually(() => sampleOf(page).textContent()).toContain('Authorization: Bearer $TOKEN')
  await eventually(() => menu.count()).toBeGreaterThan(0)
  expect(await page.getByLabel('Token in the samples').count()).toBe(0)
  await setOption('PublicApiReferenceEnabled', 'false')
})

test('administrators find the API reference in the menu and in their account menu', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/about')
  await page.getByRole('banner').getByRole('button', { name: 'root' }).click()
  await page.getByRole('menuitem', { name: 'API reference' }).click()
  await page.getByRole('heading', { name: 'Create a chat completion' }).waitFor()
})
