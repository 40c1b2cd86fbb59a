// Failed calls in the log and on the start page, and figures and statuses that are consistent on all pages. In titles,
// "spec 2" is section 2 of the specification (see coverage.md).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { Channel } from '../../contract/api/channel.ts'
import type { Log } from '../../contract/api/log.ts'
import { type FakeUpstream, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { type Account, openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { facet } from './support/facets.ts'
import { rowsOf } from './support/lists.ts'
import { logWriter } from './support/log-rows.ts'

const site = openConsole()
let upstream: FakeUpstream
let caller: Account
let channel = 0
/** The id of the failed request. */
let request = ''

const now = () => Math.floor(Date.now() / 1000)

beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(status(400, { message: 'your prompt is odd' }))
  const [id] = await site.api<number[]>('POST', '/api/channel/', {
    name: 'refusing',
    type: 8,
    key: 'sk-x',
    models: 'gpt-4o',
    group: 'default',
    base_url: upstream.url,
  })
  channel = id ?? 0
  caller = await site.addUser('caller', { quota: 10_000_000 })
  const fields = { name: 'laptop', remain_quota: 0, unlimited_quota: true, expired_time: -1 }
  const { key } = await site.apiAs<{ key: string }>(caller, 'POST', '/api/token/', fields)
  const response = await fetch(`${site.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}`, 'user-agent': 'codex_cli_rs/0.42.0 (Mac OS)' },
    body: JSON.stringify({ model: 'gpt-4o', temperature: 0.25, messages: [{ role: 'user', content: 'hello' }] }),
  })
  expect(response.status).toBe(400)
  request = response.headers.get('x-oneapi-request-id') ?? ''
  const rows = () => site.api<Log[]>('GET', `/api/log/search?keyword=${request}`)
  await eventually(async () => (await rows()).length).toBe(1)
})
afterAll(() => upstream[Symbol.asyncDispose]())

const drawer = (page: Page) => page.getByRole('dialog')

