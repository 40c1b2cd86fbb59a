// Facets are filters that accept several values or exclude values. The pages of logs and usage have them. This file
// also tests the filters of users and tokens, and the list of a select box.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { chooseFacet, facet } from './support/facets.ts'
import { rowOf, rowsOf } from './support/lists.ts'
import { logWriter } from './support/log-rows.ts'

const site = openConsole()
const models = ['gpt-4o', 'gpt-4o', 'gpt-4o', 'o3', 'o3', 'claude'] as const
const calls = 12

beforeAll(async () => {
  for (const name of ['azure-west', 'openai-main'])
    await site.api('POST', '/api/channel/', { name, type: 1, key: 'k', models: 'o3', base_url: 'http://127.0.0.1:1' })
  await site.addUser('penniless')
  for (const [name, expired_time] of [
    ['fresh', -1],
    ['old', 1000],
  ] as const)
    await site.apiAs(rootAccount, 'POST', '/api/token/', { name, remain_quota: 9000, expired_time })
  using database = openDatabase(site)
  database.run("update users set quota = 10000000 where username = 'root'")
  database.run("update users set quota = 0 where username = 'penniless'")
  const insert = logWriter(database)
  const now = Math.floor(Date.now() / 1000)
  for (let index = 0; index < calls; index++)
    insert({
      created_at: now - 3600 - index * 60,
      model_name: models[index % 6] ?? '',
      token_name: index % 2 ? 'laptop' : 'server',
      token_id: 1,
      channel_id: 1 + (index % 3),
      quota: 500,
      prompt_tokens: 9,
      request_id: `request-${index}`,
    })
})

const query = (page: Page, name: string) => new URL(page.url()).searchParams.getAll(name)
const isFocused = (page: Page, label: string) =>
  facet(page, label).evaluate((element) => element === document.activeElement)
const columnOf = (page: Page, label: string) => page.locator(`.data-table td[data-label="${label}"]`).allTextContents()

