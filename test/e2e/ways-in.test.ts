// Sections of the specification (see coverage.md): 2 (login, register and reset screens, OAuth callback), 4 (OAuth
// callback, countdown, WeChat dialog, registration), 5 (bot check, reset), 8 (messages), 9 (countdown, waits, code
// validity).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type MailServer, startMailServer } from '../helpers/mail-server.ts'
import {
  type OAuthServer,
  startOAuthServer,
  startTurnstile,
  startWeChatHelper,
  type TurnstileServer,
  type WeChatHelper,
} from '../helpers/outside-services.ts'
import { runUntil, stopClock } from './support/clock.ts'
import { openConsole } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()
let mail: MailServer
let hub: OAuthServer
let helper: WeChatHelper

const setOptions = async (options: Record<string, string>) => {
  for (const [key, value] of Object.entries(options)) await site.api('PUT', '/api/option/', { key, value })
}
const storedUser = (page: Page) => page.evaluate(() => JSON.parse(localStorage.getItem('user') ?? 'null'))

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
    WeChatAccountQRCodeImageURL:
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
    WeChatAuthEnabled: 'true',
    GitHubOAuthEnabled: 'true',
  })
})
afterAll(async () => {
  for (const each of [mail, hub, helper]) await each[Symbol.asyncDispose]()
})

describe('WeChat', () => {
  test('spec 2, 4, 8: a dialog has the QR code and a box for the code; logging in closes it', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/login')
    await page.getByRole('button', { name: 'Continue with WeChat' }).click()
    const dialog = page.getByRole('dialog', { name: 'Log in with WeChat' })
    await dialog.getByRole('img', { name: 'QR code of the WeChat account' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Continue with WeChat' }).click()
    await dialog.getByLabel('Verification code').fill('not a code')
    await dialog.getByRole('button', { name: 'Log in' }).click()
    await toastShown(page, 'error', 'Error: ')
    await dialog.getByLabel('Verification code').fill(helper.codeFor('wechat-1'))
    await dialog.getByRole('button', { name: 'Log in' }).click()
    await toastShown(page, 'success', 'login succeeded!')
    await dialog.waitFor({ state: 'detached' })
    await eventually(() => new URL(page.url()).pathname).toBe('/')
    await eventually(() => storedUser(page)).toMatchObject({ role: 1 })
  })

  test('spec 9: the dialog shows a countdown of the three minutes for which the code is valid', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await page.clock.install()
    await visit.open('/login')
    await page.getByRole('button', { name: 'Continue with WeChat' }).click()
    await page.getByRole('dialog').getByText('is valid for three minutes').waitFor()
    await stopClock(page)
    const left = async () => {
      const said = await page.getByText(/^Valid for \d:\d\d/).textContent()
      const [, minutes = '', seconds = ''] = /(\d):(\d\d)/.exec(said ?? '') ?? []
      return 60 * Number(minutes) + Number(seconds)
    }
    const before = await left()
    expect(before).toBeLessThanOrEqual(180)
    const over = page.getByText('The code has expired.')
    const ranMs = await runUntil(page, 1000, async () => (await over.count()) > 0)
    expect(ranMs).toBeGreaterThanOrEqual((before - 1) * 1000)
    await page.getByRole('button', { name: 'I have a new code' }).click()
    await eventually(left).toBe(180)
  })
})