describe('a failed call', () => {
  test('is found by type and by its id, and shows the upstream’s message to administrators', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log')
    await page.getByRole('combobox', { name: 'Type' }).selectOption('Error')
    await page.waitForURL((url) => url.searchParams.get('type') === '6')
    const row = rowsOf(page).filter({ hasText: 'laptop' })
    await row.getByText('Failed with 400').waitFor()
    await row.click()
    const failure = drawer(page).getByRole('region', { name: 'Failure' })
    await failure.getByText('the upstream responded with status 400').waitFor()
    await failure.getByText('/v1/chat/completions').waitFor()
    await failure.getByText('your prompt is odd').waitFor()
    await drawer(page).getByRole('link', { name: 'refusing' }).first().waitFor()
    await visit.open(`/log?request=${request}`)
    await failure.getByText('bad_response_status_code').waitFor()
  })

  test('spec 2: has a page of its own, which a request id opens from the palette', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill(request)
    await page.getByRole('option', { name: `Open request ${request}` }).click()
    await page.waitForURL(`**/log/${request}`)
    await page.getByRole('heading', { name: 'Request', level: 1 }).waitFor()
    await page.getByText('Failed with 400').waitFor()
    await page.getByRole('region', { name: 'Error' }).getByText('your prompt is odd').waitFor()
    await page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: 'refusing' }).waitFor()
    const link = page.getByRole('link', { name: 'Open in playground' })
    expect(await link.getAttribute('href')).toContain('/playground?model=gpt-4o')
    await visit.open(`/log/${request.slice(0, -8)}00000000`)
    await page.getByText('The request may still be running').waitFor()
    await visit.open('/log/nonsense')
    await page.getByText('This is not a request ID.').waitFor()
  })

  test('has a page that shows its caller no channel, and that no other user can open', async () => {
    await using visit = await site.visit({ as: caller })
    await visit.open(`/log/${request}`)
    await visit.page
      .getByRole('region', { name: 'Error' })
      .getByText('the upstream responded with status 400')
      .waitFor()
    expect(await visit.page.getByText('your prompt is odd').count()).toBe(0)
    expect(await visit.page.getByText('refusing').count()).toBe(0)
    await using other = await site.visit({ as: await site.addUser('stranger') })
    await other.open(`/log/${request}`)
    await other.page.getByText('No entry for this request ID').waitFor()
  })

  test('spec 2: shows the request’s endpoint, format, app and parameters, and the upstream’s format only to administrators', async () => {
    const common = [
      ['Endpoint', '/v1/chat/completions'],
      ['Format', 'OpenAI Chat Completions'],
      ['App', 'codex_cli_rs/0.42.0'],
      ['Temperature', '0.25'],
      ['Messages', '1'],
    ]
    const upstream = ['Upstream format', 'OpenAI Chat Completions']
    for (const [as, wanted] of [
      [rootAccount, [...common.slice(0, 2), upstream, ...common.slice(2)]],
      [caller, common],
    ] as const) {
      await using visit = await site.visit({ as })
      await visit.open(`/log/${request}`)
      const card = visit.page.getByRole('region', { name: 'Format and parameters', exact: true })
      await card.getByText('codex_cli_rs/0.42.0').waitFor()
      const [names, values] = [
        await card.getByRole('term').allTextContents(),
        await card.getByRole('definition').allTextContents(),
      ]
      expect(names.map((name, index) => [name, values[index] ?? ''])).toEqual([...wanted])
    }
  })

  test('is found by the outcome filter, and counts in the error rate', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open('/log')
    await page.getByText('100.0%').waitFor()
    await facet(page, 'Outcome').click()
    const panel = page.getByRole('dialog', { name: 'Outcome' })
    await panel.getByText('60 s', { exact: true }).click()
    await panel.getByRole('checkbox', { name: 'Slower than 60 s' }).check()
    await page.waitForURL((url) => url.searchParams.get('slow') === '60')
    await page.getByText('No results found.').waitFor()
    await panel.getByRole('checkbox', { name: 'Failed' }).check()
    await rowsOf(page).getByText('Failed with 400').waitFor()
    expect(await panel.getByRole('checkbox', { name: 'Retried' }).count()).toBe(0)
    await panel.getByText('is not', { exact: true }).click()
    await rowsOf(page).getByText('Failed with 400').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Outcome is not Failed, Slower than 60 s', exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.getAll('not_outcome')).toEqual(['failed', 'slow'])
    const file = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')
    expect(new URL(file ?? '', page.url()).searchParams.getAll('not_outcome')).toEqual(['failed', 'slow'])
    await page.getByRole('button', { name: 'Remove filter: Outcome' }).click()
    await rowsOf(page).getByText('Failed with 400').waitFor()
    await page.getByLabel('Rows per page').selectOption('100 per page')
    await visit.open('/log')
    await eventually(() => page.getByLabel('Rows per page').inputValue()).toBe('100')
  })

  test('shows its caller the reason, and nothing about the channel', async () => {
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open(`/log?request=${request}`)
    await drawer(page).getByText('the upstream responded with status 400').waitFor()
    expect(await page.getByText('your prompt is odd').count()).toBe(0)
    expect(await page.getByText('refusing').count()).toBe(0)
  })

  test('is opened as the row of a similar failure, with a note, if only that row counts it', async () => {
    const left = `${request.slice(0, -8)}00000000`
    using database = openDatabase(site)
    database.run('update logs set left_out = 41, left_out_since = created_at - 1 where request_id = ?', [request])
    await using visit = await site.visit({ as: caller })
    const { page } = visit
    await visit.open(`/log?request=${left}`)
    await drawer(page).getByText('This request has no row of its own').waitFor()
    await drawer(page).getByText('41 more requests failed in the same way').waitFor()
  })

  test('is on the start page, which does not list channel tests, and links to its row', async () => {
    using database = openDatabase(site)
    const insert = logWriter(database)
    for (let each = 0; each < 8; each++)
      insert({
        type: 5,
        created_at: now(),
        user_id: 0,
        username: '',
        content: 'channel refusing passed its test',
        model_name: 'tested',
      })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/')
    const latest = page.getByRole('region', { name: 'Recent activity' })
    await latest.getByText('bad_response_status_code').waitFor()
    expect(await latest.getByText('tested').count()).toBe(0)
    await latest.getByRole('link', { name: 'gpt-4o' }).click()
    await drawer(page).getByText('bad_response_status_code').waitFor()
  })
})

describe('the link to a row', () => {
  test('opens that row, however many rows have been written since, but never another user’s row', async () => {
    using database = openDatabase(site)
    const insert = logWriter(database)
    insert({ created_at: now() - 7200, model_name: 'far-away', content: 'ratio: 1 × 1 × 1' })
    const { id } = database.query('select max(id) as id from logs').get() as { id: number }
    for (let each = 0; each < 30; each++) insert({ created_at: now(), model_name: 'nearer' })
    {
      await using visit = await site.visit({ as: rootAccount })
      await visit.open(`/log?peek=${id}`)
      await drawer(visit.page).getByText('far-away').first().waitFor()
    }
    await using visit = await site.visit({ as: caller })
    await visit.open(`/log?peek=${id}`)
    await drawer(visit.page).getByText('This entry is no longer available').waitFor()
  })
})