describe('facets of the logs', () => {
  test('several values are ticked with the keyboard, excluded, kept in the URL and removed with Backspace', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log?type=2')
    await eventually(() => rowsOf(page).count()).toBe(10)
    await facet(page, 'Model').click()
    const search = page.getByRole('combobox', { name: 'Search models' })
    // The most used value is first.
    await eventually(() => page.locator('[role="option"]').allTextContents()).toEqual(['gpt-4o6', 'o34', 'claude2'])
    await search.press('ArrowDown')
    await search.press('Enter')
    await eventually(() => query(page, 'model')).toEqual(['gpt-4o'])
    await search.fill('O')
    await eventually(() => page.locator('[role="option"]').allTextContents()).toEqual(['o34', 'O'])
    await page.getByRole('option', { name: 'o3', exact: true }).click()
    await eventually(() => query(page, 'model')).toEqual(['gpt-4o', 'o3'])
    await page.getByText('· 10 rows').waitFor()
    await page.getByText('is not', { exact: true }).click()
    await eventually(() => query(page, 'not_model')).toEqual(['gpt-4o', 'o3'])
    expect(query(page, 'model')).toEqual([])
    await eventually(() => rowsOf(page).count()).toBe(2)
    await page.keyboard.press('Escape')
    await eventually(() => isFocused(page, 'Model')).toBe(true)
    await page.getByRole('button', { name: 'Model is not gpt-4o, o3', exact: true }).waitFor()
    // The figures, the file and live rows have the same filter as the list.
    const link = new URL((await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')) ?? '', page.url())
    expect(link.searchParams.getAll('not_model_name')).toEqual(['gpt-4o', 'o3'])
    for (const path of ['/api/log/stat?', '/api/log/histogram?'])
      await eventually(() => visit.calls().findLast((each) => each.startsWith(`GET ${path}`))).toContain(
        'not_model_name=gpt-4o&not_model_name=o3',
      )
    await page.reload()
    await eventually(() => rowsOf(page).count()).toBe(2)
    await page.getByRole('button', { name: 'Model is not gpt-4o, o3', exact: true }).press('Backspace')
    await eventually(() => query(page, 'not_model')).toEqual([])
    await eventually(() => isFocused(page, 'Model')).toBe(true)
    await page.getByText('· 12 rows').waitFor()
  })

  test('channels are chosen and shown by name; a value that is not in the list can be typed', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log?type=2')
    await eventually(() => columnOf(page, 'Channel')).toEqual(
      expect.arrayContaining(['azure-west', 'openai-main', '#3']),
    )
    await chooseFacet(page, 'Channel', 'azure-west')
    await eventually(() => query(page, 'channel')).toEqual(['1'])
    await page.getByRole('button', { name: 'Channel is azure-west', exact: true }).waitFor()
    await eventually(() => rowsOf(page).count()).toBe(4)
    await page.getByRole('button', { name: 'Remove filter: Channel' }).click()
    await eventually(() => isFocused(page, 'Channel')).toBe(true)
    await chooseFacet(page, 'Token', 'never used')
    await page.getByText('No results found.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).first().click()
    await eventually(() => rowsOf(page).count()).toBe(10)
  })

  test('the filter by group uses the user’s group, in the logs and on the usage page', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log?type=2&not_in=default')
    await page.getByText('No results found.').waitFor()
    await page.getByRole('button', { name: 'Remove filter: Group' }).click()
    await chooseFacet(page, 'Group', 'default')
    await eventually(() => query(page, 'in')).toEqual(['default'])
    await eventually(() => rowsOf(page).count()).toBe(10)
    await page.getByRole('link', { name: 'View usage' }).click()
    await page.waitForURL('**/usage?**')
    await page.getByRole('button', { name: 'Group is default', exact: true }).waitFor()
    await eventually(() => visit.calls().some((call) => /usage\/table\?.*[?&]group=default/.test(call))).toBe(true)
  })

  test('users choose among their own models and tokens only', async () => {
    await using visit = await site.visit({ as: await site.addUser('reader') })
    const { page } = visit
    await visit.open('/log')
    await facet(page, 'Model').click()
    await page.getByText('No values found in this time range.').waitFor()
    expect(await facet(page, 'User').count()).toBe(0)
    expect(await facet(page, 'Channel').count()).toBe(0)
  })

  test('on a phone, the first row is on the first screen, and the filters are in a sheet', async () => {
    await using visit = await site.visit({ as: rootAccount, width: 390 })
    const { page } = visit
    await visit.open('/log?type=2&not_model=gpt-4o')
    const first = rowsOf(page).first()
    await first.waitFor()
    const box = await first.boundingBox()
    expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThan(844)
    await page.getByRole('button', { name: 'Filters (2)' }).click()
    const sheet = page.getByRole('dialog', { name: 'Filters' })
    await sheet.getByRole('button', { name: /^User/ }).click()
    await page.getByRole('option', { name: 'root', exact: true }).click()
    await page.keyboard.press('Escape')
    await eventually(() => query(page, 'user')).toEqual(['root'])
    await sheet.getByRole('button', { name: 'Show results' }).click()
    await page.getByRole('button', { name: /^User is root\./ }).click()
    await eventually(() => query(page, 'user')).toEqual([])
    await page.getByRole('button', { name: /^Model is not gpt-4o\./ }).waitFor()
  })
})

test('facets of the usage page apply to the figures, the table and the file, and to the link to the logs', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/usage?metric=requests')
  const names = () => page.locator('.data-table tbody th').allTextContents()
  await eventually(names).toEqual(expect.arrayContaining(['gpt-4o', 'o3', 'claude']))
  await chooseFacet(page, 'Model', 'gpt-4o', 'o3')
  await eventually(() => query(page, 'model')).toEqual(['gpt-4o', 'o3'])
  await eventually(async () => (await names()).sort()).toEqual(['gpt-4o', 'o3'])
  await facet(page, 'Model').click()
  await page.getByText('is not', { exact: true }).click()
  await page.keyboard.press('Escape')
  await eventually(names).toEqual(['claude'])
  const href = await page.locator('main a[download]').last().getAttribute('href')
  const file = new URL(href ?? '', page.url())
  expect(file.searchParams.getAll('not_model_name')).toEqual(['gpt-4o', 'o3'])
  await page.getByRole('link', { name: 'Logs of claude', exact: true }).click()
  await page.waitForURL('**/log?**')
  expect([query(page, 'model'), query(page, 'not_model')]).toEqual([['claude'], ['gpt-4o', 'o3']])
  await eventually(() => rowsOf(page).count()).toBe(2)
})

