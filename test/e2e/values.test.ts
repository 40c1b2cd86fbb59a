// Sections of the specification (see coverage.md): 2 (columns, groups, truncated names), 4 (statuses, roles, latency
// colours), 8 (unknown values), 9 (numbers, quotas, balances, times). Rows that cannot be created through the API are
// written to the database.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { type Account, openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { rowOf, rowsOf } from './support/lists.ts'
import { logWriter } from './support/log-rows.ts'

const site = openConsole()
const dot = (line: Locator, color: string, text: string) => line.locator(`[data-color="${color}"]`, { hasText: text })
const setOption = (key: string, value: string) => site.api('PUT', '/api/option/', { key, value })

/** The text of a cell, by the header of its column. */
async function cellOf(page: Page, line: Locator, header: string): Promise<string> {
  const headers = await page.locator('.data-table thead th').allTextContents()
  return (await line.locator('th, td').nth(headers.indexOf(header)).textContent())?.trim() ?? ''
}

describe('channels', () => {
  beforeAll(async () => {
    const kinds = [
      { name: 'untested', type: 1, response_time: 0, balance: 12.345 },
      { name: 'quick', type: 8, response_time: 1000, balance: 5 },
      { name: 'good', type: 4, response_time: 1001, balance: 7.5 },
      { name: 'fair', type: 12, response_time: 3001, balance: 7.5 },
      { name: 'slow', type: 5, response_time: 5001, balance: 25_000 },
      { name: 'number', type: 10, response_time: 3000, balance: 12_345 },
      { name: 'number too', type: 13, response_time: 5000, balance: 2_500_000_000 },
      { name: 'azure', type: 3, response_time: 620, balance: 9 },
      { name: 'strange', type: 999, response_time: 1, balance: 9 },
    ]
    for (const { name } of kinds)
      await site.api('POST', '/api/channel/', { name, type: 8, key: 'k', models: 'm', group: 'svip,vip' })
    using database = openDatabase(site)
    const change = database.prepare('update channels set type = ?, response_time = ?, balance = ? where name = ?')
    for (const { name, type, response_time, balance } of kinds) change.run(type, response_time, balance, name)
    database.run("update channels set status = 2 where name = 'quick'")
    database.run("update channels set status = 9 where name = 'strange'")
  })

  test('spec 2, 4, 9: the response time is coloured by its length, and is in seconds with two decimals', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await dot(rowOf(page, 'untested'), 'grey', 'Untested').waitFor()
    await dot(rowOf(page, 'quick'), 'green', '1.00 s').waitFor()
    await dot(rowOf(page, 'good'), 'olive', '1.00 s').waitFor()
    await dot(rowOf(page, 'number'), 'olive', '3.00 s').waitFor()
    await dot(rowOf(page, 'fair'), 'yellow', '3.00 s').waitFor()
    await dot(rowOf(page, 'number too'), 'yellow', '5.00 s').waitFor()
    await dot(rowOf(page, 'slow'), 'red', '5.00 s').waitFor()
  })

  test('spec 4, 8: statuses, an unknown status and an unknown type have labels', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await dot(rowOf(page, 'good'), 'green', 'Enabled').waitFor()
    await dot(rowOf(page, 'quick'), 'red', 'Disabled').waitFor()
    await dot(rowOf(page, 'strange'), 'grey', 'unknown status').waitFor()
    await rowOf(page, 'strange').getByText('unknown type').waitFor()
    await dot(rowOf(page, 'good'), 'yellow', 'vip').first().waitFor()
    await dot(rowOf(page, 'good'), 'red', 'svip').waitFor()
  })

  test('spec 2, 9: the balance is shown in the format of each type', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/channel')
    await rowOf(page, 'azure').waitFor()
    const shown: Record<string, string> = {}
    for (const name of ['untested', 'quick', 'good', 'fair', 'slow', 'number', 'number too', 'azure', 'strange'])
      shown[name] = await cellOf(page, rowOf(page, name), 'Balance')
    expect(shown).toEqual({
      untested: '$12.35',
      quick: '$5.00',
      good: '¥7.50',
      fair: '¥7.50',
      slow: '¥2.50',
      number: '12.3k',
      'number too': '2.5B',
      azure: 'Azure',
      strange: 'Not supported',
    })
    for (const column of ['ID', 'Name', 'Group', 'Type', 'Status', 'Response time', 'Balance', 'Actions'])
      await page.getByRole('columnheader', { name: column, exact: true }).waitFor()
  })
})

