// Sections of the specification (see coverage.md): 2 (login screen, route guard), 4 (login, logout), 5 (login), 8 (401,
// messages), 9 (durations, positions).
import { describe, expect, test } from 'bun:test'
import { axeFaults } from './support/audit.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

describe('logging in', () => {
  test('spec 2, 4, 5, 8: requires both fields, remembers the user and goes home', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/login')
    await eventually(() => page.locator('h1').textContent()).toBe('user login')
    await eventually(() => page.title()).toBe('user login · Tollgate')
    const submit = page.getByRole('button', { name: 'Log in' })
    await eventually(() => submit.isDisabled()).toBe(true)
    await page.getByLabel('Username').fill('root')
    await eventually(() => submit.isDisabled()).toBe(true)
    await page.getByLabel('Password', { exact: true }).fill(rootAccount.password)
    await eventually(() => submit.isEnabled()).toBe(true)
    await submit.click()
    await toastShown(page, 'success', 'login succeeded!')
    await page.waitForURL('**/')
    const stored = () => page.evaluate(() => JSON.parse(localStorage.getItem('user') ?? 'null'))
    await eventually(stored).toMatchObject({ username: 'root', role: 100 })
  })

  test('spec 8: an error is shown on the page and as a toast, clears the password and keeps the name', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/login')
    await page.getByLabel('Username').fill('root')
    const password = page.getByLabel('Password', { exact: true })
    await password.fill('not the password')
    await page.keyboard.press('Enter')
    await toastShown(page, 'error', 'Error: ')
    await page.getByText('Login failed').waitFor()
    await eventually(() => password.inputValue()).toBe('')
    await eventually(() => password.evaluate((box) => box === document.activeElement)).toBe(true)
    await eventually(() => page.getByLabel('Username').inputValue()).toBe('root')
    await eventually(() => page.evaluate(() => localStorage.getItem('user'))).toBeNull()
  })

  test('a visitor who is redirected to the login page sees a note without the URL of the first page; a successful login removes earlier errors', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/token?q=mine')
    await page.waitForURL('**/login')
    await page.getByText('Log in to continue to the page you opened.').waitFor()
    await eventually(() => page.locator('main').textContent()).not.toContain('/token')
    const submit = async (password: string) => {
      await page.getByLabel('Username').fill('root')
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.keyboard.press('Enter')
    }
    await submit('not the password')
    // While the pointer is on a toast, it disappears only if the page closes it.
    await page.locator('[data-toast="error"]').hover()
    await submit(rootAccount.password)
    await page.waitForURL('**/token?q=mine')
    await toastShown(page, 'success', 'login succeeded!')
    await eventually(() => page.locator('[data-toast="error"]').count()).toBe(0)
  })

  test('spec 2: links lead to the password reset and to the registration; on wide screens, the notice is beside the form', async () => {
    await site.api('PUT', '/api/option/', { key: 'Notice', value: '**Maintenance** on Sunday' })
    await using visit = await site.visit()
    await visit.open('/login')
    await visit.page.getByRole('region', { name: 'Notice' }).locator('strong').waitFor()
    expect(await axeFaults(visit.page)).toEqual([])
    await site.api('PUT', '/api/option/', { key: 'Notice', value: '' })
    const link = (name: string) => visit.page.getByRole('link', { name }).getAttribute('href')
    await eventually(() => link('Forgot password?')).toBe('/reset')
    await eventually(() => link('Register')).toBe('/register')
  })

  test('spec 2: ?expired shows the notice', async () => {
    await using visit = await site.visit()
    await visit.open('/login?expired=true')
    const words = 'not logged in or login expired, please log in again'
    await toastShown(visit.page, 'error', words)
    await eventually(() => visit.page.locator('main').getByText(words).count()).toBe(1)
  })

  test('spec 2: the saved status decides which other login methods are offered', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/login')
    await page.waitForFunction(() => localStorage.getItem('status') !== null)
    await page.waitForLoadState('networkidle')
    await eventually(() => page.getByRole('button', { name: /^Continue with/ }).count()).toBe(0)
    await site.api('PUT', '/api/option/', { key: 'GitHubClientId', value: 'client' })
    await site.api('PUT', '/api/option/', { key: 'GitHubClientSecret', value: 'secret' })
    await site.api('PUT', '/api/option/', { key: 'GitHubOAuthEnabled', value: 'true' })
    await page.reload()
    await page.getByRole('button', { name: 'Continue with GitHub' }).waitFor()
    await eventually(() => page.getByRole('button', { name: 'Continue with WeChat' }).count()).toBe(0)
    await site.api('PUT', '/api/option/', { key: 'GitHubOAuthEnabled', value: 'false' })
  })
})

describe('the guard', () => {
  test('spec 2: sends visitors to the login page, and after the login to the page that they wanted to open', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/token?sort=-name')
    await eventually(() => new URL(page.url()).pathname).toBe('/login')
    await page.getByLabel('Username').fill('root')
    await page.getByLabel('Password', { exact: true }).fill(rootAccount.password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'my tokens' }).waitFor()
    await eventually(() => page.url()).toEndWith('/token?sort=-name')
  })

  test('spec 2: exactly those pages of the route table that need a login redirect to the login page', async () => {
    await using visit = await site.visit()
    const pages = {
      open: ['/', '/login', '/register', '/reset', '/user/reset', '/about', '/chat', '/no-such-page'],
      guarded: [
        ...['/channel', '/channel/add', '/channel/edit/1', '/token', '/token/add', '/token/edit/1'],
        ...['/redemption', '/redemption/add', '/redemption/edit/1', '/user', '/user/add', '/user/edit/1', '/user/edit'],
        ...['/setting', '/topup', '/log', '/usage', '/playground'],
      ],
    }
    for (const path of pages.open) {
      await visit.open(path)
      await eventually(() => new URL(visit.page.url()).pathname).toBe(path)
    }
    for (const path of pages.guarded) {
      await visit.open(path)
      await eventually(() => [path, new URL(visit.page.url()).pathname]).toEqual([path, '/login'])
    }
  })

  test('an unreadable login record is treated as logged out', async () => {
    await using visit = await site.visit({ stored: { user: '{broken' } })
    await visit.open('/token')
    await eventually(() => new URL(visit.page.url()).pathname).toBe('/login')
  })

  test('spec 6: pages for administrators show a message to other users', async () => {
    const user = await site.addUser('ordinary')
    await using visit = await site.visit({ as: user })
    await visit.open('/channel')
    await eventually(() => visit.page.locator('h1').textContent()).toBe('No permission')
    expect(visit.calls().filter((call) => call.includes('/api/channel'))).toEqual([])
  })

  test('spec 8: an expired session leads to /login?expired=true, clears the user and shows an error', async () => {
    const user = await site.addUser('banned-later')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await page.context().clearCookies()
    // The page may reload its list by itself and leave before the button is clicked, so an error of the click is
    // ignored.
    void page
      .getByRole('button', { name: 'Refresh' })
      .click()
      .catch(() => undefined)
    await page.waitForURL('**/login?expired=true')
    await eventually(() => page.evaluate(() => localStorage.getItem('user'))).toBeNull()
    await toastShown(page, 'error', 'not logged in or login expired')
  })

  test('spec 4, 8: logging out clears the user and leads to the login page', async () => {
    const user = await site.addUser('leaving')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/token')
    await page.getByRole('button', { name: 'leaving' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.waitForURL('**/login')
    await toastShown(page, 'success', 'logged out successfully!')
    await eventually(() => page.evaluate(() => localStorage.getItem('user'))).toBeNull()
  })
})
