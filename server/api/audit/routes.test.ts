import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: { id: number; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
  })
  afterEach(() => api.store.close())

  const list = async (query = '') => {
    const answer = await api.call('GET', `/api/audit/?${query}`, { as: admin.token })
    const rows: { action: string; created_at: number; id: number }[] = answer.json.data
    return { rows, total: answer.headers.get('x-total-count') }
  }
  const actions = async (query: string) => (await list(query)).rows.map(({ action }) => action)

  test('shows what people did, newest first, with filters', async () => {
    const root = await api.addPerson({ username: 'root', role: 100 })
    const { id } = await api.addPerson({ username: 'bob' })
    const manage = (action: string) =>
      api.call('POST', '/api/user/manage', { as: root.token, body: { username: 'bob', action } })
    await manage('promote')
    api.time.ms += 10_000
    await manage('demote')
    await api.call('POST', '/api/user/login', { body: { username: 'eve', password: 'a wrong one' } })
    api.time.ms += 10_000
    await api.call('PUT', '/api/option/', { as: admin.token, body: { key: 'Notice', value: 'hello' } })

    const { rows, total } = await list()
    expect(rows.map(({ action }) => action)).toEqual(['option.update', 'login.fail', 'user.demote', 'user.promote'])
    expect(total).toBe('4')
    expect(rows[3]).toEqual({
      id: expect.any(Number),
      created_at: 1_700_000_000,
      actor_id: root.id,
      actor_name: 'root',
      action: 'user.promote',
      target: `user ${id}`,
      detail: 'bob',
      ip: '203.0.113.9',
    } as never)
    expect(await actions('actor=root')).toEqual(['user.demote', 'user.promote'])
    expect(await actions(`actor=${admin.id}`)).toEqual(['option.update'])
    expect(await actions('actor=0')).toEqual([])
    expect(await actions('actor=eve')).toEqual(['login.fail'])
    expect(await actions('action=user.')).toEqual(['user.demote', 'user.promote'])
    expect(await actions('action=%25')).toEqual([])
    expect(await actions('start_timestamp=1700000005&end_timestamp=1700000010')).toEqual(['login.fail', 'user.demote'])
    expect(await actions('p=1&size=3')).toEqual(['user.promote'])
    expect(await actions('order=asc&size=1')).toEqual(['user.promote'])
    expect(await actions('start_timestamp=NaN&p=-1&size=0')).toHaveLength(4)
  })

  test('visitors get 401, ordinary users a failure', async () => {
    const user = await api.addPerson()
    expect((await api.call('GET', '/api/audit/')).status).toBe(401)
    const answer = await api.call('GET', '/api/audit/', { as: user.token })
    expect([answer.status, answer.json.success]).toEqual([200, false])
  })
})
