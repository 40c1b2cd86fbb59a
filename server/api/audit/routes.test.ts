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

  test('an event contains the values before and after the change, and never a secret', async () => {
    const root = await api.addPerson({ username: 'root', role: 100 })
    const bob = await api.addPerson({ username: 'bob', quota: 500 })
    const eve = await api.addPerson({ username: 'eve' })
    const told = async (as: { token: string }, method: string, path: string, body?: unknown) => {
      const answer = await api.call(method, path, { as: as.token, ...(body !== undefined && { body }) })
      expect([path, answer.json.message]).toEqual([path, ''])
      const { rows } = await list('size=1')
      const event = rows[0] as unknown as { action: string; target: string; detail: string }
      return { ...event, data: answer.json.data }
    }
    const details = async (...ask: Parameters<typeof told>) => (await told(...ask)).detail

    const user = { id: bob.id, username: 'bob', display_name: 'bob', group: 'default' }
    const password = 'a secret of bob'
    expect(await details(root, 'PUT', '/api/user/', { ...user, quota: 700, group: 'vip', password })).toBe(
      'group="default" → "vip" password quota=500 → 700',
    )
    expect(await details(root, 'PUT', '/api/user/', { id: bob.id, quota_delta: -100, role: 10, rpm_limit: 5 })).toBe(
      'role=1 → 10 rpm_limit=0 → 5 quota=700 → 600',
    )
    expect(await details(eve, 'PUT', '/api/user/self', { username: 'eve', display_name: 'Eve E.' })).toBe(
      'display_name="eve" → "Eve E."',
    )

    const token = await told(eve, 'POST', '/api/token/', { name: 'mine', remain_quota: 10 })
    const of = { id: token.data.id }
    const edit = { ...of, name: 'mine', remain_quota: 30, unlimited_quota: true, models: 'gpt-4' }
    expect(await details(eve, 'PUT', '/api/token/', edit)).toBe(
      'unlimited_quota=false → true models=null → "gpt-4" remain_quota=10 → 30',
    )
    expect(await details(eve, 'PUT', '/api/token/?status_only=true', { ...of, status: 2 })).toBe('status=1 → 2')
    expect(await details(eve, 'DELETE', `/api/token/${of.id}/`)).toBe('"mine"')

    const channel = { type: 1, name: 'main', key: 'sk-of-upstream\nsk-of-other', models: 'gpt-4' }
    const ids: number[] = (await told(root, 'POST', '/api/channel/', channel)).data
    const [one, two] = ids
    const whole = { id: one, type: 1, name: 'first', key: 'sk-changed', models: 'gpt-4,o1', system_prompt: 'p' }
    expect(await details(root, 'PUT', '/api/channel/', whole)).toBe(
      'name="main" → "first" models="gpt-4" → "gpt-4,o1" system_prompt key',
    )
    expect(await details(root, 'POST', '/api/channel/batch', { ids, action: 'edit', priority: 3 })).toBe(
      `priority=0 → 3 (${one} ${two})`,
    )
    const mapped = (model_mapping: string) => details(root, 'PUT', '/api/channel/', { id: one, model_mapping })
    expect(await mapped('{}')).toBe('')
    expect(await mapped('{"a":"b","c":"d"}')).toBe('model_mapping')
    expect(await mapped('{\n  "c": "d",\n  "a": "b"\n}')).toBe('')
    expect(await mapped('')).toBe('model_mapping')
    await told(root, 'PUT', '/api/channel/', { id: two, status: 2 })
    expect(await details(root, 'POST', '/api/channel/batch', { ids, action: 'enable' })).toBe(
      `(${one}); status=2 → 1 (${two})`,
    )
    expect(await details(root, 'POST', '/api/channel/batch', { ids: [two], action: 'delete' })).toBe(`"main" (${two})`)
    expect(await details(root, 'DELETE', `/api/channel/${one}/`)).toBe('"first"')

    await told(root, 'POST', '/api/redemption/', { name: 'gift', quota: 5 })
    const code = (await api.call('GET', '/api/redemption/', { as: root.token })).json.data[0]
    expect(await details(root, 'PUT', '/api/redemption/', { ...code, name: 'gift', quota: 9 })).toBe('quota=5 → 9')
    expect(await details(root, 'DELETE', `/api/redemption/${code.id}/`)).toBe('name="gift" quota=9 status=1')

    await told(root, 'PUT', '/api/option/', { key: 'SMTPToken', value: 'mail secret' })
    const trail = JSON.stringify((await list('size=100')).rows)
    for (const secret of [password, 'sk-of-upstream', 'sk-changed', 'mail secret', token.data.key, code.key]) {
      expect([secret, trail.includes(secret)]).toEqual([secret, false])
    }
  })

  test('visitors get 401, and ordinary users get an error', async () => {
    const user = await api.addPerson()
    expect((await api.call('GET', '/api/audit/')).status).toBe(401)
    const answer = await api.call('GET', '/api/audit/', { as: user.token })
    expect([answer.status, answer.json.success]).toEqual([200, false])
  })
})