describe('logging in with GitHub', () => {
  test('spec 4, 7, 8: goes to GitHub with client id and scope; the callback logs in and leads to the home page', async () => {
    await using visit = await site.visit({ expectedErrors: new RegExp(`${hub.url}|404`) })
    const { page } = visit
    await visit.open('/login')
    await page.getByRole('button', { name: 'Continue with GitHub' }).click()
    await page.waitForURL(`${hub.url}/**`)
    const asked = new URL(page.url()).searchParams
    expect([asked.get('client_id'), asked.get('scope')]).toEqual([hub.clientId, 'user:email'])
    const { code, state } = hub.agree(page.url(), { id: 5, login: 'octo' })
    await page.goto(`/oauth/github?code=${code}&state=${state}`)
    await toastShown(page, 'success', 'logged in successfully!')
    await eventually(() => new URL(page.url()).pathname).toBe('/')
    await eventually(() => storedUser(page)).toMatchObject({ role: 1 })
  })

  test('spec 4, 9: a callback without a response is retried after 2, 4 and 6 seconds, and the number of the attempt is shown', async () => {
    await using visit = await site.visit({ expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    let tries = 0
    await page.route('**/api/oauth/github?*', (route) => {
      tries++
      return route.abort()
    })
    await page.clock.install({ time: 0 })
    await page.clock.pauseAt(1000)
    await page.goto('/oauth/github?code=c&state=s')
    for (const [wait, next] of [
      [2000, 2],
      [4000, 3],
      [6000, 4],
    ] as const) {
      await page.getByText(`retry ${next - 1}`).waitFor()
      expect(tries).toBe(next - 1)
      await page.clock.runFor(wait - 100)
      expect(tries).toBe(next - 1)
      await page.clock.runFor(200)
    }
    await page.getByText('retry 4').waitFor()
    expect(tries).toBe(4)
  })
})

/** A fake of the challenge provider's widget. */
const playWidget = (page: Page) =>
  page.route('https://challenges.cloudflare.com/**', (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: `window.turnstile = {
        render(place, options) { window.solve = options.callback; place.textContent = options.sitekey; return 'w' },
        remove() {},
      }`,
    }),
  )

const checkBy = (turnstile: TurnstileServer) => ({
  TurnstileVerifyURL: turnstile.url,
  TurnstileSiteKey: 'site key',
  TurnstileSecretKey: turnstile.secret,
  TurnstileCheckEnabled: 'true',
})

/** Makes the fake widget report that the challenge is solved, and returns the widget's token. */
async function solve(page: Page, turnstile: TurnstileServer): Promise<string> {
  const answer = turnstile.solve()
  await page.evaluate((solved) => (window as unknown as { solve(it: string): void }).solve(solved), answer)
  return answer
}

describe('the bot check', () => {
  test('spec 2, 5: registration waits until the check is solved, and sends its token', async () => {
    await using turnstile = await startTurnstile()
    await setOptions(checkBy(turnstile))
    try {
      await using visit = await site.visit({ expectedErrors: /challenges\.cloudflare\.com/ })
      const { page } = visit
      await playWidget(page)
      await visit.open('/register')
      await page.getByText('site key').waitFor()
      await page.getByLabel('Username').fill('human')
      await page.getByLabel('Password', { exact: true }).fill('long enough')
      await page.getByLabel('Confirm password').fill('long enough')
      await page.getByRole('button', { name: 'Register', exact: true }).click()
      const words = 'please retry in a few seconds, Turnstile is checking the user environment!'
      await toastShown(page, 'info', words)
      expect(visit.calls().filter((call) => call.startsWith('POST'))).toEqual([])
      const answer = await solve(page, turnstile)
      await page.getByRole('button', { name: 'Register', exact: true }).click()
      await toastShown(page, 'success', 'registration succeeded!')
      await eventually(() => visit.calls()).toContain(`POST /api/user/register?turnstile=${answer}`)
    } finally {
      await setOptions({ TurnstileCheckEnabled: 'false' })
    }
  })

  test('spec 5, 7: its token is sent with the requests for a new password and for an email code', async () => {
    await using turnstile = await startTurnstile()
    await setOptions({ ...checkBy(turnstile), EmailVerificationEnabled: 'true' })
    try {
      for (const [path, button, call] of [
        ['/reset', 'Send reset email', '/api/reset_password'],
        ['/register', 'Send code', '/api/verification'],
      ] as const) {
        // An address receives at most one email per minute.
        const email = `checked${path.length}@example.com`
        await using visit = await site.visit({ expectedErrors: /challenges\.cloudflare\.com/ })
        const { page } = visit
        await playWidget(page)
        await visit.open(path)
        await page.getByText('site key').waitFor()
        await page.getByLabel('Email address').fill(email)
        await page.getByRole('button', { name: button }).click()
        await toastShown(page, 'info', 'Turnstile is checking the user environment!')
        expect(visit.calls().filter((each) => each.includes(call))).toEqual([])
        const answer = await solve(page, turnstile)
        await page.getByRole('button', { name: button }).click()
        await toastShown(page, 'success', 'please check your mailbox!')
        const query = new URLSearchParams({ email, turnstile: answer })
        await eventually(() => visit.calls()).toContain(`GET ${call}?${query}`)
      }
    } finally {
      await setOptions({ TurnstileCheckEnabled: 'false', EmailVerificationEnabled: 'false' })
    }
  })
})

/** Checks that the button counts down from 30, and advances the stopped clock until the button can be pressed again. */
async function thirtySeconds(page: Page): Promise<void> {
  const again = page.getByRole('button', { name: /^retry \(\d+\)$/ })
  await eventually(() => again.textContent()).toBe('retry (30)')
  await eventually(() => again.isDisabled()).toBe(true)
  const ranMs = await runUntil(page, 1000, async () => (await again.count()) === 0)
  expect(ranMs).toBeGreaterThanOrEqual(29_000)
}

describe('waiting times', () => {
  test('spec 2: the register button is busy while the request is in progress', async () => {
    await using visit = await site.visit()
    const { page } = visit
    const held = Promise.withResolvers<void>()
    await page.route('**/api/user/register*', async (route) => {
      await held.promise
      await route.continue()
    })
    await visit.open('/register')
    await page.getByLabel('Username').fill('patient')
    await page.getByLabel('Password', { exact: true }).fill('long enough')
    await page.getByLabel('Confirm password').fill('long enough')
    const submit = page.getByRole('button', { name: 'Register', exact: true })
    await submit.click()
    await page.locator('button[type="submit"][aria-busy="true"]').waitFor()
    await eventually(() => submit.isDisabled()).toBe(true)
    held.resolve()
    await page.waitForURL('**/login')
  })

  test('spec 2, 4, 5, 9: a reset needs an address; after an email, the button is disabled for 30 seconds', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await page.clock.install()
    await visit.open('/reset')
    const send = page.getByRole('button', { name: 'Send reset email' })
    await eventually(() => send.isDisabled()).toBe(true)
    await page.getByLabel('Email address').fill('nobody@example.com')
    await stopClock(page)
    await send.click()
    await thirtySeconds(page)
    await page.clock.resume()
    await toastShown(page, 'success', 'reset email sent successfully, please check your mailbox!')
    await page.getByLabel('Email address').fill('nobody@example.com')
    await eventually(() => send.isEnabled()).toBe(true)
  })

  test('spec 5, 9: the email code needs an address, and its button is disabled for 30 seconds', async () => {
    await setOptions({ EmailVerificationEnabled: 'true' })
    try {
      await using visit = await site.visit()
      const { page } = visit
      await page.clock.install()
      await visit.open('/register')
      const send = page.getByRole('button', { name: 'Send code' })
      await eventually(() => send.isDisabled()).toBe(true)
      await page.getByLabel('Email address').fill('coded@example.com')
      await stopClock(page)
      await send.click()
      await thirtySeconds(page)
      await page.clock.resume()
      await send.waitFor()
    } finally {
      await setOptions({ EmailVerificationEnabled: 'false' })
    }
  })
})
