// Sections of the specification (see coverage.md): 2 (home), 3 (status document), 9 (a notice stays until closed and
// may contain HTML).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type FakeUpstream, ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type Account, openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let upstream: FakeUpstream
let user: Account
beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(ok())
  user = await site.addUser('starter')
})
afterAll(() => upstream[Symbol.asyncDispose]())

const setOption = (key: string, value: string) => site.api('PUT', '/api/option/', { key, value })
const kpi = (page: Page, label: string) =>
  page.getByRole('region', { name: 'Figures' }).locator('> div').filter({ hasText: label })

async function makeCall(account: Account): Promise<void> {
  const channel = { type: 8, name: 'c', key: 'k', models: 'gpt-4o-mini', group: 'default', base_url: upstream.url }
  await site.api('POST', '/api/channel/', channel)
  const token = { name: 'first', remain_quota: 500_000, expired_time: -1 }
  const { key } = await site.apiAs<{ key: string }>(account, 'POST', '/api/token/', token)
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }
  await (await site.gateway.post('/v1/chat/completions', body, `sk-${key}`)).text()
}

describe('without a custom home page', () => {
  test('spec 2: visitors see a description, the login methods and the status', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/')
    const main = page.locator('main')
    await main.getByText('Tollgate', { exact: true }).waitFor()
    await eventually(() => main.getByRole('link', { name: 'Log in' }).getAttribute('href')).toBe('/login')
    await eventually(() => main.getByRole('link', { name: 'Register' }).getAttribute('href')).toBe('/register')
    const card = page.getByRole('region', { name: 'System status' })
    const { version } = await site.api<{ version: string }>('GET', '/api/status')
    await card.getByText(version).waitFor()
    await eventually(() => card.locator('time').textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    const line = (name: string) => card.locator('dl > div').filter({ hasText: name }).locator('dd').textContent()
    await eventually(() => line('Password login')).toBe('Enabled')
    await eventually(() => line('GitHub login')).toBe('Disabled')
    await eventually(() => line('WeChat login')).toBe('Disabled')
  })

  test('a user sees first steps that are ticked automatically, and can dismiss them permanently', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/')
    await page.getByText('1 of 3 done').waitFor()
    await eventually(() => page.locator('li[data-done="true"]').textContent()).toContain('Add credit')
    await eventually(() => kpi(page, 'Balance').textContent()).toContain('$2.00')
    // The call is made while the page is open, so that the step is ticked without a reload.
    await makeCall(user)
    await page.locator('li[data-done="true"]').filter({ hasText: 'Make your first request' }).waitFor()
    await page.reload()
    await page.getByText('Requests, 7 days').waitFor()
    await page.getByRole('cell', { name: 'gpt-4o-mini' }).waitFor()
    await eventually(() => kpi(page, 'Requests, 7 days').textContent()).toContain('1')
    await eventually(() => page.getByText('Get started').count()).toBe(0)
    // The page lists the models with their share of the spending, and links to the user's usage of each.
    const spend = page.getByRole('region', { name: 'Spend, last 14 days' })
    await spend.getByText('100%').waitFor()
    await spend.getByRole('link', { name: 'gpt-4o-mini' }).click()
    await page.waitForURL(
      ({ pathname, search }) => pathname === '/usage' && search === '?model=gpt-4o-mini&group=token',
    )
  })

  test('for a new account, no step is ticked and the log is empty', async () => {
    const fresh = await site.addUser('fresh', { quota: 0 })
    await using visit = await site.visit({ as: fresh })
    await visit.open('/')
    await visit.page.getByText('0 of 3 done').waitFor()
    await visit.page.getByText('No activity yet.').waitFor()
    const links = visit.page.getByRole('region', { name: 'Get started' }).getByRole('link')
    const hrefs = () => links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    await eventually(hrefs).toEqual(['/topup', '/token/add', '/playground'])
  })

  test('a model without a price, and a missing email address if emails are sent, are separate steps', async () => {
    const channel = { type: 8, name: 'odd', key: 'k', models: 'nobody-knows-this-model', group: 'default' }
    const [id] = await site.api<number[]>('POST', '/api/channel/', { ...channel, base_url: upstream.url })
    await setOption('EmailVerificationEnabled', 'true')
    try {
      await using admin = await site.visit({ as: rootAccount })
      await admin.open('/')
      // The installation has served calls, so the steps are folded into one line.
      await admin.page.getByRole('button', { name: 'Show steps' }).click()
      await admin.page.getByRole('link', { name: 'Open prices' }).click()
      await admin.page.waitForURL('**/setting?tab=operation#ratios')
      const fresh = await site.addUser('mailless')
      await using visit = await site.visit({ as: fresh })
      await visit.open('/')
      await visit.page.getByText('Connect an email address').waitFor()
      await visit.page.getByText('1 of 4 done').waitFor()
    } finally {
      await setOption('EmailVerificationEnabled', 'false')
      await site.api('DELETE', `/api/channel/${id}/`)
    }
  })

  test('dismissed first steps do not come back', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/')
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.reload()
    await page.getByText('All good').waitFor()
    await eventually(() => page.getByText('Get started').count()).toBe(0)
  })

  test('an administrator sees the figures of all users, or only their own if the URL says so', async () => {
    const caller = await site.addUser('caller')
    await makeCall(caller)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/')
    await page.getByRole('cell', { name: 'caller' }).first().waitFor()
    await page.getByText('Me', { exact: true }).click()
    await page.getByRole('columnheader', { name: 'User' }).waitFor({ state: 'detached' })
    await eventually(() => page.url()).toEndWith('/?scope=own')
    await kpi(page, 'Requests, 7 days').getByText('0', { exact: true }).waitFor()
  })

  test('an administrator sees what needs attention and fixes it, and the page is refreshed without a reload', async () => {
    const fields = { type: 8, name: 'broken', key: 'k', models: 'gpt-4o', group: 'default', base_url: upstream.url }
    const [id] = await site.api<number[]>('POST', '/api/channel/', fields)
    using database = openDatabase(site)
    const seconds = Math.floor(Date.now() / 1000)
    const switchOff =
      "update channels set status = 3, status_reason = 'the key was refused', status_time = ? where id = ?"
    database.query(switchOff).run(seconds, id ?? 0)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/')
    await page.getByText('1 channel is off').waitFor({ timeout: 20_000 })
    const item = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
    await item.getByText('was disabled automatically: the key was refused').waitFor()
    await item.getByRole('button', { name: 'Test and enable' }).click()
    await toastShown(page, 'success', 'broken passed its test and is enabled')
    await page.getByText('All good').waitFor({ timeout: 20_000 })
    await site.api('DELETE', `/api/channel/${id}/`)
  })

  test('a user sees their own failed requests and tokens, and how long the balance lasts', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    const { key } = await site.apiAs<{ key: string }>(user, 'POST', '/api/token/', {
      name: 'second',
      remain_quota: 500_000,
      expired_time: -1,
    })
    const body = { model: 'no-such-model', messages: [{ role: 'user', content: 'Hello' }] }
    await (await site.gateway.post('/v1/chat/completions', body, `sk-${key}`)).text()
    await visit.open('/')
    await page.getByRole('region', { name: 'Failed requests' }).getByText('no_available_channel').waitFor()
    await page.getByRole('region', { name: 'Tokens' }).getByRole('link', { name: 'second' }).waitFor()
    await page.getByRole('link', { name: 'View failed requests' }).click()
    await page.waitForURL(({ pathname, search }) => pathname === '/log' && search.includes('type=6'))
  })

  test('once there are calls, the first steps are one line, even if their state is unknown or cannot be loaded', async () => {
    await using visit = await site.visit({ as: user, expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    const steps = page.getByRole('region', { name: 'Get started' })
    const { id } = await site.apiAs<{ id: number }>(user, 'GET', '/api/user/self')
    await page.addInitScript((key) => localStorage.setItem(key, 'flowing'), `ui.start.${id}`)
    await page.route('**/api/token/?*', (route) => route.abort())
    await visit.open('/')
    await steps.getByRole('button', { name: 'Show steps' }).waitFor()
    expect(await steps.getByRole('listitem').count()).toBe(0)
    expect(await steps.textContent()).not.toContain('done')
  })

  test('parts that cannot be loaded show an error and can be retried', async () => {
    await using visit = await site.visit({ as: user, expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    await page.route('**/api/usage/**', (route) => route.abort())
    await visit.open('/')
    const alert = page.getByRole('alert').filter({ hasText: 'Could not load the figures' }).first()
    await alert.waitFor()
    await page.getByText('Recent activity').waitFor()
    await page.unroute('**/api/usage/**')
    await alert.getByRole('button', { name: 'Retry' }).click()
    await kpi(page, 'Requests, 7 days').waitFor()
  })
})

describe('with a custom home page', () => {
  test('spec 2: the text is shown sanitised and cached for the next visit, and a failure to load it is reported', async () => {
    await setOption(
      'HomePageContent',
      '## Hello\n\n<script>window.bad = 1</script><img src="x" onerror="window.bad = 1">',
    )
    await using visit = await site.visit({ expectedErrors: /ERR_FAILED|404/ })
    const { page } = visit
    await visit.open('/')
    await page.getByRole('heading', { name: 'Hello' }).waitFor()
    expect(await page.evaluate(() => 'bad' in window)).toBe(false)
    await page.route('**/api/home_page_content', (route) => route.abort())
    await page.reload()
    await page.getByRole('heading', { name: 'Hello' }).waitFor()
    await toastShown(page, 'error', 'Could not reach the server')
    await page.evaluate(() => localStorage.removeItem('home_page_content'))
    await page.reload()
    const failed = page.getByRole('alert').filter({ hasText: 'failed to load home page content…' })
    await failed.waitFor()
    await page.unroute('**/api/home_page_content')
    await failed.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('heading', { name: 'Hello' }).waitFor()
    await setOption('HomePageContent', '')
  })

  test('spec 2: if the home page is an https URL, it is shown in a sandboxed frame', async () => {
    await setOption('HomePageContent', 'https://pages.example/welcome')
    await using visit = await site.visit({ expectedErrors: /pages\.example|ERR_/ })
    const { page } = visit
    await page.route('https://pages.example/**', (route) => route.abort())
    await visit.open('/')
    const frame = page.locator('main iframe')
    await frame.waitFor()
    await eventually(() => frame.getAttribute('src')).toBe('https://pages.example/welcome')
    await eventually(() => frame.getAttribute('title')).toBe('home')
    await eventually(() => frame.getAttribute('sandbox')).toContain('allow-scripts')
    await setOption('HomePageContent', '')
  })

  test('spec 2: users who are logged in see the text below their overview', async () => {
    await setOption('HomePageContent', '## Hello')
    await using visit = await site.visit({ as: user })
    await visit.open('/')
    const card = visit.page.getByRole('region', { name: 'From your administrator' })
    await card.getByRole('heading', { name: 'Hello' }).waitFor()
    await kpi(visit.page, 'Balance').waitFor()
    await setOption('HomePageContent', '')
  })

  test('spec 9: a notice is shown once for each new text, stays until closed and may contain HTML', async () => {
    await setOption('Notice', 'Closed on **Sunday**')
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/')
    const notice = page.locator('[data-toast="notice"]')
    await notice.locator('strong', { hasText: 'Sunday' }).waitFor()
    await notice.getByRole('button', { name: 'Close' }).click()
    await notice.waitFor({ state: 'detached' })
    const asked = page.waitForResponse('**/api/notice')
    await page.reload()
    await asked
    await page.getByText('System status').waitFor()
    await eventually(() => notice.count()).toBe(0)
    await setOption('Notice', 'Closed on Monday')
    await page.reload()
    await notice.filter({ hasText: 'Closed on Monday' }).waitFor()
    await setOption('Notice', '')
  })
})