describe('users', () => {
  beforeAll(async () => {
    for (const name of ['plain', 'grouped', 'strange', 'namesake']) await site.addUser(name)
    using database = openDatabase(site)
    database.run(`update users set "group" = '' where username = 'plain'`)
    database.run(`update users set "group" = 'svip,vip,pro,premium,other' where username = 'grouped'`)
    database.run(`update users set status = 7, role = 42 where username = 'strange'`)
    database.run(`update users set username = 'a-name-of-sixteen' where username = 'namesake'`)
  })

  test('spec 2: names are truncated to 15 characters, groups have their colours, and an empty group is shown as default', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user')
    const cut = rowOf(page, 'a-name-of-si...')
    await cut.waitFor()
    await cut.getByTitle('a-name-of-sixteen', { exact: true }).waitFor()
    await rowOf(page, 'plain').getByText('default', { exact: true }).waitFor()
    await rowOf(page, 'grouped')
      .getByRole('button', { name: /^Show all \d+ groups$/ })
      .click()
    const panel = page.getByRole('dialog', { name: 'Groups' })
    for (const [group, color] of [
      ['vip', 'yellow'],
      ['pro', 'yellow'],
      ['svip', 'red'],
      ['premium', 'red'],
    ] as const) {
      const badge = panel.locator('[data-color]').filter({ hasText: new RegExp(`^${group}$`) })
      await eventually(async () => [group, await badge.getAttribute('data-color')]).toEqual([group, color])
    }
    await panel.getByText('other', { exact: true }).waitFor()
    expect(await panel.locator('[data-color]', { hasText: 'other' }).count()).toBe(0)
  })

  test('spec 4, 8: an unknown status and an unknown role have labels', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user')
    await dot(rowOf(page, 'plain'), 'green', 'Activated').waitFor()
    await dot(rowOf(page, 'strange'), 'grey', 'unknown status').waitFor()
    await dot(rowOf(page, 'strange'), 'red', 'unknown identity').waitFor()
    await dot(rowOf(page, 'root'), 'orange', 'Super admin').waitFor()
  })

  test('spec 9: quotas are shown in dollars, or abbreviated if display in currency is off', async () => {
    using database = openDatabase(site)
    database.run(`update users set quota = 1234567890, used_quota = 2500000, request_count = 10000
      where username = 'plain'`)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user')
    await rowOf(page, 'plain').waitFor()
    await eventually(() => cellOf(page, rowOf(page, 'plain'), 'Balance')).toBe('$2,469.14')
    await eventually(() => cellOf(page, rowOf(page, 'plain'), 'Requests')).toBe('10.0k')
    await setOption('DisplayInCurrencyEnabled', 'false')
    try {
      await page.reload()
      await rowOf(page, 'plain').getByText('1.2B').waitFor()
      await eventually(() => cellOf(page, rowOf(page, 'plain'), 'Spend')).toBe('2.5M')
      database.run(`update users set quota = 9999 where username = 'plain'`)
      await page.getByRole('button', { name: 'Refresh' }).click()
      await rowOf(page, 'plain').getByText('9999', { exact: true }).waitFor()
    } finally {
      await setOption('DisplayInCurrencyEnabled', 'true')
    }
  })
})

describe('amounts', () => {
  test('spec 9: the option QuotaPerUnit sets how many units make one dollar', async () => {
    const person = await site.addUser('counted', { quota: 1_500_000 })
    await site.apiAs(person, 'POST', '/api/token/', { name: 'in dollars', remain_quota: 250_000, expired_time: -1 })
    using database = openDatabase(site)
    database.run("update tokens set used_quota = 500000 where name = 'in dollars'")
    await setOption('QuotaPerUnit', '1000000')
    try {
      await using visit = await site.visit({ as: person })
      const { page } = visit
      await visit.open('/token')
      const line = rowOf(page, 'in dollars')
      await line.waitFor()
      await eventually(() => cellOf(page, line, 'remaining quota')).toBe('$0.25')
      await eventually(() => cellOf(page, line, 'used quota')).toBe('$0.50')
      await visit.open('/topup')
      await page.getByText('$1.50').first().waitFor()
    } finally {
      await setOption('QuotaPerUnit', '500000')
    }
  })
})

