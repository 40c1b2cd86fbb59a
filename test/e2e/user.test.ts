// Sections of the specification (see coverage.md): 2 (user management, user edit form), 4 (user status and role), 5
// (user create), 8 (messages).
import { beforeAll, describe, expect, test } from 'bun:test'
import { openConsole, rootAccount } from './support/console.ts'
import { openDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { choose, rowOf, rowsOf } from './support/lists.ts'
import { toastShown } from './support/toasts.ts'

const site = openConsole()

interface User {
  id: number
  username: string
  role: number
  status: number
  quota: number
  group: string
  rpm_limit: number
}

const userBy = async (id: number) => site.api<User>('GET', `/api/user/${id}`)

describe('managing users', () => {
  let ids: Record<string, number>
  beforeAll(async () => {
    ids = {}
    for (const name of ['anna', 'bert', 'carla', 'a-long-name-1'])
      ids[name] = (await site.addUser(name.slice(0, 12))).id
  })

  test('spec 2: the list has a heading, columns and groups, and no action on a super admin', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user')
    await rowOf(page, 'anna').waitFor()
    await eventually(() => page.locator('h1').textContent()).toBe('manage users')
    for (const column of ['ID', 'Username', 'Display name', 'Email', 'Group', 'Role', 'Status'])
      await page.getByRole('columnheader', { name: column, exact: true }).waitFor()
    await eventually(() => rowOf(page, 'anna').textContent()).toContain('default')
    await eventually(() => page.getByRole('button', { name: 'Edit: root', exact: true }).isDisabled()).toBe(true)
    await eventually(() => page.getByRole('button', { name: 'Disable: root', exact: true }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Actions for root', exact: true }).click()
    for (const action of ['Promote', 'Demote', 'Delete']) {
      const entry = page.getByRole('menuitem', { name: action, exact: true })
      await eventually(() => entry.getAttribute('aria-disabled')).toBe('true')
    }
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit: anna', exact: true }).click()
    await page.waitForURL(`**/user/edit/${ids['anna']}`)
  })

  test('spec 4: banning and unbanning take effect immediately, with undo; promoting and demoting ask for confirmation and show the new role', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user')
    await page.getByRole('button', { name: 'Disable: bert', exact: true }).click()
    await rowOf(page, 'bert').getByText('banned').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await rowOf(page, 'bert').getByText('activated').waitFor()
    await eventually(async () => (await userBy(ids['bert'] ?? 0)).status).toBe(1)
    await choose(page, 'bert', 'Promote')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Promote' }).click()
    await rowOf(page, 'bert').getByText('admin').waitFor()
    await eventually(async () => (await userBy(ids['bert'] ?? 0)).role).toBe(10)
    await choose(page, 'bert', 'Demote')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Demote' }).click()
    await rowOf(page, 'bert').getByText('User').waitFor()
  })

  test('spec 4: deleting requires typing the name, and the row disappears', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user')
    await choose(page, 'carla', 'Delete')
    const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true })
    await eventually(() => confirm.isDisabled()).toBe(true)
    await page.getByRole('alertdialog').getByRole('textbox').fill('carla')
    await confirm.click()
    await toastShown(page, 'success', 'carla was deleted')
    await rowOf(page, 'carla').waitFor({ state: 'detached' })
  })

  test('spec 2: the search finds users, or shows that there are no results', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user')
    const box = page.getByLabel('Search by ID, name or email')
    await box.fill(' anna ')
    await box.press('Enter')
    await page.getByText('1 row', { exact: false }).waitFor()
    await eventually(() => rowsOf(page).count()).toBe(1)
  })

  test('the drawer adds quota to the existing balance', async () => {
    const id = ids['anna'] ?? 0
    const before = (await userBy(id)).quota
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open(`/user?peek=${id}`)
    await page.getByRole('button', { name: '+$1', exact: true }).click()
    await toastShown(page, 'success', '$1.00 added to anna')
    await eventually(async () => (await userBy(id)).quota).toBe(before + 500_000)
    await page.getByLabel('Custom amount').fill('0.29')
    await page.getByText('= 145,000 units').waitFor()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await toastShown(page, 'success', '$0.29 added to anna')
    await eventually(async () => (await userBy(id)).quota).toBe(before + 645_000)
    await eventually(() => page.getByLabel('Custom amount').inputValue()).toBe('')
  })
})

test('the data of a row is requested once, when the pointer is on the row and before it is clicked', async () => {
  const { id, username } = await site.addUser('hovered')
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/user')
  const asked = () => visit.calls().filter((call) => call === `GET /api/user/${id}`)
  await rowOf(page, username).getByText(username).first().hover()
  await eventually(() => asked().length).toBe(1)
  await rowOf(page, username).getByRole('button', { name: username, exact: true }).click()
  await page.getByRole('dialog', { name: username }).getByRole('button', { name: '+$1', exact: true }).waitFor()
  expect(asked()).toHaveLength(1)
})

