// Sections of the specification (see coverage.md): 8 (failed calls, specific messages), 9 (durations of messages,
// clipboard), 4 (resend), 2 (top-up).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startService } from '../helpers/outside-services.ts'
import { refuseClipboard } from './support/clipboard.ts'
import { letDraw, runUntil, stopClock } from './support/clock.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { choose, rowOf } from './support/lists.ts'
import { toastOf, toastShown } from './support/toasts.ts'

const site = openConsole()

/**
 * The errors that the browser reports if it has no network. Parts of the page that load late, such as the code of the
 * bell, may fail.
 */
const offline = /ERR_INTERNET_DISCONNECTED|dynamically imported module/

/** An upstream that reports its balance. */
let billing: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  billing = await startService(({ url }, response) => {
    const usage = url.includes('usage')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(usage ? { total_usage: 250 } : { hard_limit_usd: 10, has_payment_method: true }))
  })
})
afterAll(() => billing[Symbol.asyncDispose]())

/** Presses a button while the page's clock is stopped, and checks that the toast stays for `ms` milliseconds. */
async function staysFor(
  page: Page,
  button: string,
  kind: Parameters<typeof toastOf>[1],
  text: string,
  ms: number,
): Promise<void> {
  await stopClock(page)
  await page.getByRole('button', { name: button }).click()
  const message = toastOf(page, kind, text)
  // It takes a few frames until the toast is drawn.
  await runUntil(page, 1, async () => (await message.count()) > 0)
  await letDraw(page, 100)
  await page.clock.runFor(ms - 700)
  expect([kind, await message.count()]).toEqual([kind, 1])
  await page.clock.runFor(900)
  await message.waitFor({ state: 'detached' })
  await page.clock.resume()
}

describe('how long toasts stay', () => {
  test('spec 9: a success stays for 1.5 s, an info for 3 s, an error for 5 s', async () => {
    const user = await site.addUser('durable')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await page.clock.install()
    await visit.open('/topup')
    await staysFor(page, 'Redeem', 'info', 'please enter the top-up code!', 3000)
    await staysFor(page, 'Get a code', 'error', 'the super admin has not set a top-up link!', 5000)
    await visit.open('/setting')
    await staysFor(page, 'Copy invite link', 'success', 'invite link copied', 1500)
  })

  test('spec 9: a warning stays for 10 s, a notice until it is closed', async () => {
    const user = await site.addUser('warned')
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await refuseClipboard(page)
    await page.clock.install()
    await visit.open('/setting')
    await staysFor(page, 'Copy invite link', 'warning', 'cannot copy to clipboard, please copy manually', 10_000)
    await site.api('PUT', '/api/option/', { key: 'Notice', value: 'We move on Monday' })
    await visit.open('/')
    await toastShown(page, 'notice', 'We move on Monday')
    await page.clock.runFor(120_000)
    await eventually(() => toastOf(page, 'notice', 'We move on Monday').count()).toBe(1)
    await site.api('PUT', '/api/option/', { key: 'Notice', value: '' })
  })
})

describe('balances', () => {
  test('spec 8: each update names its channel; updating all channels shows a single message', async () => {
    const channel = { type: 8, key: 'k', models: 'm', group: 'default', base_url: billing.url }
    await site.api('POST', '/api/channel/', { ...channel, name: 'paid' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await choose(page, 'paid', 'Update balance')
    await toastShown(page, 'info', 'channel paid balance updated')
    await rowOf(page, 'paid').getByText('$7.50').waitFor()
    await page.getByRole('button', { name: 'Update balances' }).click()
    await toastShown(page, 'info', 'Balances of all enabled channels updated')
  })
})

describe('topping up', () => {
  test('spec 2, 8: the button opens the configured link; if a call gets no response, "request failed" is shown', async () => {
    await site.api('PUT', '/api/option/', { key: 'TopUpLink', value: `${site.gateway.url}/about?shop` })
    const user = await site.addUser('buyer')
    await using visit = await site.visit({ as: user, expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    await visit.open('/topup')
    const [shop] = await Promise.all([
      visit.context.waitForEvent('page'),
      page.getByRole('button', { name: 'Get a code' }).click(),
    ])
    expect(shop.url()).toEndWith('/about?shop')
    await shop.close()
    await page.route('**/api/user/topup', (route) => route.abort())
    await page.getByLabel('Redemption code').fill('a-code')
    await page.getByRole('button', { name: 'Redeem' }).click()
    await toastShown(page, 'error', 'request failed')
  })
})

describe('invalid responses', () => {
  test('spec 8: an error envelope, a lost network and an unreadable response are reported', async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /ERR_|status of/ })
    const { page } = visit
    await visit.open('/redemption')
    await page.getByText('No redemption codes yet').waitFor()
    const ask = async (answer: { json?: object; body?: string }) => {
      await page.unroute('**/api/redemption/?**')
      await page.route('**/api/redemption/?**', (route) => route.fulfill(answer))
      await page.getByRole('button', { name: 'Refresh' }).press('Enter')
    }
    await ask({ json: { success: false, message: 'the database sleeps' } })
    await toastShown(page, 'error', 'Error: the database sleeps')
    await ask({ body: '<html>' })
    await toastShown(page, 'error', "Error: Could not read the server's response")
    await page.unroute('**/api/redemption/?**')
    await page.route('**/api/redemption/?**', (route) => route.abort())
    await page.getByRole('button', { name: 'Refresh' }).press('Enter')
    await toastShown(page, 'error', 'Error: Could not reach the server')
  })

  test('without a network, the page shows a message and keeps its content', async () => {
    const user = await site.addUser('offline')
    await site.apiAs(user, 'POST', '/api/token/', { name: 'kept', remain_quota: 1 })
    await using visit = await site.visit({ as: user, expectedErrors: offline })
    const { page } = visit
    await visit.open('/token')
    await rowOf(page, 'kept').waitFor()
    await visit.context.setOffline(true)
    await page.getByText('You are offline.').waitFor()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByText('These rows were loaded before the error.').waitFor()
    await rowOf(page, 'kept').waitFor()
    await visit.context.setOffline(false)
    await page.getByText('You are offline.').waitFor({ state: 'detached' })
    // Once the network is back, failed requests are sent again.
    await page.getByText('These rows were loaded before the error.').waitFor({ state: 'detached' })
  })

  test('a dialog whose code cannot be fetched keeps the page, and opens when the network is back', async () => {
    const user = await site.addUser('cut-off')
    await site.apiAs(user, 'POST', '/api/token/', { name: 'kept', remain_quota: 1 })
    await using visit = await site.visit({ as: user, expectedErrors: offline })
    const { page } = visit
    await visit.open('/token')
    await rowOf(page, 'kept').getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
    const failed = page.waitForEvent('requestfailed', {
      predicate: (request) => /\/assets\/confirm/.test(request.url()),
    })
    await visit.context.setOffline(true)
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await failed
    await rowOf(page, 'kept').waitFor()
    await visit.context.setOffline(false)
    await page.getByRole('alertdialog', { name: 'Delete kept?' }).waitFor()
  })
})
