import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cookieOf, createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { hashPassword } from '../../lib/secrets/password.ts'

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
    admin = await api.addPerson({ username: 'admin', role: 10, password: hash })
    user = await api.addPerson({ username: 'user', quota: 1000, password: hash })
  })
  afterEach(() => api.store.close())

  const get = (path: string, as = admin.token) => api.call('GET', path, { as })
  const addToken = async (body: object, as = user.token) =>
    (await api.call('POST', '/api/token/', { as, body })).json.data as { id: number; key: string }
  const setStatus = (id: number, status: number, owner = user.id, as = admin.token) =>
    api.call('PUT', `/api/user/${owner}/tokens/${id}`, { as, body: { status } })
  const logIn = async (person: Person, headers: Record<string, string> = {}, address = '198.51.100.7') =>
    cookieOf(
      await api.call('POST', '/api/user/login', {
        body: { username: person.username, password },
        ...{ headers, address },
      }),
    )
  const audited = async () =>
    (await api.store.read.selectFrom('audit_events').selectAll().orderBy('id').execute()).map(
      ({ actor_name, action, target, detail }) => [actor_name, action, target, detail],
    )

  test("an admin sees a user's tokens page by page, with the status that the next request will check, and without any part of a key", async () => {
    const now = Math.floor(api.time.ms / 1000)
    const plain = await addToken({ name: 'plain', unlimited_quota: true })
    const old = await addToken({ name: 'old', unlimited_quota: true, expired_time: now + 5 })
    const empty = await addToken({ name: 'empty', remain_quota: 0 })
    for (let i = 0; i < 9; i++) await addToken({ name: `more ${i}`, remain_quota: 5 })
    await addToken({ name: 'of another', unlimited_quota: true }, admin.token)
    api.time.ms += 60_000
    const first = await get(`/api/user/${user.id}/tokens`)
    expect(first.json.data).toHaveLength(10)
    expect(first.headers.get('x-total-count')).toBe('12')
    const all = (await get(`/api/user/${user.id}/tokens?size=100&sort=id&order=asc`)).json.data
    expect(all.slice(0, 4).map(({ id, status }: { id: number; status: number }) => [id, status])).toEqual([
      [plain.id, 1],
      [old.id, 3],
      [empty.id, 4],
      [empty.id + 1, 1],
    ])
    expect(Object.keys(all[0]).sort()).toEqual(
      [
        ...['accessed_time', 'created_time', 'expired_time', 'group', 'id', 'name', 'project', 'remain_quota'],
        ...['status', 'unlimited_quota', 'used_quota'],
      ].sort(),
    )
    const seen = JSON.stringify([first.json, all])
    const stored = await api.store.read.selectFrom('tokens').select(['key', 'key_hash']).execute()
    for (const secret of [plain.key, ...stored.flatMap((row) => [row.key, row.key_hash])])
      expect(seen).not.toContain(secret)
  })

  test('an admin disables and enables a token; its owner sees the change, all nodes are notified, and the audit log records it', async () => {
    const { id } = await addToken({ name: 'mine', unlimited_quota: true })
    api.notices.length = 0
    const changed = await setStatus(id, 2)
    expect(changed.json).toMatchObject({ success: true, data: { id, name: 'mine', status: 2 } })
    expect(JSON.stringify(changed.json)).not.toContain('key')
    expect(api.notices).toContainEqual({ topic: 'token', id })
    expect((await get(`/api/token/${id}`, user.token)).json.data.status).toBe(2)
    expect((await setStatus(id, 1)).json.data.status).toBe(1)
    expect((await audited()).slice(-2)).toEqual([
      ['admin', 'token.update', `token ${id}`, 'status=1 → 2 owner="user"'],
      ['admin', 'token.update', `token ${id}`, 'status=2 → 1 owner="user"'],
    ])
  })

  test("a token's status can be set only to 1 or 2; an expired token cannot be enabled; other fields are refused", async () => {
    const { id } = await addToken({ name: 'mine', unlimited_quota: true })
    for (const status of [0, 3, 4]) expect((await setStatus(id, status)).json.message).toBe('status must be 1 or 2.')
    await api.store.write((trx) => trx.updateTable('tokens').set({ status: 3, expired_time: 5 }).execute())
    expect((await setStatus(id, 1)).json.message).toBe('The token has expired. Set a later expiry first.')
    const more = await api.call('PUT', `/api/user/${user.id}/tokens/${id}`, {
      as: admin.token,
      body: { status: 2, remain_quota: 5 },
    })
    expect(more.json.message).toBe('The input has unknown fields: remain_quota.')
    expect((await setStatus(id, 2, admin.id)).json.message).toBe('Token not found.')
    expect((await setStatus(id, 2, 12_345)).json.message).toBe('User not found.')
  })

  test("an admin sees the address and client of each of a user's sessions, and ends one session or all", async () => {
    const phone = await logIn(user, { 'user-agent': 'Phone/1.0' })
    api.time.ms += 1000
    const laptop = await logIn(user, { 'user-agent': `Laptop/2.0 ${'x'.repeat(400)}` }, '198.51.100.8')
    const self = (cookie: string) => api.call('GET', '/api/user/self', { cookie })
    const list = async () => (await get(`/api/user/${user.id}/sessions`)).json.data
    const began = Math.floor(api.time.ms / 1000)
    const shown = await list()
    expect(shown).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        ...{ created_time: began, last_seen_time: began, expires_time: began + 30 * 86_400 },
        ...{ address: '198.51.100.8', client: `Laptop/2.0 ${'x'.repeat(289)}`, current: false },
      },
      expect.objectContaining({ address: '198.51.100.7', client: 'Phone/1.0', created_time: began - 1 }),
    ])
    for (const cookie of [phone, laptop])
      expect(JSON.stringify(shown)).not.toContain(cookie.slice('session='.length, 'session='.length + 16))
    // A later request from another address updates the session's address and client.
    api.time.ms += 600_000
    await api.call('GET', '/api/user/self', { cookie: phone, address: '2001:db8::1', headers: { 'user-agent': 'P/2' } })
    expect((await list())[0]).toMatchObject({
      ...{ address: '2001:db8::1', client: 'P/2', last_seen_time: began + 600, created_time: began - 1 },
    })
    const end = (path: string) => api.call('DELETE', `/api/user/${user.id}/sessions${path}`, { as: admin.token })
    expect((await end(`/${shown[0].id}`)).json.success).toBe(true)
    expect((await self(laptop)).status).toBe(401)
    expect((await self(phone)).status).toBe(200)
    expect((await end(`/${shown[0].id}`)).json.message).toBe('Session not found.')
    expect((await end('/0123456789abcdeg')).json.success).toBe(false)
    await logIn(user)
    expect((await end('')).json.data).toBe(2)
    expect((await self(phone)).status).toBe(401)
    expect(await list()).toEqual([])
    expect((await audited()).filter(([, action]) => action?.startsWith('user.end'))).toEqual([
      [
        ...['admin', 'user.end-session', `user ${user.id}`],
        `user, session="${shown[0].id}" created_time=${began} client="Laptop/2.0 ${'x'.repeat(189)}…"`,
      ],
      ['admin', 'user.end-sessions', `user ${user.id}`, 'user, 2 sessions'],
    ])
  })

  test('an admin who ends all sessions of their own account keeps the current session', async () => {
    const mine = await logIn(admin)
    const other = await logIn(admin)
    const path = `/api/user/${admin.id}/sessions`
    const current = (await api.call('GET', path, { cookie: mine })).json.data
    expect(current.map((each: { current: boolean }) => each.current).sort()).toEqual([false, true])
    const headers = { origin: 'http://localhost' }
    expect((await api.call('DELETE', path, { cookie: mine, headers })).json.data).toBe(1)
    expect((await api.call('GET', '/api/user/self', { cookie: mine })).status).toBe(200)
    expect((await api.call('GET', '/api/user/self', { cookie: other })).status).toBe(401)
  })

  test('a session cannot be ended under the id of another user, and root can end the sessions of every user', async () => {
    const cookie = await logIn(admin)
    const [{ id }] = (await get(`/api/user/${admin.id}/sessions`, root.token)).json.data
    const ended = await api.call('DELETE', `/api/user/${user.id}/sessions/${id}`, { as: root.token })
    expect(ended.json.message).toBe('Session not found.')
    expect((await api.call('GET', '/api/user/self', { cookie })).status).toBe(200)
    expect((await api.call('DELETE', `/api/user/${admin.id}/sessions/${id}`, { as: root.token })).json.success).toBe(
      true,
    )
    expect((await api.call('GET', '/api/user/self', { cookie })).status).toBe(401)
  })
})
