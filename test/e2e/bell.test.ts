// The top bar: the breadcrumb, and the bell with news.
import { describe, expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'

const site = openConsole()

describe('the breadcrumb', () => {
  test('shows the list, the object and the form; the window’s title begins with the object’s name', async () => {
    const user = await site.addUser('crumbs')
    const { id } = await site.apiAs<{ id: number }>(user, 'POST', '/api/token/', { name: 'openai-backup' })
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(`/token/edit/${id}`)
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' })
    await eventually(() => crumbs.getByRole('listitem').allTextContents()).toEqual([
      'Tokens',
      '/openai-backup',
      '/Edit',
    ])
    await eventually(() => page.title()).toStartWith('openai-backup · ')
    await crumbs.getByRole('link', { name: 'openai-backup' }).click()
    await page.getByRole('dialog', { name: 'openai-backup' }).waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => crumbs.getByRole('listitem').allTextContents()).toEqual(['Tokens'])
    await visit.open('/token/add')
    await eventually(() => crumbs.getByRole('listitem').allTextContents()).toEqual(['Tokens', '/New'])
    await eventually(() => page.title()).toStartWith('new token')
  })

  test('shows a page without a menu entry below the page that links to it', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' })
    await visit.open('/statement')
    await eventually(() => crumbs.getByRole('listitem').allTextContents()).toEqual(['Usage', '/monthly statement'])
    await crumbs.getByRole('link', { name: 'Usage' }).click()
    await eventually(() => crumbs.getByRole('listitem').allTextContents()).toEqual(['Usage'])
    await visit.open('/recording')
    await eventually(() => crumbs.getByRole('listitem').allTextContents()).toEqual(['Logs', '/Recording'])
    await visit.open('/status')
    await eventually(() => crumbs.getByRole('listitem').allTextContents()).toEqual(['status'])
  })
})

describe('the bell', () => {
  const channel = { type: 8, key: 'k', models: 'm', group: 'default', base_url: 'http://127.0.0.1:9' }

  test('has a dot while an administrator has unread news, and lists what happened with its time', async () => {
    const [id = 0] = await site.api<number[]>('POST', '/api/channel/', { ...channel, name: 'broken one' })
    {
      using database = openDatabase(site)
      database.run('update channels set status = 3, status_reason = ?, status_time = ? where id = ?', [
        'Incorrect API key',
        Math.floor(Date.now() / 1000) - 7200,
        id,
      ])
    }
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/about')
    const bell = page.getByRole('button', { name: /^Notifications, \d+ unread$/ })
    await bell.focus()
    await page.keyboard.press('Enter')
    const panel = page.getByRole('dialog', { name: 'Notifications' })
    await panel
      .getByRole('link', { name: /broken one/ })
      .getByText('Disabled automatically: Incorrect API key')
      .waitFor()
    await panel.getByText('2 hours ago').first().waitFor()
    // The bell has made only one request.
    expect(visit.calls().filter((call) => /\/api\/overview/.test(call))).toHaveLength(1)
    await panel.getByRole('button', { name: 'Mark all as read' }).click()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    const read = page.getByRole('button', { name: 'Notifications', exact: true })
    await read.waitFor()
    await page.reload()
    await read.click()
    await panel.getByRole('link', { name: /broken one/ }).click()
    await page.waitForURL(`**/channel?peek=${id}`)
    await panel.waitFor({ state: 'detached' })
    await site.api('DELETE', `/api/channel/${id}`)
  })

  test('shows users only news about their own account', async () => {
    const user = await site.addUser('penniless', { quota: 0 })
    const { id } = await site.apiAs<{ id: number }>(user, 'POST', '/api/token/', { name: 'over now', expired_time: -1 })
    {
      using database = openDatabase(site)
      database.run('update tokens set expired_time = ? where id = ?', [Math.floor(Date.now() / 1000) - 60, id])
    }
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/about')
    await page.getByRole('button', { name: 'Notifications, 2 unread' }).click()
    const panel = page.getByRole('dialog', { name: 'Notifications' })
    await panel.getByText('Your balance is used up.').waitFor()
    await panel
      .getByRole('link', { name: /over now/ })
      .getByText('This token has expired.')
      .waitFor()
    expect(visit.calls().filter((call) => /\/api\/(?:overview\/?$|log\/|channel)/.test(call))).toEqual([])
    await panel.getByRole('link', { name: /Your balance/ }).click()
    await page.waitForURL('**/topup')
    await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor()
  })

  test('shows visitors the notice only', async () => {
    await using visit = await site.visit()
    const { page } = visit
    await visit.open('/about')
    await page.getByRole('button', { name: 'Notifications', exact: true }).click()
    await page.getByText('You’re all caught up.').waitFor()
    expect(visit.calls().filter((call) => /overview|log/.test(call))).toEqual([])
  })
})
