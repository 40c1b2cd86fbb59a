import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: { token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
  })
  afterEach(() => api.store.close())

  const send = async (method: 'POST' | 'PUT', body: object) =>
    (await api.call(method, '/api/channel/', { as: admin.token, body })).json
  const create = async (limits: unknown[] = [], fields = {}) =>
    send('POST', { name: 'one', key: 'k', models: 'm', limits, ...fields })
  const get = async (id: number) => (await api.call('GET', `/api/channel/${id}`, { as: admin.token })).json.data
  const calls = { metric: 'calls', window: 'now', most: 7 }
  const shown = { owner: 'channel', models: '', raise: 0, raise_until: 0, zone: 'UTC' }

  test('limits are stored with a channel, shown in lists, copied, and deleted with it', async () => {
    const perDay = {
      metric: 'quota',
      window: 'day',
      most: 5,
      models: 'gpt-4*, a',
      raise: 3,
      raise_until: 2_000_000_000,
    }
    const [id] = (await create([calls, perDay])).data
    const limits = [
      { ...shown, ...calls },
      { ...shown, ...perDay, models: 'a,gpt-4*' },
    ]
    expect((await get(id)).limits).toEqual(limits)
    const list = (await api.call('GET', '/api/channel/', { as: admin.token })).json.data
    expect(list[0].limits).toEqual(limits)
    const copy = (await api.call('POST', `/api/channel/${id}/copy`, { as: admin.token, body: {} })).json.data
    expect((await get(copy)).limits).toEqual(limits)
    // Sending the whole record back changes nothing. A request without `limits` leaves the limits unchanged.
    await send('PUT', list[0])
    await send('PUT', { id, weight: 3 })
    expect((await get(id)).limits).toEqual(limits)
    await send('PUT', { id, limits: [] })
    expect((await get(id)).limits).toEqual([])
    await api.call('DELETE', `/api/channel/${copy}`, { as: admin.token })
    expect(await api.store.read.selectFrom('caps').selectAll().execute()).toEqual([])
  })

  test('the audit log says what changed', async () => {
    const [id] = (await create()).data
    await send('PUT', { id, limits: [calls], draining: true })
    await send('PUT', { id, limits: [calls] })
    const rows = await api.store.read
      .selectFrom('audit_events')
      .select('detail')
      .where('action', '=', 'channel.update')
      .orderBy('id')
      .execute()
    expect(rows.map(({ detail }) => detail)).toEqual(['draining=false → true limits=none → 7 calls/now', ''])
  })

  test('refuses limits that are contradictory, out of range or too many', async () => {
    const refused: [unknown[], RegExp][] = [
      [[{ ...calls, window: 'day' }], /must have the window "now"/],
      [[{ ...calls, metric: 'tokens' }], /must have the window "now"/],
      [[calls, { ...calls, most: 9 }], /same metric, window and models/],
      [[{ ...calls, zone: 'Mars/Olympus' }], /time zone/],
      [[{ ...calls, zone: "UTC'; drop table caps" }], /time zone/],
      [[{ ...calls, most: 0 }], /most/],
      [[{ ...calls, most: 1e16 }], /most/],
      [[{ ...calls, most: 1.5 }], /most/],
      [[{ ...calls, metric: 'money' }], /metric/],
      [[{ ...calls, window: 'year' }], /window/],
      [[{ ...calls, owner: 'user' }], /owner/],
      [[{ ...calls, raise: -1 }], /raise/],
      [[{ ...calls, raise: 1 }], /time until which the raised limit applies/],
      [[{ ...calls, models: 'a'.repeat(2001) }], /models/],
      [[{ ...calls, models: '*a*a*a*a*' }], /asterisks/],
      [Array.from({ length: 21 }, (_, most) => ({ ...calls, models: `m${most}` })), /limits/],
    ]
    for (const [limits, message] of refused) {
      const answer = await create(limits)
      expect({ limits, ...answer }).toMatchObject({ success: false })
      expect(answer.message).toMatch(message)
    }
    expect(await api.store.read.selectFrom('channels').select('id').execute()).toEqual([])
  })

  test('in a model name of a limit, only the asterisk has a special meaning', async () => {
    const names = ["m') or true --", '(a+)+$', '.*', '[a-z]{2}', 'a|b', '\\d']
    const [id] = (await create(names.map((models) => ({ metric: 'requests', window: 'day', most: 1, models })))).data
    const caps = await api.store.read.selectFrom('caps').select(['models', 'pattern']).orderBy('id').execute()
    for (const { models, pattern } of caps) {
      const expression = new RegExp(pattern ?? '')
      expect(expression.test(models.replaceAll('*', 'x'))).toBe(true)
      expect(expression.test('other')).toBe(false)
      expect(expression.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')).toBe(false)
    }
    expect((await get(id)).limits).toHaveLength(names.length)
  })

  test('only admins see how much of each limit is in use', async () => {
    await create([calls], { draining: true })
    const user = await api.addPerson({ username: 'user', role: 1 })
    expect((await api.call('GET', '/api/channel/limits', { as: user.token })).json.success).toBe(false)
    const { channels } = (await api.call('GET', '/api/channel/limits', { as: admin.token })).json.data
    expect(channels).toMatchObject([
      { name: 'one', draining: true, waiting: 0, limits: [{ metric: 'calls', allowed: 7, used: 0, resets_at: 0 }] },
    ])
  })
})