describe('tokens', () => {
  let owner: Account
  beforeAll(async () => {
    owner = await site.addUser('holder')
    for (const name of ['on', 'off', 'late', 'spent', 'odd'])
      await site.apiAs(owner, 'POST', '/api/token/', { name, remain_quota: 625_000, expired_time: -1 })
    using database = openDatabase(site)
    const change = database.prepare('update tokens set status = ?, created_time = 1700000000 where name = ?')
    for (const [index, name] of ['on', 'off', 'late', 'spent', 'odd'].entries()) change.run(index + 1, name)
    database.run("update tokens set expired_time = 1700000000 where name = 'late'")
  })

  test('spec 4, 9: shows every status, quotas with two decimals, and times as YYYY-MM-DD HH:MM:SS', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open('/token')
    await dot(rowOf(page, 'on'), 'green', 'Enabled').waitFor()
    await dot(rowOf(page, 'off'), 'red', 'Disabled').waitFor()
    await dot(rowOf(page, 'late'), 'yellow', 'Expired').waitFor()
    await dot(rowOf(page, 'spent'), 'grey', 'Exhausted').waitFor()
    await dot(rowOf(page, 'odd'), 'grey', 'unknown status').waitFor()
    await eventually(() => page.getByRole('button', { name: 'Enable: late' }).isDisabled()).toBe(true)
    await eventually(() => page.getByRole('button', { name: 'Enable: spent' }).isDisabled()).toBe(true)
    await eventually(() => cellOf(page, rowOf(page, 'on'), 'remaining quota')).toBe('$1.25')
    await eventually(() => cellOf(page, rowOf(page, 'on'), 'expiry')).toBe('Never expires')
    for (const column of ['created', 'expiry'])
      await eventually(() => cellOf(page, rowOf(page, 'late'), column)).toMatch(/^2023-11-1[45] \d\d:\d\d:\d\d$/)
  })
})

describe('redemption codes', () => {
  test('spec 2, 4: shows all columns and every status', async () => {
    for (const name of ['open', 'off', 'gone', 'odd'])
      await site.api('POST', '/api/redemption/', { name, quota: 100_000, count: 1 })
    using database = openDatabase(site)
    const change = database.prepare('update redemptions set status = ? where name = ?')
    for (const [status, name] of [[1, 'open'] as const, [2, 'off'] as const, [3, 'gone'] as const, [8, 'odd'] as const])
      change.run(status, name)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/redemption')
    await dot(rowOf(page, 'open'), 'green', 'Unused').waitFor()
    await dot(rowOf(page, 'off'), 'red', 'Disabled').waitFor()
    await dot(rowOf(page, 'gone'), 'grey', 'Used').waitFor()
    await dot(rowOf(page, 'odd'), 'grey', 'unknown status').waitFor()
    const columns = ['ID', 'Name', 'Status', 'Quota', 'Created', 'Redeemed', 'Redeemed by', 'Actions']
    for (const column of columns) await page.getByRole('columnheader', { name: column, exact: true }).waitFor()
    const shown = await page.getByRole('columnheader').allTextContents()
    expect(shown.filter((header) => columns.includes(header))).toEqual(columns)
  })
})

describe('logs', () => {
  test('spec 4: types have their colours, zero values are blank, an unknown type has a label', async () => {
    using database = openDatabase(site)
    const add = logWriter(database)
    for (const type of [1, 2, 3, 4, 77])
      add({ created_at: 1_700_000_000 + type, type, content: `of type ${type}`, outcome: '' })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/log?from=1700000000&to=1700000100')
    await page.getByRole('button', { name: 'Columns' }).click()
    for (const column of ['Type', 'Prompt tokens', 'Completion tokens', 'Details'])
      await page.getByRole('checkbox', { name: column, exact: true }).check()
    await page.keyboard.press('Escape')
    const line = (type: number) => rowsOf(page).filter({ has: page.getByText(`of type ${type}`, { exact: true }) })
    await dot(line(1), 'green', 'Top-up').first().waitFor()
    await dot(line(2), 'olive', 'Request').waitFor()
    await dot(line(3), 'orange', 'Management').first().waitFor()
    await dot(line(4), 'purple', 'System').first().waitFor()
    await dot(line(77), 'grey', 'Unknown').first().waitFor()
    for (const column of ['Prompt tokens', 'Completion tokens', 'Cost'])
      await eventually(() => cellOf(page, line(1), column)).toBe('')
  })
})
