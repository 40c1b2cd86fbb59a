import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cookieOf, createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { hashPassword } from '../../lib/secrets/password.ts'
import { saveOption } from '../../store/installation/options.ts'

const password = 'correct horse'
const hash = await hashPassword(password)

type Person = { id: number; username: string; token: string }

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let root: Person
  let admin: Person
  let user: Person

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    root = await api.addPerson({ username: 'root', role: 100 })
    admin = await api.addPerson({ username: 'admin', role: 10 })
    user = await api.addPerson({ username: 'user', quota: 1000, password: hash })
  })
  afterEach(() => api.store.close())

  const put = (body: unknown, as = admin.token) => api.call('PUT', '/api/user/', { as, body })
  const manage = (username: string, action: string, as = root.token) =>
    api.call('POST', '/api/user/manage', { as, body: { username, action } })
  const row = (id: number) =>
    api.store.read.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const spend = (amount: number) =>
    api.store.write((trx) =>
      trx
        .updateTable('users')
        .set((eb) => ({ quota: eb('quota', '-', amount), used_quota: eb('used_quota', '+', amount) }))
        .where('id', '=', user.id)
        .execute(),
    )
  const balances = async (id: number) => {
    const { quota, used_quota, granted_quota } = await row(id)
    return { quota, unexplained: quota + used_quota - granted_quota }
  }

  test("before quota is removed, the account's leased quota is recalled, but only if the admin may change the account", async () => {
    const called: number[] = []
    const leases = { mayBeOut: () => true, callBack: async (userId: number) => void called.push(userId) }
    const leasing = await createTestApi(api.store, { leases })
    const change = (id: number, fields: object) =>
      leasing.call('PUT', '/api/user/', { as: admin.token, body: { id, ...fields } })
    for (const fields of [{ quota: 5 }, { quota_delta: -1 }])
      for (const id of [root.id, admin.id, 12_345]) expect((await change(id, fields)).json.success).toBe(false)
    expect(called).toEqual([])
    for (const fields of [{ quota: 5 }, { quota_delta: -1 }, { quota_delta: 3 }])
      expect((await change(user.id, fields)).json.success).toBe(true)
    expect(called).toEqual([user.id, user.id])
    expect(await balances(user.id)).toEqual({ quota: 7, unexplained: 0 })
  })

  test('lists ten per page, newest first, with the total in a header', async () => {
    for (let i = 0; i < 9; i++) await api.addPerson()
    const list = async (query: string) => api.call('GET', `/api/user/${query}`, { as: admin.token })
    const first = await list('?p=0')
    expect(first.json.data).toHaveLength(10)
    expect(first.headers.get('x-total-count')).toBe('12')
    expect((await list('?p=1')).json.data.map((each: Person) => each.username)).toEqual(['admin', 'root'])
    expect((await list('?p=2')).json.data).toEqual([])
    expect((await list('?p=-1')).json.data).toEqual(first.json.data)
    expect((await list('?p=x&size=abc&sort=password')).json.data).toEqual(first.json.data)
    expect((await list('?size=100')).json.data).toHaveLength(12)
    expect((await list('?sort=username&order=asc&size=1')).json.data[0].username).toBe('admin')
    await put({ id: user.id, quota: 5 })
    expect((await list('?order=quota&size=100')).json.data.at(-1).username).toBe('user')
  })

  test('lists and searches can be filtered by role, status, group and balance', async () => {
    const poor = await api.addPerson({ username: 'poor', quota: 0 })
    await put({ id: user.id, group: 'vip' })
    await manage('user', 'disable')
    const names = async (query: string, path = '') => {
      const { headers, json } = await api.call('GET', `/api/user/${path}?${query}`, { as: admin.token })
      const found = json.data?.map((each: Person) => each.username).sort() ?? json.message
      if (json.success) expect(headers.get('x-total-count')).toBe(String(found.length))
      return found
    }
    expect(await names('role=1')).toEqual(['poor', 'user'])
    expect(await names('role=100')).toEqual(['root'])
    expect(await names('status=2')).toEqual(['user'])
    expect(await names('group=vip')).toEqual(['user'])
    expect(await names('group=vi')).toEqual([])
    expect(await names('role=1&quota_below=1')).toEqual([poor.username])
    expect(await names('role=1&quota_below=1001')).toEqual(['poor', 'user'])
    expect(await names('keyword=u&status=1', 'search')).toEqual([])
    expect(await names('keyword=u&status=2', 'search')).toEqual(['user'])
    for (const query of ['role=-1', 'role=x', 'status=3', 'quota_below=1e16', `group=${'g'.repeat(33)}`])
      expect([query, typeof (await names(query))]).toEqual([query, 'string'])
    expect(await names(`group=${encodeURIComponent("vip' or '1'='1")}`)).toEqual([])
  })

  test('no list, search or single response contains a secret', async () => {
    for (const path of ['/api/user/', '/api/user/search?keyword=', `/api/user/${user.id}`]) {
      const text = JSON.stringify((await api.call('GET', path, { as: root.token })).json)
      expect(text).not.toMatch(/argon2|_hash|access-token-of/)
    }
  })

  test('search finds ids and prefixes, and treats % and _ literally', async () => {
    await api.addPerson({ username: 'u_er' })
    const search = async (keyword: string) => {
      const answer = await api.call('GET', `/api/user/search?keyword=${encodeURIComponent(keyword)}`, {
        as: admin.token,
      })
      return answer.json.data.map((each: Person) => each.username)
    }
    expect(await search('USE')).toEqual(['user'])
    expect(await search('ser')).toEqual([])
    expect(await search('u_')).toEqual(['u_er'])
    expect(await search('%')).toEqual([])
    expect(await search('\\')).toEqual([])
    expect(await search(` ${user.id} `)).toEqual(['user'])
    expect(await search('')).toHaveLength(4)
  })

  test('admins read accounts with lower roles and their own account; root reads all accounts', async () => {
    const get = async (id: number, as: Person) =>
      (await api.call('GET', `/api/user/${id}`, { as: as.token })).json.success
    expect(await get(user.id, admin)).toBe(true)
    expect(await get(admin.id, admin)).toBe(true)
    expect(await get(root.id, admin)).toBe(false)
    expect(await get(admin.id, root)).toBe(true)
    expect(await get(99_999, root)).toBe(false)
    expect((await api.call('GET', '/api/user/abc', { as: root.token })).json.message).toBe('id must be a number.')
  })

  test('creates an ordinary user with the bonus for new users', async () => {
    await api.store.write((trx) => saveOption(trx, 'QuotaForNewUser', '500000'))
    await api.settings.reload()
    const create = (body: object) => api.call('POST', '/api/user/', { as: admin.token, body })
    const made = (await create({ username: 'new', password, role: 1 })).json.data
    expect(made).toMatchObject({ username: 'new', display_name: 'new', role: 1, quota: 500_000, group: 'default' })
    expect(await balances(made.id)).toEqual({ quota: 500_000, unexplained: 0 })
    const logs = await api.store.read.selectFrom('logs').selectAll().execute()
    expect(logs[0]).toMatchObject({
      type: 4,
      user_id: made.id,
      quota: 500_000,
      content: 'New user bonus $1.000000 quota',
    })
    expect((await api.call('POST', '/api/user/login', { body: { username: 'new', password } })).json.success).toBe(true)
    for (const body of [
      { username: 'NEW', password },
      { username: '', password },
      { username: 'x', password: 'short' },
      { username: 'y', password, role: 10 },
      { password },
    ]) {
      expect([body, (await create(body)).json.success]).toEqual([body, false])
    }
  })

  test('an update writes the fields that are sent, including a quota of 0', async () => {
    await put({ id: user.id, display_name: 'Somebody', group: 'vip', quota: 0 })
    expect(await row(user.id)).toMatchObject({
      username: 'user',
      display_name: 'Somebody',
      group: 'vip',
      quota: 0,
      role: 1,
    })
    await put({ id: user.id, display_name: '', group: '', quota: null })
    expect(await row(user.id)).toMatchObject({ display_name: '', group: 'vip', quota: 0 })
    expect(await balances(user.id)).toEqual({ quota: 0, unexplained: 0 })
    expect(api.notices).toContainEqual({ topic: 'user', id: user.id })
  })

  test('a changed quota is logged for the user, an unchanged one is not', async () => {
    await put({ id: user.id, quota: 1000, display_name: 'x' })
    await put({ id: user.id, quota: 600_000 })
    const logs = await api.store.read.selectFrom('logs').selectAll().execute()
    expect(logs.map((log) => [log.type, log.user_id, log.content])).toEqual([
      [3, user.id, 'Admin changed user quota from $0.002000 quota to $1.200000 quota'],
    ])
  })

  test('no spending is lost when calls spend while somebody edits the account', async () => {
    const edits = [
      ...Array.from({ length: 10 }, () => spend(7)),
      ...Array.from({ length: 10 }, () => put({ id: user.id, quota_delta: 5 })),
      ...Array.from({ length: 5 }, (_, i) => put({ id: user.id, display_name: `edit ${i}` })),
      ...Array.from({ length: 5 }, () => manage('user', 'enable')),
    ]
    await Promise.all(edits)
    expect(await balances(user.id)).toEqual({ quota: 1000 - 70 + 50, unexplained: 0 })
    await Promise.all([spend(10), put({ id: user.id, quota: 400 }), spend(10)])
    expect((await balances(user.id)).unexplained).toBe(0)
  })

  test('refuses invalid quotas', async () => {
    for (const body of [
      { quota: -1 },
      { quota: 1.5 },
      { quota: '5' },
      { quota: 1e16 },
      { quota_delta: -1001 },
      { quota_delta: 1e15 },
      { quota: 1, quota_delta: 1 },
    ]) {
      expect([body, (await put({ id: user.id, ...body })).json.success]).toEqual([body, false])
    }
    expect(await balances(user.id)).toEqual({ quota: 1000, unexplained: 0 })
  })

  test('sending back an overdrawn balance unchanged is not an error', async () => {
    await spend(1500)
    expect((await put({ id: user.id, quota: -500, display_name: 'x' })).json.success).toBe(true)
    expect(await balances(user.id)).toEqual({ quota: -500, unexplained: 0 })
  })

  test('admins can neither edit other admins nor change roles', async () => {
    const other = await api.addPerson({ role: 10 })
    expect((await put({ id: other.id, display_name: 'x' })).json.success).toBe(false)
    expect((await put({ id: root.id, password: 'new password' })).json.success).toBe(false)
    expect((await put({ id: admin.id, quota: 1e9 })).json.success).toBe(false)
    expect((await put({ id: user.id, role: 10 })).json.success).toBe(false)
    expect((await put({ id: user.id, role: 1, status: 1 })).json.success).toBe(true)
    expect((await put({ id: user.id, role: 10 }, root.token)).json.data.role).toBe(10)
    expect((await put({ id: user.id, role: 50 }, root.token)).json.success).toBe(false)
    expect((await put({ id: root.id, role: 1 }, root.token)).json.success).toBe(false)
    expect((await put({ id: 99_999, quota: 1 }, root.token)).json.success).toBe(false)
  })

  test('a password set by an admin ends sessions and invalidates the access token', async () => {
    const login = await api.call('POST', '/api/user/login', { body: { username: 'user', password } })
    await put({ id: user.id, password: 'battery staple' })
    expect((await api.call('GET', '/api/user/self', { cookie: cookieOf(login) })).status).toBe(401)
    expect((await api.call('GET', '/api/user/self', { as: user.token })).json.success).toBe(false)
  })

  test('manage: each action changes the status or role, and disabling ends the sessions', async () => {
    expect((await manage('user', 'promote')).json.data).toEqual({ status: 1, role: 10 })
    expect((await manage('user', 'demote')).json.data).toEqual({ status: 1, role: 1 })
    const login = await api.call('POST', '/api/user/login', { body: { username: 'user', password } })
    expect((await manage('user', 'disable')).json.data).toEqual({ status: 2, role: 1 })
    expect((await manage('user', 'enable')).json.data).toEqual({ status: 1, role: 1 })
    // The ban ended the session permanently. Lifting the ban does not restore it.
    expect((await api.call('GET', '/api/user/self', { cookie: cookieOf(login) })).status).toBe(401)
    expect((await manage('user', 'delete')).json.success).toBe(true)
    expect((await manage('user', 'enable')).json.success).toBe(false)
    expect(await row(user.id)).toMatchObject({ status: 3, email: '', access_token_hash: null, quota: 1000 })
  })

  test('manage: unknown actions and users, actions without effect, and actions on equal or higher roles are refused', async () => {
    for (const [username, action, as] of [
      ['root', 'disable', root],
      ['root', 'delete', root],
      ['root', 'demote', root],
      ['admin', 'promote', root],
      ['user', 'demote', root],
      ['user', 'promote', admin],
      ['admin', 'disable', admin],
      ['root', 'disable', admin],
      ['nobody', 'disable', root],
      ['user', 'explode', root],
    ] as const) {
      const answer = await manage(username, action, as.token)
      expect([username, action, answer.status, answer.json.success]).toEqual([username, action, 200, false])
    }
  })

  test("deleting by id requires a role higher than the account's", async () => {
    const remove = (id: number, as: Person) => api.call('DELETE', `/api/user/${id}/`, { as: as.token })
    expect((await remove(root.id, root)).json.success).toBe(false)
    expect((await remove(admin.id, admin)).json.success).toBe(false)
    expect(await remove(user.id, admin)).toMatchObject({ status: 200, json: { success: true, message: '' } })
    expect((await remove(user.id, admin)).json.success).toBe(false)
  })

  test('every call refuses visitors with 401 and ordinary users with an error', async () => {
    for (const [method, path] of [
      ['GET', '/api/user/'],
      ['GET', '/api/user/search'],
      ['GET', `/api/user/${user.id}`],
      ['POST', '/api/user/'],
      ['PUT', '/api/user/'],
      ['POST', '/api/user/manage'],
      ['DELETE', `/api/user/${user.id}`],
    ] as const) {
      expect((await api.call(method, path)).status).toBe(401)
      const answer = await api.call(method, path, { as: user.token, ...(method === 'GET' ? {} : { body: {} }) })
      expect([path, answer.status, answer.json.success]).toEqual([path, 200, false])
      expect(answer.json.message).toContain('permission')
    }
  })

  test('admin actions leave an audit log', async () => {
    await manage('user', 'disable')
    await put({ id: user.id, quota: 5, password: 'battery staple' })
    const rows = await api.store.read.selectFrom('audit_events').selectAll().orderBy('id').execute()
    expect(rows.map((each) => [each.actor_name, each.action, each.target, each.detail])).toEqual([
      ['root', 'user.disable', `user ${user.id}`, 'user'],
      ['admin', 'user.update', `user ${user.id}`, 'password quota=1000 → 5'],
    ])
  })
})
