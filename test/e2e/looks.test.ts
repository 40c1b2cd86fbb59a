// Pages and states that no story looks at with axe: forms with what is stored and with what is wrong, drawers, dialogs,
// lists that are empty and lists that failed.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { auditPage } from './support/audit.ts'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'

const site = openConsole()

beforeAll(async () => {
  const channel = { type: 8, key: 'k', models: 'gpt-4o', group: 'default', base_url: 'http://127.0.0.1:1' }
  await site.api('POST', '/api/channel/', { ...channel, name: 'one' })
  await site.api('POST', '/api/redemption/', { name: 'one', quota: 1, count: 1 })
  await site.addUser('someone')
  await site.apiAs(rootAccount, 'POST', '/api/token/', { name: 'one', remain_quota: 1, expired_time: 1_900_000_000 })
  using database = openDatabase(site)
  database.run(`insert into logs (user_id, created_at, type, content, username, token_name, model_name, quota,
    prompt_tokens, completion_tokens, channel_id, request_id, elapsed_time, is_stream, system_prompt_reset, token_id,
    first_byte_time, cached_tokens, reasoning_tokens, estimated, outcome, attempts)
    values (1, 1700000000, 2, 'ratio: 1.25 × 4 × 1', 'root', 'one', 'gpt-4o', 60, 20, 7, 1, 'id', 900, 1, 0, 1, 120, 3, 2,
    1, 'interrupted', '')`)
})

const rows = (page: Page) => page.locator('.data-table tbody:not([aria-hidden]) tr').first()
const drawer = (page: Page) => page.getByRole('dialog').locator('h2, h3').first().waitFor()

const states: Record<string, { path: string; prepare(page: Page): Promise<void> }> = {
  'a stored channel': { path: '/channel/edit/1', prepare: (page) => page.locator('input[name="name"]').waitFor() },
  'a stored token': { path: '/token/edit/1', prepare: (page) => page.locator('input[name="name"]').waitFor() },
  'a stored code': { path: '/redemption/edit/1', prepare: (page) => page.locator('input[name="name"]').waitFor() },
  'the own profile': { path: '/user/edit', prepare: (page) => page.locator('input[name="username"]').waitFor() },
  'a stored user': { path: '/user/edit/2', prepare: (page) => page.locator('input[name="username"]').waitFor() },
  'a form with what is wrong': {
    path: '/channel/add',
    async prepare(page) {
      await page.locator('button[type="submit"]').click()
      await page.locator('[aria-invalid="true"]').first().waitFor()
    },
  },
  'the drawer of a channel': { path: '/channel?peek=1', prepare: drawer },
  'the drawer of a user': { path: '/user?peek=2', prepare: drawer },
  'the drawer of a log row': { path: '/log?peek=1', prepare: drawer },
  'a question': {
    path: '/token',
    async prepare(page) {
      await rows(page).waitFor()
      await page.locator('.actions-cell button[aria-haspopup="menu"]').first().click()
      await page.getByRole('menuitem').last().click()
      await page.getByRole('alertdialog').waitFor()
    },
  },
  'an empty list': { path: '/log?model=nothing', prepare: (page) => page.locator('main button.underline').waitFor() },
  'a list that failed': {
    path: '/about',
    async prepare(page) {
      await page.route('**/api/redemption/?*', (route) => route.fulfill({ status: 502, json: {} }))
      await page.goto('/redemption')
      await page.locator('main [role="alert"]').waitFor()
    },
  },
}

for (const [name, { path, prepare }] of Object.entries(states)) {
  test(`looks right to everybody: ${name}`, async () => {
    const visitor = { as: rootAccount, expectedErrors: /status of 502/ }
    expect(await auditPage(site, { path, prepare, ...visitor })).toEqual([])
  })
}
