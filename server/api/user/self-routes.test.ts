import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cookieOf, createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { hashPassword } from '../../lib/secrets/password.ts'

const password = 'correct horse'
const hash = await hashPassword(password)

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let me: { id: number; username: string; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    me = await api.addPerson({ password: hash, quota: 1234 })
  })
  afterEach(() => api.store.close())

  const update = (body: unknown, as = me.token) => api.call('PUT', '/api/user/self', { as, body })
  const self = async (as = me.token) => (await api.call('GET', '/api/user/self', { as })).json

  test("shows the caller's own account without any secret", async () => {
    const { data } = await self()
    expect(data).toMatchObject({
      id: me.id,
      username: me.username,
      quota: 1234,
      group: 'default',
      password: '',
      access_token: '',
    })
    expect(Object.keys(data)).not.toContain('access_token_hash')
  })

  test('changes only fields that are sent and that people are allowed to change', async () => {
    await update({ display_name: 'Ada L.' })
    expect((await self()).data).toMatchObject({ username: me.username, display_name: 'Ada L.' })
    await update({ username: 'ada', quota: 1e9, role: 100, status: 1, group: 'vip', password: '' })
    expect((await self()).data).toMatchObject({ username: 'ada', quota: 1234, role: 1, group: 'default' })
    await update({ display_name: '' })
    expect((await self()).data.display_name).toBe('')
  })

  test('refuses invalid and taken names and weak passwords', async () => {
    await api.addPerson({ username: 'taken' })
    for (const body of [
      { username: 'taken' },
      { username: 'TAKEN' },
      { username: 'more than 12 characters' },
      { username: 'a b' },
      { username: 'a@b.c' },
      { password: 'short' },
      { password: 'x'.repeat(129) },
      { display_name: 'x'.repeat(21) },
      { username: 7 },
    ]) {
      const answer = await update(body)
      expect([body, answer.status, answer.json.success]).toEqual([body, 200, false])
      expect(answer.json.message).not.toMatch(/unique|constraint|SQLITE/i)
    }
    expect((await update({ username: 'taken' })).json.message).toBe('This username is already taken.')
    expect((await update({ username: 'zwölf字' })).json.success).toBe(true)
  })

  test('a new password ends every other session, invalidates the access token, and gives the caller a new session', async () => {
    const login = () => api.call('POST', '/api/user/login', { body: { username: me.username, password } })
    const [mine, other] = [cookieOf(await login()), cookieOf(await login())]
    const answer = await api.call('PUT', '/api/user/self', { cookie: mine, body: { password: 'battery staple' } })
    expect(answer.json.success).toBe(true)
    for (const cookie of [mine, other]) expect((await api.call('GET', '/api/user/self', { cookie })).status).toBe(401)
    expect((await api.call('GET', '/api/user/self', { cookie: cookieOf(answer) })).status).toBe(200)
    expect((await login()).json.success).toBe(false)
    expect((await self()).success).toBe(false)
    // Changing the password with an access token also invalidates that token, so anyone else who knows it is locked
    // out.
    const program = await api.addPerson()
    const change = { as: program.token, body: { password: 'battery staple' } }
    expect((await api.call('PUT', '/api/user/self', change)).json.success).toBe(true)
    expect((await self(program.token)).success).toBe(false)
  })

  test('a new access token replaces the old one and is stored as a hash', async () => {
    const { data } = (await api.call('GET', '/api/user/token', { as: me.token })).json
    expect(data).toMatch(/^[0-9a-f]{32}$/)
    expect((await self()).success).toBe(false)
    expect((await self(data)).data.id).toBe(me.id)
    const rows = await api.store.read.selectFrom('users').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(data)
  })

  test('creating an access token does not affect the quota that calls spend at the same time', async () => {
    const spend = api.store.write((trx) =>
      trx
        .updateTable('users')
        .set((eb) => ({ quota: eb('quota', '-', 34) }))
        .where('id', '=', me.id)
        .execute(),
    )
    const [answer] = await Promise.all([api.call('GET', '/api/user/token', { as: me.token }), spend])
    expect((await self(answer.json.data)).data.quota).toBe(1200)
  })

  test('people can delete their account; root cannot', async () => {
    const root = await api.addPerson({ role: 100 })
    expect((await api.call('DELETE', '/api/user/self', { as: root.token })).json.success).toBe(false)
    const login = await api.call('POST', '/api/user/login', { body: { username: me.username, password } })
    expect((await api.call('DELETE', '/api/user/self', { cookie: cookieOf(login) })).json.success).toBe(true)
    expect((await api.call('GET', '/api/user/self', { cookie: cookieOf(login) })).status).toBe(401)
    expect((await self()).success).toBe(false)
    expect((await api.call('GET', '/api/user/', { as: root.token })).json.data).toHaveLength(1)
    expect(api.notices).toContainEqual({ topic: 'user', id: me.id })
    // The name can be used again.
    await api.addPerson({ username: me.username })
  })

  test("the available models are those of the caller's own group", async () => {
    const admin = await api.addPerson({ role: 10 })
    const add = (body: object) =>
      api.call('POST', '/api/channel/', { as: admin.token, body: { key: 'k', name: 'c', ...body } })
    await add({ models: 'b,a', group: 'default' })
    await add({ models: 'a,c', group: 'default,vip' })
    await add({ models: 'd', group: 'vip' })
    await add({ models: 'e', group: 'default', status: 2 })
    expect((await api.call('GET', '/api/user/available_models', { as: me.token })).json.data).toEqual(['a', 'b', 'c'])
  })

  test('every call refuses visitors', async () => {
    for (const [method, path] of [
      ['GET', '/api/user/self'],
      ['PUT', '/api/user/self'],
      ['DELETE', '/api/user/self'],
      ['GET', '/api/user/token'],
      ['GET', '/api/user/available_models'],
    ] as const) {
      expect((await api.call(method, path)).status).toBe(401)
    }
  })
})
