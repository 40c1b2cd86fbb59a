// Sections of the specification (see coverage.md): 2 (register screen), 5 (registration), 8 (messages), 9 (resend
// countdown).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type MailServer, startMailServer } from '../helpers/mail-server.ts'
import { openConsole } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let mail: MailServer

beforeAll(async () => {
  mail = await startMailServer()
  const options = {
    SMTPServer: '127.0.0.1',
    SMTPPort: String(mail.port),
    SMTPAccount: 'mailer',
    SMTPToken: 'mail secret',
    SMTPFrom: 'gate@example.com',
    ServerAddress: 'https://gate.example',
  }
  for (const [key, value] of Object.entries(options)) await site.api('PUT', '/api/option/', { key, value })
})
afterAll(() => mail[Symbol.asyncDispose]())

async function fill(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value)
}
const submit = (page: Page) => page.getByRole('button', { name: 'Register', exact: true })

describe('registering', () => {
  test('spec 5: user name and password are required', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/register')
    await eventually(() => page.locator('h1').textContent()).toBe('new user registration')
    await eventually(() => page.getByLabel('Username').getAttribute('placeholder')).toBe('max 12 characters')
    await eventually(() => page.getByLabel('Password', { exact: true }).getAttribute('placeholder')).toBe(
      '8 to 20 characters',
    )
    await eventually(() => submit(page).isDisabled()).toBe(true)
    await fill(page, { Username: 'newcomer' })
    await eventually(() => submit(page).isDisabled()).toBe(true)
  })

  test('spec 5: a short password or two different passwords are refused before anything is sent', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/register')
    await fill(page, { Username: 'newcomer', Password: 'seven..', 'Confirm password': 'seven..' })
    await submit(page).click()
    await toastShown(page, 'info', 'password length must not be less than 8 characters!')
    await fill(page, { Password: 'long enough', 'Confirm password': 'not the same' })
    await submit(page).click()
    await toastShown(page, 'info', 'the two passwords entered do not match')
    expect(visit.calls().filter((call) => call.includes('/register'))).toEqual([])
  })

  test('spec 2, 4, 8: the aff parameter is stored and sent; success leads to the login page', async () => {
    const inviteCode = await site.api<string>('GET', '/api/user/aff')
    await using visit = await site.visit()
    const { page } = visit
    await visit.open(`/register?aff=${inviteCode}`)
    await eventually(() => page.evaluate(() => localStorage.getItem('aff'))).toBe(inviteCode)
    await page.getByText('You were invited').waitFor()
    // The password has exactly the minimum length.
    await fill(page, { Username: 'invited', Password: 'eight...', 'Confirm password': 'eight...' })
    await submit(page).click()
    await toastShown(page, 'success', 'registration succeeded!')
    await page.waitForURL('**/login')
    const [made] = await site.api<{ username: string; inviter_id: number }[]>('GET', '/api/user/?p=0')
    expect(made).toMatchObject({ username: 'invited', inviter_id: 1 })
  })

  test('spec 2: the page links to the login page; other login methods and the email fields are shown if they are enabled', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/register')
    await submit(page).waitFor()
    // Waits until the page has received the status, which lists the login methods that the server offers.
    await page.waitForFunction(() => localStorage.getItem('status') !== null)
    await page.waitForLoadState('networkidle')
    for (const label of ['Email address', 'Verification code'])
      await eventually(() => page.getByLabel(label, { exact: true }).count()).toBe(0)
    await eventually(() => page.getByRole('button', { name: /^Continue with/ }).count()).toBe(0)
    const on = {
      EmailVerificationEnabled: 'true',
      GitHubClientId: 'client',
      GitHubClientSecret: 'secret',
      GitHubOAuthEnabled: 'true',
    }
    const weChat = {
      WeChatServerAddress: 'http://127.0.0.1:1',
      WeChatServerToken: 'token',
      WeChatAccountQRCodeImageURL: '/logo.png',
      WeChatAuthEnabled: 'true',
    }
    for (const [key, value] of Object.entries({ ...on, ...weChat }))
      await site.api('PUT', '/api/option/', { key, value })
    try {
      await page.reload()
      for (const way of ['GitHub', 'WeChat']) await page.getByRole('button', { name: `Continue with ${way}` }).waitFor()
      for (const label of ['Email address', 'Verification code'])
        await page.getByLabel(label, { exact: true }).waitFor()
    } finally {
      for (const key of ['EmailVerificationEnabled', 'GitHubOAuthEnabled', 'WeChatAuthEnabled'])
        await site.api('PUT', '/api/option/', { key, value: 'false' })
    }
    await page.locator('main').getByRole('link', { name: 'Log in' }).click()
    await page.waitForURL('**/login')
  })

  test('spec 8: an error from the server is shown, and the form stays as it was', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/register')
    await fill(page, { Username: 'invited', Password: 'long enough', 'Confirm password': 'long enough' })
    await submit(page).click()
    await toastShown(page, 'error', '')
    await page.getByText('Registration failed').waitFor()
    await eventually(() => page.getByLabel('Username').inputValue()).toBe('invited')
  })

  test('spec 2, 8: with email verification, a code is sent and the button is disabled for 30 seconds', async () => {
    await site.api('PUT', '/api/option/', { key: 'EmailVerificationEnabled', value: 'true' })
    try {
      await using visit = await site.visit()
      const { page } = visit
      await visit.open('/register')
      const send = page.getByRole('button', { name: 'Send code' })
      await eventually(() => send.isDisabled()).toBe(true)
      await fill(page, { 'Email address': 'new+tag@example.com' })
      await send.click()
      await toastShown(page, 'success', 'verification code sent successfully, please check your mailbox!')
      await page.getByRole('button', { name: /^retry \(\d+\)$/ }).waitFor()
      const [received] = await mail.arrived(1)
      expect(received?.to).toEqual(['new+tag@example.com'])
      const code = /\b([A-Z0-9]{6,8}|\d{6})\b/.exec(received?.text ?? '')?.[1] ?? ''
      await fill(page, {
        Username: 'mailed',
        Password: 'long enough',
        'Confirm password': 'long enough',
        'Verification code': code,
      })
      await submit(page).click()
      await page.waitForURL('**/login')
      const [made] = await site.api<{ email: string }[]>('GET', '/api/user/?p=0')
      expect(made).toMatchObject({ email: 'new+tag@example.com' })
    } finally {
      await site.api('PUT', '/api/option/', { key: 'EmailVerificationEnabled', value: 'false' })
    }
  })
})

