// Sections of the specification (see coverage.md): 2 (log page), 3 (log), 4 (log types), 6 (roles), 9 (decimals,
// times).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type FakeUpstream, ok, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { type Account, openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { chooseFacet } from './support/facets.ts'
import { hold } from './support/held.ts'
import { rowsOf } from './support/lists.ts'
import { logWriter } from './support/log-rows.ts'

const site = openConsole()
let upstream: FakeUpstream
let caller: Account

interface Token {
  key: string
}

async function call(account: Account, tokenName: string, model: string): Promise<void> {
  const fields = { name: tokenName, remain_quota: 0, unlimited_quota: true, expired_time: -1 }
  const { key } = await site.apiAs<Token>(account, 'POST', '/api/token/', fields)
  const response = await fetch(`${site.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  })
  expect(response.status).toBe(200)
  await response.text()
}

beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(ok())
  await site.api('POST', '/api/channel/', {
    name: 'serving',
    type: 8,
    key: 'sk-x',
    models: 'gpt-4o,gpt-4o-mini',
    group: 'default',
    base_url: upstream.url,
  })
  caller = await site.addUser('caller', { quota: 10_000_000 })
  await call(caller, 'laptop', 'gpt-4o')
  await call(caller, 'server', 'gpt-4o-mini')
  await call(rootAccount, 'of root', 'gpt-4o')
})
afterAll(() => upstream[Symbol.asyncDispose]())

const rowWith = (page: Page, text: string) => rowsOf(page).filter({ hasText: text })

describe('the logs', () => {
  test('spec 2, 6: users see their own rows, without the user column', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    const openedAt = Math.floor(Date.now() / 1000)
    await visit.open('/log')
    await rowWith(page, 'laptop').waitFor()
    await eventually(() => rowWith(page, 'of root').count()).toBe(0)
    await eventually(() => page.getByRole('columnheader', { name: 'User', exact: true }).count()).toBe(0)
    for (const column of ['Time', 'Token', 'Model', 'Tokens', 'Cost', 'Duration', 'Outcome'])
      await page.getByRole('columnheader', { name: column, exact: true }).waitFor()
    await eventually(() => page.getByRole('columnheader', { name: 'Channel', exact: true }).count()).toBe(0)
    // The columns of the specification that are hidden by default can be shown.
    await page.getByRole('button', { name: 'Columns' }).click()
    for (const column of ['Type', 'Prompt tokens', 'Completion tokens', 'Details']) {
      await page.getByRole('checkbox', { name: column, exact: true }).check()
      await page.getByRole('columnheader', { name: column, exact: true }).waitFor()
    }
    await page.keyboard.press('Escape')
    await eventually(() => page.getByRole('button', { name: 'User', exact: true }).count()).toBe(0)
    const list = visit.calls().find((each) => each.startsWith('GET /api/log/self?')) ?? ''
    const asked = new URLSearchParams(list.slice(list.indexOf('?')))
    expect(asked.get('start_timestamp')).toBe('0')
    // The end of the range is between 60 and 61 minutes from now. The page rounds it up to whole minutes, so that
    // repeated requests are identical.
    const ahead = Number(asked.get('end_timestamp')) - openedAt
    expect(ahead).toBeGreaterThanOrEqual(3600)
    expect(ahead).toBeLessThanOrEqual(3660 + (Math.floor(Date.now() / 1000) - openedAt))
  })

  test('spec 2: administrators see the rows of all users, and the figures follow the filters', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log?type=2')
    await rowWith(page, 'laptop').waitFor()
    await rowWith(page, 'of root').waitFor()
    await page.getByRole('columnheader', { name: 'User', exact: true }).waitFor()
    await eventually(() => rowWith(page, 'laptop').textContent()).toContain('caller')
    await eventually(() => rowsOf(page).count()).toBe(3)
    await chooseFacet(page, 'User', 'caller')
    await rowWith(page, 'of root').waitFor({ state: 'detached' })
    await eventually(() => page.url()).toContain('user=caller')
    const { quota, token } = await site.api<{ quota: number; token: number }>(
      'GET',
      '/api/log/stat?type=2&username=caller',
    )
    const decimals = quota < 5000 ? 6 : 2
    await page.getByRole('region', { name: `cost $${(quota / 500_000).toFixed(decimals)}, ${token} tokens` }).waitFor()
    await page.getByText('Only mine').click()
    await rowWith(page, 'of root').waitFor()
    await rowWith(page, 'laptop').waitFor({ state: 'detached' })
  })

  test('the number of requests and the averages do not include top-ups and other entries', async () => {
    await site.api('POST', '/api/topup', {
      user_id: (await site.api<{ id: number }>('GET', '/api/user/self')).id,
      quota: 5,
      remark: 'gift',
    })
    const { calls, quota } = await site.api<{ calls: number; quota: number }>('GET', '/api/log/stat')
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const figure = (label: string) => page.getByText(label, { exact: true }).locator('..')
    await visit.open('/log')
    await rowWith(page, 'laptop').waitFor()
    await eventually(() => figure('Requests').textContent()).toBe(`Requests${calls}`)
    const average = `$${(quota / calls / 500_000).toFixed(6)}`
    await eventually(() => figure('Avg cost per request').textContent()).toBe(`Avg cost per request${average}`)
    await page.getByLabel('Type', { exact: true }).selectOption('Top-up')
    await eventually(() => figure('Entries').textContent()).toBe('Entries1')
    expect(await figure('Avg cost per request').textContent()).toBe('Avg cost per request–')
  })

  test('spec 2, 7: filters by type, model and time range are sent to the list and to the figures', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log')
    await rowWith(page, 'laptop').waitFor()
    await page.getByLabel('Type', { exact: true }).selectOption('Request')
    await chooseFacet(page, 'Model', 'gpt-4o-mini')
    await rowWith(page, 'laptop').waitFor({ state: 'detached' })
    await rowWith(page, 'server').waitFor()
    const query = (path: string) => {
      const last = visit.calls().findLast((call) => call.startsWith(`GET ${path}?`)) ?? ''
      return Object.fromEntries(new URLSearchParams(last.slice(last.indexOf('?'))))
    }
    for (const path of ['/api/log/self', '/api/log/self/stat'])
      expect(query(path)).toMatchObject({ type: '2', model_name: 'gpt-4o-mini' })
    await page.getByText('Custom').click()
    await page.getByLabel('From').fill('2001-01-01T00:00:00')
    const narrowed = page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url())
      const [from, to] = ['start_timestamp', 'end_timestamp'].map((name) => Number(searchParams.get(name)))
      return pathname === '/api/log/self' && (to ?? 0) - (from ?? 0) === 86_400
    })
    await page.getByLabel('To', { exact: true }).fill('2001-01-02T00:00:00')
    await narrowed
    await page.getByText('No results found.').waitFor()
  })

  test('spec 2: filtering by token name changes the list and the figures', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log')
    await rowWith(page, 'laptop').waitFor()
    await chooseFacet(page, 'Token', 'server')
    await rowWith(page, 'laptop').waitFor({ state: 'detached' })
    await rowWith(page, 'server').waitFor()
    for (const path of ['/api/log/self?', '/api/log/self/stat?'])
      await eventually(() => visit.calls().findLast((each) => each.startsWith(`GET ${path}`))).toContain(
        'token_name=server',
      )
  })

  test('spec 9: quota has six decimals; the drawer explains the price', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log?type=2&token=laptop')
    const cell = rowWith(page, 'laptop')
    await eventually(() => cell.textContent()).toMatch(/\$0\.\d{6}/)
    await cell.getByRole('rowheader').click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('billed').waitFor()
    await eventually(() => drawer.textContent()).toMatch(/\(\d+ \+ \d+ × [\d.]+\) × [\d.]+ × [\d.]+ = \d+/)
    await drawer.getByRole('button', { name: 'Same model' }).click()
    await page.waitForURL('**/log?model=gpt-4o')
  })

  test('the drawer explains the request id and, for administrators, shows the channel as a link', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log?type=2&token=laptop')
    await rowWith(page, 'laptop').getByRole('rowheader').click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('Request ID', { exact: true }).waitFor()
    const channel = drawer.getByRole('link', { name: 'serving' })
    await eventually(() => channel.getAttribute('href')).toMatch(/^\/channel\/edit\/\d+$/)
    await page.route('**/api/channel/*', (route) => route.fulfill({ status: 404, json: { success: false } }))
    await page.reload()
    await drawer.getByText('#1', { exact: true }).waitFor()
    await eventually(() => channel.count()).toBe(0)
  })

  test('new rows appear while the list is live', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log?type=2')
    await rowWith(page, 'laptop').waitFor()
    await page.getByLabel('Live').check()
    await page.getByText('New entries appear as they are written.').waitFor()
    await call(caller, 'brand new', 'gpt-4o')
    await rowWith(page, 'brand new').waitFor()
    await page.getByText('1 new entry').waitFor()
  })

  test('a row that is written while the live connection is being opened is also shown', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    const release = await hold(page, '**/api/log/self/stream*')
    await visit.open('/log?type=2')
    await rowWith(page, 'laptop').waitFor()
    const asked = page.waitForRequest('**/api/log/self/stream*')
    await page.getByLabel('Live').check()
    await asked
    await call(caller, 'meanwhile', 'gpt-4o')
    expect(await page.getByText('New entries appear as they are written.').count()).toBe(0)
    release()
    // The row is loaded once the connection is open. If the server publishes it late, it arrives through the live
    // connection instead, and another message is shown.
    await page.getByText(/^(?:New entries appear as they are written\.|1 new entry)$/).waitFor()
    await rowWith(page, 'meanwhile').waitFor()
  })

  test('a saved view can be restored', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log?token=server')
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByLabel('View name').fill('the server')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await visit.open('/log')
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('button', { name: 'the server', exact: true }).click()
    await page.waitForURL('**/log?token=server')
  })

  test('the palette turns live rows on and off, and shows saved views', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    const run = async (name: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search and commands' }).fill(name)
      await page.getByRole('option', { name, exact: true }).click()
    }
    await visit.open('/log?token=server')
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByLabel('View name').fill('the machine')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await visit.open('/log')
    await rowWith(page, 'laptop').waitFor()
    await run('Turn on live updates')
    await page.getByText('New entries appear as they are written.').waitFor()
    await run('Turn off live updates')
    await eventually(() => page.getByLabel('Live').isChecked()).toBe(false)
    await run('the machine')
    await page.waitForURL('**/log?token=server')
  })

  test('figures and chart can be hidden to make room for rows, and stay hidden', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log')
    const figure = page.getByText('Error rate', { exact: true })
    const chart = page.getByText('Requests over time', { exact: true })
    await figure.waitFor()
    await chart.waitFor()
    const firstRow = () => rowWith(page, 'laptop').evaluate((row) => row.getBoundingClientRect().top)
    const before = await firstRow()
    await page.getByRole('switch', { name: 'Summary' }).uncheck()
    await eventually(() => figure.count()).toBe(0)
    await eventually(() => chart.count()).toBe(0)
    expect(await firstRow()).toBeLessThan(before - 200)
    await page.reload()
    await rowWith(page, 'laptop').waitFor()
    await eventually(() => page.getByRole('switch', { name: 'Summary' }).isChecked()).toBe(false)
    await eventually(() => figure.count()).toBe(0)
    await page.getByRole('switch', { name: 'Summary' }).check()
    await figure.waitFor()
  })

  test('the CSV file contains the filtered rows', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log?token=server')
    await rowWith(page, 'server').waitFor()
    await page.getByRole('button', { name: 'Export this page (CSV)' }).waitFor()
    const address = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')
    const text = await page.evaluate(async (from) => (await fetch(from)).text(), address ?? '')
    expect(text.trim().split('\r\n')).toHaveLength(2)
    expect(text).toContain('server')
  })

  test('if no row matches the filters, a message is shown and the filters can be cleared', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log?model=no-such-model')
    await page.getByText('No results found.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).last().click()
    await rowWith(page, 'laptop').waitFor()
  })
})

describe('the details of a call', () => {
  let failing: FakeUpstream
  beforeAll(async () => {
    failing = await startFakeUpstream()
    failing.always(status(429, { message: 'slow down' }))
    const channel = { type: 8, key: 'sk-x', models: 'gpt-4.1-mini', group: 'default' }
    await site.api('PUT', '/api/option/', { key: 'RetryTimes', value: '1' })
    await site.api('POST', '/api/channel/', { ...channel, name: 'busy', base_url: failing.url, priority: 9 })
    await site.api('POST', '/api/channel/', { ...channel, name: 'spare', base_url: upstream.url })
    await call(caller, 'retried', 'gpt-4.1-mini')
  })
  afterAll(() => failing[Symbol.asyncDispose]())

  test('administrators see which channels were tried, the result of each attempt, and a link to the account', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log?type=2&token=retried')
    await rowWith(page, 'retried').getByRole('rowheader').click()
    const drawer = page.getByRole('dialog')
    const steps = drawer.getByRole('region', { name: 'Channels tried' }).getByRole('listitem')
    await eventually(() => steps.count()).toBe(2)
    await steps.nth(0).getByRole('link', { name: 'busy' }).waitFor()
    await eventually(() => steps.nth(0).textContent()).toMatch(/429 · [\d,]+ ms/)
    await eventually(() => steps.nth(0).textContent()).toContain('slow down')
    await steps.nth(1).getByRole('link', { name: 'spare' }).waitFor()
    await eventually(() => steps.nth(1).textContent()).toMatch(/200 · [\d,]+ ms/)
    await drawer.getByRole('link', { name: 'caller', exact: true }).click()
    await page.waitForURL('**/user?peek=*')
    await page.getByRole('dialog').getByText('caller', { exact: true }).first().waitFor()
  })

  test('users see neither the channels nor links to accounts', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log?type=2&token=retried')
    await rowWith(page, 'retried').getByRole('rowheader').click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('Request ID', { exact: true }).waitFor()
    await eventually(() => drawer.getByText('Channels tried').count()).toBe(0)
    await eventually(() => drawer.getByRole('link').allTextContents()).toEqual(['Open request'])
  })

  test('the row of a call that broke off shows how it ended and is highlighted', async () => {
    using database = openDatabase(site)
    logWriter(database)({
      created_at: Math.floor(Date.now() / 1000),
      token_name: 'cut short',
      model_name: 'gpt-4o',
      outcome: 'interrupted',
      content: 'ratio: 1 × 1 × 1',
    })
    await using visit = await site.visit({ as: rootAccount })
    await visit.open('/log?token=cut%20short')
    const ground = (token: string) =>
      rowWith(visit.page, token).evaluate((row) => getComputedStyle(row).backgroundColor)
    await rowWith(visit.page, 'cut short').getByText('Interrupted').waitFor()
    const standsOut = await ground('cut short')
    await visit.open('/log?token=retried')
    await rowWith(visit.page, 'retried').waitFor()
    expect(await ground('retried')).not.toBe(standsOut)
    await rowWith(visit.page, 'retried').getByText('Retried 1×').waitFor()
  })

  test('the drawer goes from row to row, with buttons and with the keys of the list', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log?type=2&to=9999999999')
    await rowWith(page, 'laptop').waitFor()
    await rowsOf(page).first().getByRole('rowheader').click()
    const drawer = page.getByRole('dialog')
    const requestId = () => drawer.locator('code').textContent()
    const first = await requestId()
    await drawer.getByRole('button', { name: 'Next row' }).click()
    await eventually(requestId).not.toBe(first)
    const second = await requestId()
    await page.keyboard.press('j')
    await eventually(requestId).not.toBe(second)
    await page.keyboard.press('k')
    await eventually(requestId).toBe(second)
    await drawer.getByRole('button', { name: 'Previous row' }).click()
    await eventually(requestId).toBe(first)
    // At the first row, the key for the previous row has no effect.
    await page.keyboard.press('k')
    await eventually(() => drawer.getByRole('button', { name: 'Previous row' }).getAttribute('aria-disabled')).toBe(
      'true',
    )
    expect(await requestId()).toBe(first)
    // One press of the back button closes the drawer, however many rows were opened in it.
    await page.goBack()
    await drawer.waitFor({ state: 'detached' })
  })

  test('an open row stays open when new rows push it to the next page', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log?type=2&model=gpt-4o-mini')
    await page.getByLabel('Live').check()
    await page.getByText('New entries appear as they are written.').waitFor()
    await rowWith(page, 'server').getByRole('rowheader').click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('server', { exact: true }).waitFor()
    for (let count = 0; count < 10; count++) await call(caller, `pusher ${count}`, 'gpt-4o-mini')
    await eventually(() => rowWith(page, 'pusher').count()).toBe(10)
    await drawer.getByText('server', { exact: true }).waitFor()
  })

  test('the caller and administrators can find a request by the id in its response', async () => {
    const [row] = await site.apiAs<{ request_id: string }[]>(caller, 'GET', '/api/log/self?type=2&token_name=retried')
    const id = row?.request_id ?? ''
    const ways = [
      { as: caller, path: '/log?model=no-such-model' },
      { as: rootAccount, path: '/log?model=no-such-model' },
      { as: rootAccount, path: '/log?mine=1' },
    ]
    for (const { as, path } of ways) {
      await using visit = await site.visit({ as })
      const { page } = visit
      await visit.open(path)
      await page.getByRole('form', { name: 'Find a request' }).getByLabel('Request ID').fill(id)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/log/${id}`)
      await page.getByRole('region', { name: 'Details' }).getByText('retried', { exact: true }).waitFor()
      await visit.open(`/log?request=${'0'.repeat(31)}`)
      await page.getByText('No entry for this request ID').waitFor()
    }
  })
})

describe('the usage page', () => {
  test('shows the charges by model and by token, and links to the logs', async () => {
    const { quota } = await site.apiAs<{ quota: number }>(caller, 'GET', '/api/log/self/stat')
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/usage')
    await page
      .getByText(`$${(quota / 500_000).toFixed(2)}`)
      .first()
      .waitFor()
    await page.getByRole('figure', { name: 'Spend by day' }).waitFor()
    await page.getByRole('link', { name: 'Logs of gpt-4o', exact: true }).waitFor()
    await page.getByLabel('Group by').selectOption('token')
    await page.getByRole('link', { name: 'Logs of server', exact: true }).click()
    await page.waitForURL('**/log?**token=server**')
  })

  test('every chart can be read as a table', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/usage?range=7d')
    await page.getByRole('button', { name: 'Show as table' }).click()
    await page.getByRole('columnheader', { name: 'gpt-4o-mini' }).waitFor()
  })
})
