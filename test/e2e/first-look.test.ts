// A list requests its rows before it is drawn. It requests them only once, with the query in the page's URL.
import { beforeAll, expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { rowsOf } from './support/lists.ts'
import { oneOfEach } from './support/one-of-each.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

beforeAll(() => oneOfEach(site))

const addresses = [
  ['/channel?q=one&sort=-name&type=1&status=1&group=default', '/api/channel/search'],
  ['/Channel/', '/api/channel/'],
  ['/token?sort=name', '/api/token/'],
  ['/redemption?status=1', '/api/redemption/'],
  ['/user?q=root&sort=-id', '/api/user/search'],
] as const
for (const [address, api] of addresses) {
  test(`${address} requests its list once on each visit, whether or not the server’s status is already known`, async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    for (const times of [1, 2]) {
      await visit.open(address)
      await eventually(() => rowsOf(page).count()).toBe(1)
      await page.waitForLoadState('networkidle')
      const asked = visit.calls().filter((call) => call.startsWith(`GET ${api}?`))
      expect(asked).toHaveLength(times)
    }
  })
}

test('the channel page does not request its list if it opens with the models map', async () => {
  await using visit = await site.visit({ as: rootAccount })
  await visit.open('/channel?view=models')
  await visit.page.getByText('gpt-4o').first().waitFor()
  expect(visit.calls().filter((call) => /^GET \/api\/channel\/\?p=0(?!&size)/.test(call))).toEqual([])
})

for (const status of [403, 500, 200]) {
  test(`a list request that is refused with ${status} is reported once`, async () => {
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /status of/ })
    const { page } = visit
    await page.route('**/api/channel/?**', (route) =>
      route.fulfill({ status, json: { success: false, message: 'not this list' } }),
    )
    await visit.open('/channel')
    const said = await toastShown(page, 'error', status === 500 ? 'internal server error' : 'not this list')
    await page.waitForLoadState('networkidle')
    expect(said).not.toContain('2 times')
    expect(await page.locator('[data-toast]').count()).toBe(1)
    expect(await page.locator('[data-toast]').textContent()).not.toContain('2 times')
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Retry' }).click()
    await eventually(() => rowsOf(page).count()).toBe(1)
  })
}

test('a list request that is refused while the list is on the screen is reported once', async () => {
  await using visit = await site.visit({ as: rootAccount, expectedErrors: /status of/ })
  const { page } = visit
  const held = Promise.withResolvers<void>()
  await page.route('**/api/token/?**', async (route) => {
    await held.promise
    await route.fulfill({ status: 403, json: { success: false, message: 'not this list' } })
  })
  await visit.open('/token')
  await page.locator('.data-table tbody[aria-hidden] .skeleton').first().waitFor()
  held.resolve()
  await toastShown(page, 'error', 'not this list')
  await page.getByRole('button', { name: 'Retry' }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.locator('[data-toast]').count()).toBe(1)
  expect(await page.locator('[data-toast]').textContent()).not.toContain('2 times')
  expect(visit.calls().filter((call) => call.startsWith('GET /api/token/?'))).toHaveLength(1)
})

for (const path of ['/token', '/', '/usage']) {
  test(`an expired session leads from ${path} to the login page, and back to it after the login`, async () => {
    const account = await site.addUser(`ended${path.replace('/', '-')}`)
    await using visit = await site.visit({ as: account })
    const { page } = visit
    await page.context().clearCookies()
    await page.goto(path)
    await page.waitForURL('**/login?expired=true')
    await page.getByLabel('Username').fill(account.username)
    await page.getByLabel('Password', { exact: true }).fill(account.password)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${path}`)
    await page.locator('main h1').waitFor({ state: 'attached' })
  })
}

for (const text of [undefined, 'Hello there']) {
  test(`a failure to load the home page is reported once${text ? ', beside the text of the last visit' : ''}`, async () => {
    const stored = { ...(text && { home_page_content: text }) }
    await using visit = await site.visit({ as: rootAccount, expectedErrors: /status of/, stored })
    const { page } = visit
    await page.route('**/api/home_page_content', (route) => route.fulfill({ status: 502, json: {} }))
    await page.goto('/')
    await toastShown(page, 'error', 'status code 502')
    await page
      .getByText(text ?? 'Request failed with status code 502')
      .first()
      .waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.locator('[data-toast="error"]').count()).toBe(1)
    expect(await page.locator('[data-toast="error"]').textContent()).not.toContain('2 times')
  })
}
