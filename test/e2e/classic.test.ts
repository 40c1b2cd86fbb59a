// Sections of the specification (see coverage.md): 7. These tests run the console against a server that has only the
// endpoints of the specification. Every page works without errors, and features that need other endpoints are not
// offered.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type FakeUpstream, ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { swept } from '../helpers/sweeps.ts'
import { onlySpecifiedCalls } from './support/classic.ts'
import { type Account, openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { choose, rowOf, rowsOf } from './support/lists.ts'
import { chooseModel } from './support/playground.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let upstream: FakeUpstream
let user: Account

beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(ok({ text: 'an answer', promptTokens: 12 }))
  const channel = { type: 8, key: 'k', models: 'gpt-4o,gpt-4o-mini', group: 'default', base_url: upstream.url }
  await site.api('POST', '/api/channel/', { ...channel, name: 'serving' })
  user = await site.addUser('classic', { quota: 10_000_000 })
  for (const account of [user, rootAccount]) {
    const fields = { name: `of ${account.username}`, remain_quota: 500_000, expired_time: -1 }
    const { key } = await site.apiAs<{ key: string }>(account, 'POST', '/api/token/', fields)
    for (let call = 0; call < 3; call++) {
      const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }
      await (await site.gateway.post('/v1/chat/completions', body, `sk-${key}`)).text()
    }
  }
})
afterAll(() => upstream[Symbol.asyncDispose]())

/** The errors shown on a page, inline or as a toast. */
async function complaints(page: Page): Promise<string[]> {
  await page.waitForLoadState('networkidle')
  await page.waitForFunction(() => document.querySelector('.skeleton') === null)
  const unknown = page.getByText(/unknown (?:type|status|identity)|cannot be shown|NaN|undefined/)
  return [
    ...(await page.locator('[data-toast="error"], [role="alert"]').allTextContents()),
    ...(await unknown.allTextContents()),
  ]
}

async function classicVisit(as: Account | undefined) {
  const visit = await site.visit(as ? { as } : {})
  await onlySpecifiedCalls(visit.page)
  return visit
}

const pages = {
  nobody: [
    '/',
    '/login',
    '/register',
    '/reset',
    '/user/reset?email=a@example.com&token=x',
    '/about',
    '/chat',
    '/reference',
  ],
  everybody: [
    '/',
    '/token',
    '/token/add',
    '/log',
    '/usage',
    '/usage?group=token',
    '/model',
    '/topup',
    '/setting',
    '/user/edit',
    '/playground',
    '/about',
    '/chat',
    '/reference',
  ],
  admins: [
    '/channel',
    '/channel?view=board',
    '/channel?view=models',
    '/channel?peek=1',
    '/channel/add',
    '/channel/edit/1',
    '/redemption',
    '/redemption/add',
    '/redemption/batches',
    '/redemption/sheet?batch=x',
    '/user',
    '/user?peek=2',
    '/user/add',
    '/user/edit/2',
    '/token?peek=2',
    '/log?type=2',
    '/alert',
    '/virtual-model',
    '/setting?tab=operation',
    '/setting?tab=system',
    '/setting?tab=other',
  ],
}

for (const [who, paths] of Object.entries(pages)) {
  test(`spec 7: no page shows an error to ${who}`, async () => {
    await using visit = await classicVisit(who === 'nobody' ? undefined : who === 'admins' ? rootAccount : user)
    const found: string[] = []
    for (const path of swept(paths, (each) => `${who} ${each}`)) {
      await visit.open(path)
      found.push(...(await complaints(visit.page)).map((text) => `${path}: ${text}`))
    }
    expect(found).toEqual([])
  })
}

test('spec 7: the console shows no prices if the server does not report them', async () => {
  await using visit = await classicVisit(user)
  const { page } = visit
  await visit.open('/model')
  await page.getByText('This server does not provide model prices.').waitFor()
  const menu = page.getByRole('navigation', { name: 'Menu' })
  await menu.getByRole('link', { name: 'Usage' }).waitFor()
  expect(await menu.getByRole('link', { name: 'Models' }).count()).toBe(0)
})