test('the form does not write back a balance that was fetched when the pointer was on the row', async () => {
  const { id } = await site.addUser('spender')
  await site.api('PUT', '/api/user/', { id, username: 'spender', quota: 1000 })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open('/user')
  const near = page.waitForResponse(`**/api/user/${id}`)
  await rowOf(page, 'spender').getByText('spender').first().hover()
  await near
  await site.api('PUT', '/api/user/', { id, username: 'spender', quota: 400 })
  await page.getByRole('button', { name: 'Edit: spender', exact: true }).click()
  await page.waitForURL(`**/user/edit/${id}`)
  await page.getByLabel('Display name').fill('Spends much')
  await page.getByRole('button', { name: 'Submit', exact: true }).click()
  await toastShown(page, 'success', 'user information updated successfully!')
  expect(await userBy(id)).toMatchObject({ display_name: 'Spends much', quota: 400 })
})

test('the drawer lists the tokens of a user page by page, without keys, and a token can be disabled and enabled there', async () => {
  const person = await site.addUser('holder')
  const added: { id: number; key: string }[] = []
  for (let i = 1; i <= 12; i++) {
    const fields = { name: `token ${i}`, unlimited_quota: true, ...(i === 12 && { expired_time: 1_700_000_000 }) }
    added.push(await site.apiAs(person, 'POST', '/api/token/', fields))
  }
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/user?peek=${person.id}`)
  await page.getByRole('tab', { name: 'Tokens' }).click()
  const list = page.getByRole('list', { name: 'Tokens' })
  const line = (name: string) => list.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) })
  await line('token 12').getByText('Expired').waitFor()
  await eventually(() => list.getByRole('listitem').count()).toBe(10)
  await page.getByText('1–10 of 12').waitFor()
  await page.getByRole('button', { name: 'Next page', exact: true }).last().click()
  await line('token 1').waitFor()
  await eventually(() => list.getByRole('listitem').count()).toBe(2)
  const text = await page.content()
  for (const { key } of added) expect(text).not.toContain(key.slice(0, 8))
  await page.getByRole('button', { name: 'Disable: token 1', exact: true }).click()
  await line('token 1').getByText('Disabled').waitFor()
  const statusOf = async () =>
    (await site.apiAs<{ status: number }>(person, 'GET', `/api/token/${added[0]?.id}`)).status
  expect(await statusOf()).toBe(2)
  await page.getByRole('button', { name: 'Enable: token 1', exact: true }).click()
  await line('token 1').getByText('Enabled').waitFor()
  expect(await statusOf()).toBe(1)
  // The URL contains the open tab, so that a copied link opens the same tab.
  expect(new URL(page.url()).searchParams.get('tab')).toBe('tokens')
})

test('the drawer shows where a user is logged in, and ends one session or all', async () => {
  const person = await site.addUser('traveller')
  await using theirs = await site.visit({ as: person })
  await theirs.open('/token')
  const { username, password } = person
  const body = JSON.stringify({ username, password })
  // The client's name contains what ends the text of a client in the audit log.
  const headers = { 'user-agent': 'Odd" session="0000" created_time=1 client="x' }
  await fetch(`${site.gateway.url}/api/user/login`, { method: 'POST', headers, body })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/user?peek=${person.id}&tab=sessions`)
  const list = page.getByRole('list', { name: 'Sessions' })
  await eventually(() => list.getByRole('listitem').count()).toBe(2)
  await list.getByText('127.0.0.1').first().waitFor()
  await list.getByRole('button', { name: /^End session.*Odd/ }).click()
  await toastShown(page, 'success', 'Session ended')
  await eventually(() => list.getByRole('listitem').count()).toBe(1)
  await page.getByRole('button', { name: 'End all sessions' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'End all sessions' }).click()
  await toastShown(page, 'success', '1 session ended')
  await page.getByText('The user is not logged in anywhere.', { exact: false }).waitFor()
  await theirs.page.goto('/token')
  await theirs.page.waitForURL('**/login*')
  // The audit log says which session was ended: its client, and when the user logged in.
  await visit.open('/setting?tab=audit')
  const ended = rowsOf(page).filter({ hasText: 'user.end-session' })
  await eventually(async () => (await ended.last().textContent()) ?? '').toMatch(
    /traveller: Odd" session="0000" created_time=1 client="x, logged in \d{4}-\d\d-\d\d/,
  )
  await eventually(() => ended.first().textContent()).toContain('traveller: 1 session')
})

