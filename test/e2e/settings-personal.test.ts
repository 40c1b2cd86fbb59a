// Sections of the specification (see coverage.md): 2 (settings, personal), 3 (user), 4 (resend countdown, deleting the
// own account), 5 (email and WeChat binding, account deletion), 6 (who sees which tabs), 7 (access token, invite link),
// 8 (messages), 9 (countdown, codes).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type MailServer, startMailServer } from '../helpers/mail-server.ts'
import {
  type OAuthServer,
  startOAuthServer,
  startTurnstile,
  startWeChatHelper,
  type WeChatHelper,
} from '../helpers/outside-services.ts'
import { refuseClipboard } from './support/clipboard.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let mail: MailServer
let hub: OAuthServer
let helper: WeChatHelper

const setOptions = async (options: Record<string, string>) => {
  for (const [key, value] of Object.entries(options)) await site.api('PUT', '/api/option/', { key, value })
}

beforeAll(async () => {
  ;[mail, hub, helper] = [await startMailServer(), await startOAuthServer(), await startWeChatHelper()]
  await setOptions({
    SMTPServer: '127.0.0.1',
    SMTPPort: String(mail.port),
    SMTPAccount: 'mailer',
    SMTPToken: 'mail secret',
    SMTPFrom: 'gate@example.com',
    GitHubClientId: hub.clientId,
    GitHubClientSecret: hub.clientSecret,
    GitHubOAuthBaseURL: hub.url,
    GitHubApiBaseURL: hub.url,
    WeChatServerAddress: helper.url,
    WeChatServerToken: helper.token,
  })
})
afterAll(async () => {
  for (const each of [mail, hub, helper]) await each[Symbol.asyncDispose]()
})

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

describe('the tabs', () => {
  test('spec 2, 6: ordinary users see only the personal tab, whatever the URL contains', async () => {
    const user = await site.addUser('plain')
    await using visit = await site.visit({ as: user })
    await visit.open('/setting?tab=system')
    await eventually(() => visit.page.locator('h1').textContent()).toBe('settings')
    await eventually(() => visit.page.getByRole('tab').allTextContents()).toEqual(['Personal settings'])
    await button(visit.page, 'Copy invite link').waitFor()
    expect(visit.calls().filter((call) => call.includes('/api/option'))).toEqual([])
  })

  test('spec 2, 6: administrators see all tabs, the first is the default, and the URL stores the tab', async () => {
    const admin = await site.addUser('chief', { role: 10 })
    await using visit = await site.visit({ as: admin })
    const { page } = visit
    await visit.open('/setting')
    await eventually(() => page.getByRole('tab').allTextContents()).toEqual([
      'Personal settings',
      'Operation settings',
      'System settings',
      'Other settings',
      'Audit log',
    ])
    await eventually(() => page.getByRole('tab', { selected: true }).textContent()).toBe('Personal settings')
    await page.getByRole('tab', { name: 'Other settings' }).click()
    await page.getByLabel('System name').waitFor()
    await eventually(() => page.url()).toEndWith('/setting?tab=other')
    await page.goBack()
    await button(page, 'Copy invite link').waitFor()
  })
})