describe('consistent figures', () => {
  test('expired or exhausted tokens are shown as such before their next call', async () => {
    const owner = await site.addUser('owner', { quota: 1_000 })
    const make = (name: string, fields: object) =>
      site.apiAs(owner, 'POST', '/api/token/', {
        name,
        remain_quota: 500,
        unlimited_quota: false,
        expired_time: -1,
        ...fields,
      })
    for (const name of ['good one', 'old one', 'empty one']) await make(name, {})
    using database = openDatabase(site)
    database.run("update tokens set expired_time = 1 where name = 'old one'")
    database.run("update tokens set remain_quota = 0, granted_quota = 0 where name = 'empty one'")
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token')
    const row = (name: string) => rowsOf(page).filter({ hasText: name })
    await row('good one').getByText('enabled').waitFor()
    await row('old one').getByText('expired').waitFor()
    await row('empty one').getByText('exhausted').waitFor()
  })

  test('7 days cover the same time on the start page and on the top-up page', async () => {
    const person = await site.addUser('weekly', { quota: 10_000_000 })
    using database = openDatabase(site)
    const { id } = database.query("select id from users where username = 'weekly'").get() as { id: number }
    const insert = logWriter(database)
    const day = 86_400
    for (const [ago, quota] of [
      [60, 500_000],
      [6.9 * day, 1_000_000],
      [7.1 * day, 8_000_000],
    ] as const)
      insert({ user_id: id, username: 'weekly', created_at: Math.floor(now() - ago), quota, model_name: 'gpt-4o' })
    await using visit = await site.visit({ as: person })
    const { page } = visit
    await visit.open('/')
    await page.getByText('$3.00 in 7 days').waitFor()
    await visit.open('/topup')
    await page.getByText('$3.00', { exact: true }).first().waitFor()
  })

  test('large amounts are grouped, and a tiny negative amount is not shown as -0', async () => {
    const rich = await site.addUser('rich', { quota: 100_000_000_000 })
    await site.addUser('below', { quota: 1 })
    using database = openDatabase(site)
    database.run("update users set quota = -1200 where username = 'below'")
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user?q=below')
    await rowsOf(page).filter({ hasText: 'below' }).getByText('-$0.0024', { exact: true }).waitFor()
    await visit.open('/user?q=rich')
    await rowsOf(page).filter({ hasText: rich.username }).getByText('$200,000.00').waitFor()
    database.run("update users set quota = 1 where username = 'below'")
  })
})

describe('no layout shifts', () => {
  test('choosing a filter does not move anything', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    for (const [address, label, choice] of [
      ['/log', 'Type', 'Request'],
      ['/channel', 'Status', 'Enabled'],
    ] as const) {
      await visit.open(address)
      await rowsOf(page).first().waitFor()
      const top = async () =>
        (
          await page
            .getByRole('combobox', { name: label })
            .locator('xpath=ancestor::*[self::form or @role="group"][1]')
            .boundingBox()
        )?.height
      const before = await top()
      await page.getByRole('combobox', { name: label }).first().selectOption(choice)
      await page.getByRole('button', { name: 'Clear filters' }).first().waitFor()
      expect(await top()).toBe(before ?? 0)
    }
  })

  test('the columns of the channel list keep their widths when tests fail and channels are disabled', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const widths = async () => {
      await visit.open('/channel')
      await rowsOf(page).first().waitFor()
      return Promise.all(
        (await page.getByRole('columnheader').all()).map(async (head) => (await head.boundingBox())?.width),
      )
    }
    using database = openDatabase(site)
    const before = await widths()
    database.run('update channels set status = 3, response_time = 12340, test_time = 1')
    database.run(
      "insert into channel_tests (channel_id, created_at, model, ok, elapsed_time, message) values (?, 1, 'm', 0, 9, 'no')",
      [channel],
    )
    expect(await widths()).toEqual(before)
    database.run('delete from channel_tests')
  })
})

describe('the form and the drawer of a channel', () => {
  test('choosing another type removes the values that the previous type prefilled, and keeps values chosen by hand', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel/add')
    const types = await site.api<{ label: string; models: string[] }[]>('GET', '/api/channel/types')
    const [first, second] = types.filter(({ models }) => models.length > 1 && models.length < 12)
    if (!first || !second) throw new Error('no types with few models')
    const choose = async (label: string) => {
      await page.getByLabel('Type', { exact: true }).fill(label)
      await page.getByRole('option', { name: label, exact: true }).click()
    }
    const has = (model: string) => page.getByRole('button', { name: `Remove ${model}`, exact: true })
    await choose(first.label)
    await has(first.models[0] ?? '').waitFor()
    await choose(second.label)
    await has(second.models[0] ?? '').waitFor()
    expect(await has(first.models[0] ?? '').count()).toBe(0)
    const models = page.getByLabel('Models', { exact: true })
    await models.fill('own-model')
    await models.press('Enter')
    await models.press('Escape')
    await has('own-model').waitFor()
    await choose(first.label)
    await eventually(() => has(second.models[0] ?? '').count()).toBe(0)
    await has('own-model').waitFor()
    expect(await has(first.models[0] ?? '').count()).toBe(0)
  })

  test('the drawer shows the gateway’s actions on the channel, and how many attempts failed on it', async () => {
    using database = openDatabase(site)
    database.run('update channels set status = 3, status_reason = ?, status_time = ? where id = ?', [
      'status 401: This key is closed.',
      now() - 60,
      channel,
    ])
    database.run('insert into channel_failures (channel_id, model_name, slot, attempts) values (?, ?, ?, 7)', [
      channel,
      'gpt-4o',
      Math.floor(now() / 3600),
    ])
    expect((await site.api<Channel>('GET', `/api/channel/${channel}`)).status).toBe(3)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open(`/channel?peek=${channel}`)
    await drawer(page).getByText('status 401: This key is closed.').waitFor()
    await drawer(page).getByText('7 failed attempts here.').waitFor()
    await visit.open('/channel?view=board')
    const row = page.getByRole('row').filter({ hasText: 'This key is closed.' })
    await row.getByText('100.0%').first().waitFor()
  })
})