test('the drawer shows the limits of the account; users see their own limits beside the balance', async () => {
  const person = await site.addUser('limited')
  const none = await site.addUser('unlimited')
  await site.api('PUT', '/api/user/', {
    id: person.id,
    tpm_limit: 20_000,
    concurrency_limit: 3,
    daily_budget: 1_000_000,
  })
  await using visit = await site.visit({ as: rootAccount })
  const { page } = visit
  await visit.open(`/user?peek=${person.id}`)
  const limits = page.getByRole('dialog').getByRole('region', { name: 'Limits' })
  const names = ['Tokens per minute', 'Concurrent requests', 'Daily budget']
  await eventually(() => limits.getByRole('term').allTextContents()).toEqual(names)
  await limits.getByText('20,000', { exact: true }).waitFor()
  await visit.open(`/user?peek=${none.id}`)
  await page.getByRole('dialog', { name: 'unlimited' }).getByRole('button', { name: '+$1', exact: true }).waitFor()
  expect(await limits.count()).toBe(0)
  await using own = await site.visit({ as: person })
  await own.open('/topup')
  const shown = own.page.getByRole('region', { name: 'Limits' })
  await eventually(() => shown.getByRole('term').allTextContents()).toEqual(names)
  await shown.getByText('Set by an administrator.', { exact: false }).waitFor()
  const meter = shown.getByRole('meter', { name: 'Daily budget' })
  await eventually(() => meter.getAttribute('aria-valuetext')).toBe('$0.00 of $2.00 (0%)')
  expect(await meter.locator('rect').last().getAttribute('class')).toBe('fill-accent')
  expect(own.calls().filter((call) => call === 'GET /api/user/self')).toHaveLength(1)
})

describe('the forms', () => {
  test('spec 5, 8: a new account needs a name and a password; the form stays open for the next account', async () => {
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open('/user/add')
    await page.getByRole('button', { name: 'Submit' }).click()
    await page.getByText('Use 1 to 12 characters.').waitFor()
    expect(visit.calls().filter((call) => call.startsWith('POST /api/user/'))).toEqual([])
    const password = page.getByLabel('Password', { exact: true })
    await eventually(() => password.getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Username').fill('fresh')
    await page.getByRole('button', { name: 'Submit' }).click()
    await eventually(() => page.getByLabel('Username').getAttribute('aria-invalid')).not.toBe('true')
    await eventually(() => password.getAttribute('aria-invalid')).toBe('true')
    expect(visit.calls().filter((call) => call.startsWith('POST /api/user/'))).toEqual([])
    await password.fill('long enough')
    await page.getByRole('button', { name: 'Submit' }).click()
    await toastShown(page, 'success', 'user account created successfully!')
    await eventually(() => page.getByLabel('Username').inputValue()).toBe('')
  })

  test('spec 2: an administrator edits group, quota 0 and limits; only changed values are sent', async () => {
    const { id } = await site.addUser('edited', { quota: 777 })
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open(`/user/edit/${id}`)
    await eventually(() => page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
    const groups = await site.api<string[]>('GET', '/api/group/')
    expect(groups).toContain('svip')
    // The box already contains the current group, `default`.
    for (const group of groups.filter((each) => each !== 'default')) {
      await page.getByLabel('Group').fill(group)
      await page.getByRole('option', { name: group, exact: true }).waitFor()
    }
    await page.getByLabel('Group').fill('vip')
    await page.getByLabel('Balance').fill('0')
    await page.getByLabel('Requests per minute').fill('60')
    const sent = page.waitForRequest((request) => request.method() === 'PUT')
    await page.getByRole('button', { name: 'Submit' }).click()
    expect((await sent).postDataJSON()).toEqual({ id, group: 'vip', quota: 0, rpm_limit: 60 })
    await toastShown(page, 'success', 'user information updated successfully!')
    await eventually(() => userBy(id)).toMatchObject({ group: 'vip', quota: 0, rpm_limit: 60 })
  })

  test('spec 2: bound accounts are shown and are read-only; searching for an unknown group finds nothing', async () => {
    const { id } = await site.addUser('bound')
    using database = openDatabase(site)
    database.run(`update users set email = 'b@example.com', github_id = 'octo', wechat_id = 'wx-1' where id = ${id}`)
    await using visit = await site.visit({ as: rootAccount })
    const { page } = visit
    await visit.open(`/user/edit/${id}`)
    for (const text of ['b@example.com', 'octo', 'wx-1']) await page.getByText(text, { exact: true }).waitFor()
    await eventually(() => page.getByRole('textbox', { name: 'Email address' }).count()).toBe(0)
    await page.getByLabel('Group').fill('no group like this')
    await page.getByText('No results found.').waitFor()
  })

  test('spec 2: the list has a button that creates a new account', async () => {
    await using visit = await site.visit({ as: rootAccount })
    await visit.open('/user')
    await visit.page.getByRole('link', { name: 'Add user' }).first().click()
    await visit.page.getByRole('heading', { name: 'new user' }).waitFor()
    await eventually(() => new URL(visit.page.url()).pathname).toBe('/user/add')
  })

  test('spec 2, 8: users edit their own profile, without group and quota', async () => {
    const person = await site.addUser('selfmade')
    await using visit = await site.visit({ as: person })
    const { page } = visit
    await visit.open('/user/edit')
    await eventually(() => page.getByLabel('Balance').count()).toBe(0)
    await page.getByLabel('Display name').fill('Self Made')
    await page.getByRole('button', { name: 'Submit' }).click()
    await toastShown(page, 'success', 'user information updated successfully!')
    await eventually(() => userBy(person.id)).toMatchObject({ display_name: 'Self Made' })
  })

  test('spec 6: other users see a message that the page is for administrators', async () => {
    const person = await site.addUser('curious')
    await using visit = await site.visit({ as: person })
    await visit.open('/user')
    await visit.page.getByText('No permission').waitFor()
  })
})