describe('a forgotten password', () => {
  test('spec 2, 8: a reset email is requested, and its link leads to a new password', async () => {
    await site.addUser('forgetful')
    // The test writes the email address to the database instead of binding it. Binding would send an email, and an
    // address gets only one email per interval.
    using database = openDatabase(site)
    database.run("update users set email = 'forgetful@example.com' where username = 'forgetful'")
    await site.api('PUT', '/api/option/', { key: 'ServerAddress', value: site.gateway.url })
    const before = mail.mails.length
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/reset')
    await page.getByLabel('Email address').fill('forgetful@example.com')
    await page.getByRole('button', { name: 'Send reset email' }).click()
    await toastShown(page, 'success', 'reset email sent successfully, please check your mailbox!')
    await eventually(() => page.getByRole('button', { name: /^retry \(\d+\)$/ }).isDisabled()).toBe(true)
    const mails = await mail.arrived(before + 1)
    const link = /https?:\/\/\S+\/user\/reset\?\S+/.exec(mails.at(-1)?.text ?? '')?.[0] ?? ''
    expect(link).not.toBe('')
    await visit.open(new URL(link).pathname + new URL(link).search)
    await eventually(() => page.getByLabel('Email address').inputValue()).toBe('forgetful@example.com')
    await page.getByRole('button', { name: 'Reset password' }).click()
    await toastShown(page, 'notice', 'new password copied to clipboard: ')
    const password = (await page.locator('code').first().textContent()) ?? ''
    const answer = await fetch(`${site.gateway.url}/api/user/login`, {
      method: 'POST',
      body: JSON.stringify({ username: 'forgetful', password }),
    })
    expect(await answer.json()).toMatchObject({ success: true })
  })

  test('an incomplete reset link shows a message', async () => {
    await using visit = await site.visit()
    await visit.open('/user/reset?email=a@example.com')
    await visit.page.getByText('This link is incomplete').waitFor()
    await visit.page.getByRole('link', { name: 'Request a new link' }).click()
    await visit.page.waitForURL('**/reset')
  })
})

test('spec 4: a refused callback of the GitHub login leads to the settings', async () => {
  {
    await using visit = await site.visit({ as: await site.addUser('refused') })
    await visit.page.goto('/oauth/github?code=x&state=y')
    await visit.page.waitForURL('**/setting')
    await toastShown(visit.page, 'error', '')
  }
  // On the settings page, the guard redirects a visitor who is not logged in to the login page.
  await using visit = await site.visit()
  await visit.page.goto('/oauth/github?code=x&state=y')
  await visit.page.waitForURL('**/login**')
  await toastShown(visit.page, 'error', '')
})