describe('the user’s own account', () => {
  test('spec 2: the profile is shown with a link to its form', async () => {
    const user = await site.addUser('profiled')
    await using visit = await site.visit({ as: user })
    await visit.open('/setting')
    await visit.page.getByText('$2.00').waitFor()
    await visit.page.getByRole('link', { name: 'Edit profile' }).click()
    await visit.page.waitForURL('**/user/edit')
  })

  test('spec 2, 8: after a confirmation, an access token is created, copied and shown, and it works', async () => {
    const user = await site.addUser('tokened')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/setting')
    await button(page, 'Generate system access token').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    expect(visit.calls()).not.toContain('GET /api/user/token')
    await button(page, 'Generate system access token').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Generate system access token' }).click()
    await toastShown(page, 'success', 'token reset and copied to clipboard')
    const token = await clipboard(page)
    await page.getByText(token, { exact: true }).waitFor()
    const self = await fetch(`${site.gateway.url}/api/user/self`, { headers: { authorization: token } })
    expect(((await self.json()) as { data: { username: string } }).data.username).toBe('tokened')
    await page.reload()
    await button(page, 'Copy invite link').waitFor()
    await eventually(() => page.getByText(token, { exact: true }).count()).toBe(0)
  })

  test('spec 7, 8: the invite link is the origin, /register?aff= and the code', async () => {
    const user = await site.addUser('inviter')
    const code = await site.apiAs<string>(user, 'GET', '/api/user/aff')
    await using visit = await site.visit({ as: user })
    await visit.open('/setting')
    await button(visit.page, 'Copy invite link').click()
    await toastShown(visit.page, 'success', 'invite link copied')
    await eventually(() => clipboard(visit.page)).toBe(`${site.gateway.url}/register?aff=${code}`)
  })

  test('spec 8: if the browser refuses to copy the link, there is a warning, and the link is shown on the page', async () => {
    const user = await site.addUser('noclip')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await refuseClipboard(page)
    await visit.open('/setting')
    await button(page, 'Copy invite link').click()
    await toastShown(page, 'warning', 'cannot copy to clipboard, please copy manually')
    await page.locator('code', { hasText: '/register?aff=' }).waitFor()
  })

  test('theme, language, row height and shortcuts change immediately and are remembered', async () => {
    const user = await site.addUser('looker')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/setting')
    await page.getByText('Dark', { exact: true }).click()
    await page.getByText('Compact', { exact: true }).click()
    await page.getByRole('switch', { name: 'Single-key shortcuts' }).uncheck()
    await page.getByText('简体中文', { exact: true }).last().click()
    await page.getByRole('heading', { name: '设置', exact: true }).waitFor()
    await eventually(() =>
      page.evaluate(() => ['ui.theme', 'ui.density', 'ui.keys', 'ui.lang'].map((key) => localStorage.getItem(key))),
    ).toEqual(['dark', 'compact', 'off', 'zh'])
    await eventually(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
  })

  test('an account that cannot be loaded shows an error and can be reloaded', async () => {
    const user = await site.addUser('unlucky')
    await using visit = await site.visit({ as: user, expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    await page.route('**/api/user/self', (route) => route.abort())
    await visit.open('/setting')
    await page.getByText('Could not load your account').waitFor()
    await page.unroute('**/api/user/self')
    await button(page, 'Retry').click()
    await page.getByText('$2.00').waitFor()
  })
})

describe('binding', () => {
  test('spec 5, 8, 9: an email address is bound with a code that is sent to it, with a countdown', async () => {
    const user = await site.addUser('mailer')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/setting')
    await button(page, 'Email address: Connect').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Send code' }).click()
    expect(visit.calls().filter((call) => call.includes('/api/verification'))).toEqual([])
    await eventually(() => dialog.getByRole('button', { name: 'Connect' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Email address').fill('mailer@example.com')
    await page.evaluate(() => {
      const seen: string[] = []
      Object.assign(window, { seen })
      const look = () => {
        const text = document.querySelector('[role="dialog"]')?.textContent ?? ''
        const count = /retry \((\d+)\)/.exec(text)?.[1]
        if (count !== undefined && seen.at(-1) !== count) seen.push(count)
      }
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
    })
    await dialog.getByRole('button', { name: 'Send code' }).click()
    await toastShown(page, 'success', 'verification code sent, please check your mailbox!')
    const again = dialog.getByRole('button', { name: /retry \(\d+\)/ })
    await eventually(() => again.isDisabled()).toBe(true)
    expect(await page.evaluate(() => (window as unknown as { seen: string[] }).seen[0])).toBe('30')
    const [sent] = await mail.arrived(1)
    const code = /\b(\d{6})\b/.exec(sent?.text ?? '')?.[1] ?? ''
    await dialog.getByLabel('Verification code').fill('000000')
    await dialog.getByRole('button', { name: 'Connect' }).click()
    await toastShown(page, 'error', 'Error: ')
    await dialog.getByLabel('Verification code').fill(code)
    await dialog.getByRole('button', { name: 'Connect' }).click()
    await toastShown(page, 'success', 'email account bound successfully!')
    await page.getByText('mailer@example.com').waitFor()
    await button(page, 'Email address: Change').waitFor()
  })

  test('spec 5: no code is sent until the bot check is passed', async () => {
    await using turnstile = await startTurnstile()
    await setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: turnstile.secret, TurnstileCheckEnabled: 'true' })
    const user = await site.addUser('robot')
    {
      await using visit = await site.visit({
        as: user,
        expectedErrors: /challenges\.cloudflare\.com|ERR_|Content Security/,
      })
      const { page } = visit
      await page.route('https://challenges.cloudflare.com/**', (route) => route.abort())
      await visit.open('/setting')
      await button(page, 'Email address: Connect').click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Could not load the bot check').waitFor()
      await dialog.getByLabel('Email address').fill('robot@example.com')
      await dialog.getByRole('button', { name: 'Send code' }).click()
      await toastShown(page, 'info', 'retry in a few seconds, Turnstile is checking the user environment!')
      expect(visit.calls().filter((call) => call.includes('/api/verification'))).toEqual([])
    }
    await setOptions({ TurnstileCheckEnabled: 'false' })
  })

  test('spec 2: WeChat and GitHub are offered if they are enabled', async () => {
    const user = await site.addUser('nobind')
    await using visit = await site.visit({ as: user })
    await visit.open('/setting')
    await button(visit.page, 'Email address: Connect').waitFor()
    await eventually(() => visit.page.getByText('WeChat account').count()).toBe(0)
    await eventually(() => visit.page.getByText('GitHub account').count()).toBe(0)
  })

  test('spec 5, 8: WeChat is bound with a code; an empty code does nothing', async () => {
    await setOptions({ WeChatAuthEnabled: 'true' })
    const user = await site.addUser('chatter')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/setting')
    await button(page, 'WeChat account: Connect').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/Valid for \d:/).waitFor()
    await eventually(() => dialog.getByRole('button', { name: 'Connect' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Verification code').fill('wrong')
    await dialog.getByRole('button', { name: 'Connect' }).click()
    await toastShown(page, 'error', 'Error: ')
    await dialog.getByLabel('Verification code').fill(helper.codeFor('wechat-7'))
    await dialog.getByRole('button', { name: 'Connect' }).click()
    await toastShown(page, 'success', 'WeChat account bound successfully!')
    await page.getByText('wechat-7').waitFor()
    await eventually(() => dialog.count()).toBe(0)
  })

  test('spec 4, 8: GitHub is bound, and its callback leads back to the settings', async () => {
    await setOptions({ GitHubOAuthEnabled: 'true' })
    const user = await site.addUser('coder')
    await using visit = await site.visit({ as: user, expectedErrors: new RegExp(`${hub.url}|404`) })
    const { page } = visit
    await visit.open('/setting')
    await button(page, 'GitHub account: Connect').click()
    await page.waitForURL(`${hub.url}/**`)
    const { code, state } = hub.agree(page.url(), { id: 77, login: 'octo' })
    await page.goto(`/oauth/github?code=${code}&state=${state}`)
    await page.waitForURL('**/setting')
    await toastShown(page, 'success', 'bound successfully!')
    await page.getByText('octo', { exact: true }).waitFor()
  })
})

describe('deleting the user’s own account', () => {
  test('spec 4, 5, 8: requires typing the name, then logs out and leads to the login page', async () => {
    const user = await site.addUser('leaver')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/setting')
    await button(page, 'Delete account').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type your username leaver').fill('leave')
    await dialog.getByRole('button', { name: 'Delete account' }).click()
    await toastShown(page, 'error', 'please enter your account name to confirm deletion!')
    await dialog.getByText('please enter your account name to confirm deletion!').waitFor()
    expect(visit.calls()).not.toContain('DELETE /api/user/self')
    await dialog.getByLabel('Type your username leaver').fill('leaver')
    await dialog.getByRole('button', { name: 'Delete account' }).click()
    await page.waitForURL('**/login')
    await toastShown(page, 'success', 'account deleted!')
    await eventually(() => page.evaluate(() => localStorage.getItem('user'))).toBeNull()
    await eventually(() => visit.calls()).toContain('DELETE /api/user/self')
  })

  test('if the server refuses, the reason is shown and the user stays logged in', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/setting')
    await button(page, 'Delete account').click()
    await page.getByLabel('Type your username root').fill('root')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete account' }).click()
    await toastShown(page, 'error', 'Error: ')
    await eventually(() => new URL(page.url()).pathname).toBe('/setting')
  })
})