test('spec 7: users log in, create a token, find their logs and use the playground', async () => {
  await using visit = await classicVisit(undefined)
  const { page } = visit
  await visit.open('/login')
  await page.getByLabel('Username').fill(user.username)
  await page.getByLabel('Password', { exact: true }).fill(user.password)
  await page.keyboard.press('Enter')
  await toastShown(page, 'success', 'login succeeded!')
  await page.getByText('Balance').first().waitFor()
  await visit.open('/token/add')
  await page.getByLabel('Name').fill('classic token')
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'token created successfully')
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  await rowOf(page, 'classic token').waitFor()
  await page.getByRole('button', { name: 'Disable: classic token' }).click()
  await rowOf(page, 'classic token').getByText('disabled').waitFor()
  await choose(page, 'classic token', 'Delete')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await rowOf(page, 'classic token').waitFor({ state: 'detached' })
  await visit.open('/log?model=gpt-4o')
  await rowsOf(page).first().waitFor()
  await visit.open('/usage')
  await page.getByText(/Based on the newest \d+ requests/).waitFor()
  await page.getByRole('link', { name: 'Logs of gpt-4o', exact: true }).waitFor()
  await visit.open('/playground')
  await chooseModel(page, 'gpt-4o')
  await page.getByRole('textbox', { name: 'Message' }).fill('hello')
  await page.keyboard.press('Control+Enter')
  await page.getByText('an answer').waitFor()
  expect(await complaints(page)).toEqual([])
})

test('spec 7: administrators add a channel with the models of its type, test it, create codes and users, and save settings', async () => {
  await using visit = await classicVisit(rootAccount)
  const { page } = visit
  await visit.open('/channel/add')
  await page.getByLabel('Type', { exact: true }).fill('ERNIE')
  await page.getByRole('option', { name: /ERNIE/ }).first().click()
  await page.getByRole('button', { name: 'Remove ERNIE-Bot', exact: true }).waitFor()
  await page.getByLabel('Type', { exact: true }).fill('Custom')
  await page
    .getByRole('option', { name: /Custom/ })
    .first()
    .click()
  // A custom service has no prefilled models, and the models of the previous type are removed.
  await eventually(() => page.getByRole('button', { name: /^Remove ERNIE/ }).count()).toBe(0)
  const models = page.getByLabel('Models', { exact: true })
  await models.fill('own-model')
  await models.press('Enter')
  await models.press('Escape')
  await page.getByLabel('Name', { exact: true }).fill('made classic')
  await page.getByLabel('Key', { exact: true }).fill('sk-x')
  await page.getByLabel('Base URL').fill(upstream.url)
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'channel created successfully!')
  await visit.open('/channel')
  await page.getByRole('button', { name: 'Test: serving' }).click()
  await toastShown(page, 'info', 'channel serving tested successfully')
  await page.getByRole('button', { name: 'Test all' }).click()
  await toastShown(page, 'info', 'started testing all enabled channels')
  await visit.open('/redemption/add')
  await page.getByLabel('Name').fill('classic')
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'redemption code created successfully!')
  await visit.open('/user/add')
  await page.getByLabel('Username').fill('oldschool')
  await page.getByLabel('Password', { exact: true }).fill('long enough')
  await page.getByRole('button', { name: 'Submit' }).click()
  await toastShown(page, 'success', 'user account created successfully!')
  await visit.open('/setting?tab=operation')
  await page.locator('[id="RetryTimes"] input').fill('3')
  await page.getByRole('button', { name: 'Save', exact: true }).first().click()
  await toastShown(page, 'success', 'operation completed successfully!')
  expect(await complaints(page)).toEqual([])
})

test('filters that the server ignores are not offered and have no effect', async () => {
  await site.api('POST', '/api/redemption/', { name: 'unused', quota: 1, count: 1 })
  await using visit = await classicVisit(rootAccount)
  const { page } = visit
  for (const path of ['/channel?status=2&type=1&group=none', '/redemption?status=3']) {
    await visit.open(path)
    await rowsOf(page).first().waitFor()
    await page.getByRole('group', { name: 'Filters' }).waitFor({ state: 'detached' })
    expect(await complaints(page)).toEqual([])
  }
  const calls = visit.calls().filter((call) => /\/(?:channel|redemption)\/\?/.test(call))
  expect(calls).toContain('GET /api/redemption/?p=0')
})
