import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { addAccountLog } from '../../store/logs/logs.ts'

type Person = { id: number; username: string; token: string }

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Person
  let ada: Person
  let bob: Person

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada' })
    bob = await api.addPerson({ username: 'bob' })
  })
  afterEach(() => api.store.close())

  /** A log row as the ledger writes it. */
  const add = (who: Person, fields: object = {}) =>
    api.store.write(async (trx) => {
      await addAccountLog(trx, {
        user_id: who.id,
        username: who.username,
        created_at: 1000,
        type: 2,
        content: 'ratio 1.00',
      })
      if (Object.keys(fields).length === 0) return
      await trx
        .updateTable('logs')
        .set(fields)
        .where('id', '=', (eb) => eb.selectFrom('logs').select((inner) => inner.fn.max<number>('id').as('last')))
        .execute()
    })
  const get = async (path: string, as = admin) =>
    (await api.call('GET', `/api/log/${path}`, { as: as.token })).json.data

  test('admins see all rows, with the id of the channel as `channel`', async () => {
    await add(ada, { quota: 5, channel_id: 7, is_stream: true, attempts: '[1]', token_name: 't', request_id: 'r' })
    await add(bob)
    const rows = await get('')
    expect(rows.map((row: { username: string }) => row.username)).toEqual(['bob', 'ada'])
    expect(rows[1]).toMatchObject({
      channel: 7,
      is_stream: true,
      estimated: false,
      attempts: '[1]',
      quota: 5,
      request_id: 'r',
    })
    expect(rows[1]).not.toHaveProperty('channel_id')
  })

  test('people see only their own rows, no matter what they request, and not which channel served them', async () => {
    await add(ada, { channel_id: 7, attempts: '[1]' })
    await add(bob)
    for (const path of ['self', 'self/', 'self?username=bob&user_id=3&channel=8']) {
      const rows = await get(path, ada)
      expect(rows).toHaveLength(1)
      expect(rows[0]).toMatchObject({ username: 'ada', channel: 0, attempts: '' })
    }
    expect(await get('self/search?keyword=ratio', bob)).toHaveLength(1)
  })

  test("a row is found by its id; only admins find other people's rows", async () => {
    await add(ada, { upstream_message: 'said', model_name: 'm' })
    await add(bob)
    const [, { id }] = await get('')
    expect((await get(`?id=${id}`)).map((row: { id: number }) => row.id)).toEqual([id])
    expect((await get(`self?id=${id}`, ada))[0]).toMatchObject({ id, upstream_message: '' })
    expect(await get(`self?id=${id}`, bob)).toEqual([])
    expect(await get('?id=999999')).toEqual([])
  })

  test('filters are exact and can be combined, and an empty field does not filter', async () => {
    await add(ada, { token_name: 't1', model_name: 'gpt-4', created_at: 100 })
    await add(ada, { token_name: 't2', model_name: 'gpt-4', created_at: 200, channel_id: 3 })
    await add(bob, { type: 4, created_at: 300 })
    const count = async (query: string) => (await get(`?${query}`)).length
    expect(await count('username=ada')).toBe(2)
    expect(await count('username=a')).toBe(0)
    expect(await count('model_name=gpt-4&token_name=t2')).toBe(1)
    expect(await count('type=4')).toBe(1)
    expect(await count('start_timestamp=200&end_timestamp=300')).toBe(2)
    expect(await count('channel=3')).toBe(1)
    expect(await count('start_timestamp=NaN&type=&end_timestamp=0')).toBe(3)
  })

  test('an unreadable filter, or one that is out of bounds, is refused everywhere', async () => {
    await add(ada, { quota: 10 })
    const refused = [
      ['username', 'a'.repeat(201)],
      ['model_name', 'a'.repeat(201)],
      ['token_name', '😀'.repeat(201)],
      ...['channel', 'type', 'start_timestamp', 'end_timestamp'].flatMap((name) =>
        ['-1', '1e16', '1.5', 'abc', 'Infinity', '-Infinity', '9007199254740993', '[1]'].map((value) => [name, value]),
      ),
    ] as const
    const paths = [
      '/api/log/',
      '/api/log/stat',
      '/api/log/export',
      '/api/log/histogram',
      '/api/usage/',
      '/api/log/stream',
    ]
    for (const path of paths) {
      for (const [name = '', value = ''] of refused) {
        if (path === '/api/usage/' && name === 'type') continue
        if (path === '/api/log/stream' && name.endsWith('timestamp')) continue
        const query = new URLSearchParams({ [name]: value })
        const answer = await api.call('GET', `${path}?${query}`, { as: admin.token })
        expect({ path, name, value, success: answer.json?.success }).toEqual({ path, name, value, success: false })
        expect(answer.json.message).toStartWith(`${name} `)
      }
    }
  })

  test('lists ten rows per page, with the total number', async () => {
    for (let i = 0; i < 11; i++) await add(ada, { quota: i })
    const answer = await api.call('GET', '/api/log/?p=1', { as: admin.token })
    expect(answer.json.data.map((row: { quota: number }) => row.quota)).toEqual([0])
    expect(answer.headers.get('x-total-count')).toBe('11')
    expect(answer.headers.has('x-matching-count')).toBe(false)
    const sorted = await api.call('GET', '/api/log/?sort=quota&order=asc&size=2', { as: admin.token })
    expect(sorted.json.data.map((row: { quota: number }) => row.quota)).toEqual([0, 1])
    expect([sorted.headers.get('x-total-count'), sorted.headers.get('x-matching-count')]).toEqual(['11', '11'])
  })

  test('the statistic sums the quota and the tokens of consume logs', async () => {
    await add(ada, { quota: 10, prompt_tokens: 3, completion_tokens: 4 })
    await add(ada, { quota: 5, prompt_tokens: 1, model_name: 'gpt-4' })
    await add(ada, { type: 1, quota: 1000 })
    await add(bob, { quota: 7 })
    expect(await get('stat')).toEqual({ quota: 22, token: 8, calls: 3, failed: 0 })
    expect(await get('stat?type=1&username=ada')).toEqual({ quota: 15, token: 8, calls: 2, failed: 0 })
    expect(await get('self/stat?model_name=gpt-4', ada)).toEqual({ quota: 5, token: 1, calls: 1, failed: 0 })
    expect(await get('self/stat?username=bob', ada)).toEqual({ quota: 15, token: 8, calls: 2, failed: 0 })
    expect(await get('stat?username=nobody')).toEqual({ quota: 0, token: 0, calls: 0, failed: 0 })
  })

  test('search: finds at most 100 rows, by type number or by prefix of the content', async () => {
    await add(ada, { content: '100% sure' })
    await add(bob, { type: 4, content: 'bonus' })
    expect(await get('search?keyword=4')).toHaveLength(1)
    expect(await get(`search?keyword=${encodeURIComponent('100%')}`)).toHaveLength(1)
    expect(await get(`search?keyword=${encodeURIComponent('%')}`)).toHaveLength(0)
    for (let i = 0; i < 101; i++) await add(ada)
    expect(await get('search?keyword=')).toHaveLength(100)
  })

  test("search: finds the row of a request, no matter in which hour the call ended, but not somebody else's row", async () => {
    const startedAt = Date.UTC(2026, 4, 1, 10, 59, 50) / 1000
    const id = '2026050110595012300000112345678'
    await add(ada, { created_at: startedAt - 7200, request_id: 'before' })
    await add(bob, { created_at: startedAt, request_id: id.replace(/8$/, '9') })
    await add(ada, { created_at: startedAt + 4000, request_id: id })
    await add(bob, { created_at: startedAt + 4001, request_id: 'after' })
    const found = await get(`search?keyword=${id}`)
    expect(found).toMatchObject([{ request_id: id, username: 'ada' }])
    expect(await get(`self/search?keyword=${id}`, ada)).toMatchObject([{ request_id: id }])
    expect(await get(`self/search?keyword=${id}`, bob)).toEqual([])
    expect(await get('search?keyword=2026139910595012300000112345678')).toEqual([])
  })

  test('a purge adds the quota of the deleted rows to `unlogged_quota`', async () => {
    const key = api.secrets.seal('k', 'channel')
    const channelId = await api.store.write(async (trx) => {
      const channel = {
        type: 1,
        key,
        name: '',
        weight: 0,
        created_time: 0,
        test_time: 0,
        response_time: 0,
        base_url: '',
      }
      const rest = {
        other: '',
        balance: 0,
        balance_updated_time: 0,
        models: '',
        group: '',
        used_quota: 35,
        model_mapping: '',
      }
      const last = { priority: 0, config: '', system_prompt: '', unlogged_quota: 0, status: 1 }
      const made = await trx
        .insertInto('channels')
        .values({ ...channel, ...rest, ...last })
        .returning('id')
        .executeTakeFirstOrThrow()
      await trx.updateTable('users').set({ used_quota: 35 }).where('id', '=', ada.id).execute()
      return made.id
    })
    const token = (await api.call('POST', '/api/token/', { as: ada.token, body: {} })).json.data
    const call = { token_id: token.id, channel_id: channelId }
    await add(ada, { ...call, quota: 10, created_at: 100 })
    await add(ada, { ...call, quota: 5, created_at: 199 })
    await add(ada, { ...call, quota: 20, created_at: 200 })
    await add(ada, { type: 1, quota: 1000, created_at: 100 })
    const purge = await api.call('DELETE', '/api/log/?target_timestamp=200', { as: admin.token })
    expect(purge.json).toEqual({ success: true, message: '', data: 3 })
    expect((await get('')).map((row: { quota: number }) => row.quota)).toEqual([20])
    const trail = await api.store.read.selectFrom('audit_events').selectAll().orderBy('id', 'desc').limit(2).execute()
    expect(trail.map(({ actor_name, action, detail }) => [actor_name, action, detail])).toEqual([
      ['admin', 'log.purged', '3 logs older than 200'],
      ['admin', 'log.purge', 'older than 200'],
    ])
    for (const [table, id] of [
      ['users', ada.id],
      ['tokens', token.id],
      ['channels', channelId],
    ] as const) {
      const row = await api.store.read
        .selectFrom(table)
        .select('unlogged_quota')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      expect([table, row.unlogged_quota]).toEqual([table, 15])
    }
  })

  test('two simultaneous purges of many rows count each deleted row and its quota once', async () => {
    await api.store.write(async (trx) => {
      await addAccountLog(trx, { user_id: ada.id, username: 'ada', created_at: 5, type: 2, content: '' })
      await trx.updateTable('logs').set({ quota: 1 }).execute()
      for (let i = 0; i < 12; i++) {
        const rows = await trx.selectFrom('logs').selectAll().execute()
        await trx
          .insertInto('logs')
          .values(rows.slice(0, 500).map(({ id, ...row }) => row))
          .execute()
      }
    })
    const total = (await get('stat')).quota
    expect(total).toBeGreaterThan(2000)
    const purge = () => api.call('DELETE', '/api/log/?target_timestamp=10', { as: admin.token })
    const deleted = (await Promise.all([purge(), purge()])).reduce((sum, answer) => sum + answer.json.data, 0)
    expect(deleted).toBe(total)
    const row = await api.store.read
      .selectFrom('users')
      .select('unlogged_quota')
      .where('id', '=', ada.id)
      .executeTakeFirstOrThrow()
    expect(row.unlogged_quota).toBe(total)
  })

  test('a purge requires a time', async () => {
    await add(ada)
    for (const query of ['', '?target_timestamp=0', '?target_timestamp=x']) {
      expect((await api.call('DELETE', `/api/log/${query}`, { as: admin.token })).json.success).toBe(false)
    }
    expect(await get('')).toHaveLength(1)
  })

  test('visitors get 401, and people who are not admins cannot use the endpoints for admins', async () => {
    for (const path of ['', 'stat', 'search', 'self', 'self/stat', 'self/search']) {
      expect((await api.call('GET', `/api/log/${path}`)).status).toBe(401)
    }
    for (const path of ['', 'stat', 'search']) {
      expect((await api.call('GET', `/api/log/${path}`, { as: ada.token })).json.success).toBe(false)
    }
    expect((await api.call('DELETE', '/api/log/?target_timestamp=5000', { as: ada.token })).json.success).toBe(false)
  })
})