test('users are filtered by role, status, group and balance, and tokens by their current status, such as expired', async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/user')
  await rowOf(page, 'root').waitFor()
  await page.getByLabel('Balance').selectOption('No balance left')
  await rowOf(page, 'root').waitFor({ state: 'detached' })
  await rowOf(page, 'penniless').waitFor()
  await page.getByLabel('Balance').selectOption('Any balance')
  await page.getByLabel('Role').selectOption('Super admin')
  await rowOf(page, 'penniless').waitFor({ state: 'detached' })
  await rowOf(page, 'root').waitFor()
  await page.getByLabel('Status').selectOption('Banned')
  await page.getByText('No results match the filter.').waitFor()
  await visit.open('/token')
  await rowOf(page, 'old').waitFor()
  await page.getByLabel('Status').selectOption('Expired')
  await rowOf(page, 'fresh').waitFor({ state: 'detached' })
  await rowOf(page, 'old').waitFor()
})

test("a select box opens the console's own list with mouse or keyboard, and typed letters select an entry", async () => {
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/log')
  const type = page.getByLabel('Type', { exact: true })
  const list = page.getByRole('listbox', { name: 'Type' })
  await type.focus()
  // The list is loaded when the box gets the focus.
  await eventually(async () => {
    if ((await list.count()) === 0) await type.press('ArrowDown')
    return list.count()
  }).toBe(1)
  await page.keyboard.type('err')
  await eventually(() => page.locator('[role="option"][data-highlighted]').textContent()).toBe('Error')
  await page.keyboard.press('Enter')
  await eventually(() => query(page, 'type')).toEqual(['6'])
  await list.waitFor({ state: 'detached' })
  await eventually(() => type.evaluate((box) => box === document.activeElement)).toBe(true)
  await type.click()
  await list.getByRole('option', { name: 'Request', exact: true }).click()
  await eventually(() => query(page, 'type')).toEqual(['2'])
  await type.click()
  await list.waitFor()
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  expect(query(page, 'type')).toEqual(['2'])
})

test('usage is grouped and filtered by project, with a hint that says which project counts, and exported', async () => {
  const person = await site.addUser('planner')
  const add = async (name: string, project: string) =>
    (await site.apiAs<{ id: number }>(person, 'POST', '/api/token/', { name, project, unlimited_quota: true })).id
  const ids = [
    await add('crawler', 'Search'),
    await add('ranker', 'Search'),
    await add('shop', 'Web'),
    await add('x', ''),
  ]
  {
    using database = openDatabase(site)
    const insert = logWriter(database)
    const created_at = Math.floor(Date.now() / 1000) - 3600
    const who = { user_id: person.id, username: 'planner', model_name: 'o3', created_at }
    for (const [index, token_id] of ids.entries())
      insert({ ...who, token_id, token_name: `token ${index}`, quota: 500_000 * (index + 1) })
  }
  await using visit = await site.visit({ as: person })
  const { page } = visit
  await visit.open('/usage?range=7d&group=project')
  const names = () => page.getByRole('table', { name: 'Ranking' }).getByRole('rowheader').allTextContents()
  await eventually(names).toEqual(['No project', 'Search', 'Web'])
  expect(await page.getByRole('link', { name: 'Logs of No project' }).count()).toBe(0)
  await eventually(() => columnOf(page, 'Spend')).toEqual(['$4.00', '$3.00', '$3.00'])
  await page.getByText('current project of its token').waitFor()
  // The legend of the chart names the requests without a project, too.
  await page.locator('figcaption').getByText('No project').waitFor()
  const file = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')
  expect(file).toContain('by=project')
  await chooseFacet(page, 'Project', 'Search')
  await eventually(names).toEqual(['Search'])
  expect(query(page, 'project')).toEqual(['Search'])
  await page.getByRole('button', { name: 'Show only this: Search', exact: true }).click()
  await page.waitForURL((url) => url.searchParams.get('group') === 'token')
  await eventually(names).toEqual(['rankerplanner', 'crawlerplanner'])
  await visit.open('/usage?range=7d&group=project')
  await page.getByRole('link', { name: 'Logs of Search', exact: true }).click()
  await page.waitForURL('**/log?*project=Search*')
  await eventually(() => rowsOf(page).count()).toBe(2)
  await facet(page, 'Project').getByText('Project is Search').waitFor()
})
