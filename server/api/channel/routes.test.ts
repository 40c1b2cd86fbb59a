import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi, testCatalogue } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

const secret = 'sk-upstream-secret'
const plain = { name: 'main', key: secret, models: 'gpt-4', type: 1 }

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: { id: number; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ role: 10 })
  })
  afterEach(() => api.store.close())

  const create = async (body: object = {}) =>
    (await api.call('POST', '/api/channel/', { as: admin.token, body: { ...plain, ...body } })).json
  const put = async (body: object) => (await api.call('PUT', '/api/channel/', { as: admin.token, body })).json
  const get = async (path: string) => (await api.call('GET', `/api/channel/${path}`, { as: admin.token })).json
  const remove = async (path: string) => (await api.call('DELETE', `/api/channel/${path}`, { as: admin.token })).json
  const row = (id: number) =>
    api.store.read.selectFrom('channels').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const abilities = async (id: number) => {
    const rows = await api.store.read
      .selectFrom('abilities')
      .selectAll()
      .where('channel_id', '=', id)
      .orderBy('group')
      .orderBy('model')
      .execute()
    return rows.map((each) => `${each.group}/${each.model} ${Boolean(each.enabled)} ${each.priority}`)
  }

  test('a new channel gets one ability for each pair of group and model', async () => {
    const { data, success } = await create({
      models: 'gpt-4, gpt-4,,o1 ',
      group: 'default,vip',
      priority: 3,
      weight: 7,
    })
    expect(success).toBe(true)
    const channel = (await get(String(data[0]))).data
    expect(channel).toEqual({
      id: data[0],
      type: 1,
      key: '',
      status: 1,
      name: 'main',
      weight: 7,
      created_time: 1_700_000_000,
      test_time: 0,
      response_time: 0,
      base_url: '',
      other: '',
      balance: 0,
      balance_updated_time: 0,
      models: 'gpt-4,o1',
      draining: false,
      managed_by: '',
      limits: [],
      group: 'default,vip',
      used_quota: 0,
      model_mapping: '',
      priority: 3,
      config: '',
      system_prompt: '',
      key_mode: 'single',
      key_count: 1,
      status_reason: '',
      status_time: 0,
      keys_dead: 0,
      missing: [],
      test_error: '',
      tags: [],
      remark: '',
      test_model: '',
      organization: '',
      project: '',
      headers: {},
      parameters: [],
      status_map: {},
      proxy: '',
      proxy_has_login: false,
    })
    expect(await abilities(data[0])).toEqual([
      'default/gpt-4 true 3',
      'default/o1 true 3',
      'vip/gpt-4 true 3',
      'vip/o1 true 3',
    ])
    expect(api.notices).toContainEqual({ topic: 'channels', id: data[0] })
  })

  test('creates one channel per line of the key, with the keys encrypted', async () => {
    const { data } = await create({ key: ` ${secret}1 \r\n\n${secret}2\n` })
    expect(data).toHaveLength(2)
    const keys = await Promise.all(data.map(async (id: number) => api.secrets.open((await row(id)).key, 'channel')))
    expect(keys).toEqual([`${secret}1`, `${secret}2`])
    expect(JSON.stringify(await api.store.read.selectFrom('channels').selectAll().execute())).not.toContain(secret)
  })

  test('no response and no audit event ever contains a key', async () => {
    const { data } = await create()
    const answers = [
      await get(''),
      await get('search?keyword=main'),
      await get(String(data[0])),
      await put({ id: data[0], key: `${secret}-new`, name: 'x' }),
      await api.store.read.selectFrom('audit_events').selectAll().execute(),
    ]
    expect(JSON.stringify(answers)).not.toContain(secret)
    expect(JSON.stringify(answers)).not.toContain('v1.')
    expect(api.secrets.open((await row(data[0])).key, 'channel')).toBe(`${secret}-new`)
  })

  test('name, key and a model are required; nothing is created without them', async () => {
    const needed = 'please fill in channel name and channel key!'
    expect((await create({ name: '' })).message).toBe(needed)
    expect((await create({ key: ' \n ' })).message).toBe(needed)
    expect((await create({ models: ' , ' })).message).toBe('please select at least one model!')
    expect((await create({ models: undefined })).message).toBe('please select at least one model!')
    expect((await get('')).data).toEqual([])
  })

  test('fields are validated', async () => {
    const cases: [body: object, word: string][] = [
      [{ model_mapping: '{' }, 'model mapping'],
      [{ model_mapping: '[]' }, 'model mapping'],
      [{ model_mapping: '{"a":1}' }, 'model mapping'],
      [{ config: '[]' }, 'config'],
      [{ config: '{"connect_timeout":"5"}' }, 'connect_timeout'],
      [{ config: '{"http_version":"3"}' }, 'http_version'],
      [{ config: '{"nonsense":1}' }, 'nonsense'],
      [{ config: '{"region":"evil.example/"}' }, 'region'],
      [{ base_url: 'api.example.com' }, 'base_url'],
      [{ base_url: 'file:///etc/passwd' }, 'base_url'],
      [{ base_url: 'http://169.254.169.254/latest' }, 'metadata'],
      [{ base_url: 'http://[::ffff:a9fe:a9fe]' }, 'metadata'],
      [{ base_url: 'https://user:pw@example.com' }, 'base_url'],
      [{ base_url: 'https://example.com/v1?key=1' }, 'base_url must not contain a query'],
      [{ base_url: 'https://example.com/#' }, 'base_url must not contain a query'],
      [{ base_url: 'https://example.com/v1?' }, 'base_url must not contain a query'],
      [{ weight: -1 }, 'weight'],
      [{ priority: 1.5 }, 'priority'],
      [{ status: 4 }, 'status'],
      [{ type: 999 }, 'type'],
    ]
    for (const [body, word] of cases) {
      const answer = await create(body)
      expect([body, answer.success]).toEqual([body, false])
      expect(answer.message).toContain(word)
    }
  })

  test('fields are normalised', async () => {
    const { data } = await create({
      type: 0,
      status: 0,
      base_url: ' http://localhost:11434/v1// ',
      model_mapping: '',
      group: '',
      config: '{"region":"","sk":"","api_version":"2024-01-01","relay_timeout":60}',
      used_quota: 5,
      balance: 5,
    })
    expect(await row(data[0])).toMatchObject({
      type: 1,
      status: 1,
      base_url: 'http://localhost:11434/v1',
      model_mapping: '{}',
      group: 'default',
      config: '{"api_version":"2024-01-01","relay_timeout":60}',
      used_quota: 0,
      balance: 0,
    })
  })

  test('a request with only {id, status} leaves the other fields unchanged, and the abilities follow the status', async () => {
    const { data } = await create({ base_url: 'http://a.example', priority: 2 })
    const off = await put({ id: data[0], status: 2 })
    expect(off.data).toMatchObject({
      status: 2,
      name: 'main',
      models: 'gpt-4',
      base_url: 'http://a.example',
      priority: 2,
    })
    expect(await abilities(data[0])).toEqual(['default/gpt-4 false 2'])
    await put({ id: data[0], status: 1 })
    expect(await abilities(data[0])).toEqual(['default/gpt-4 true 2'])
    expect(api.secrets.open((await row(data[0])).key, 'channel')).toBe(secret)
  })

  test('an admin who moves a channel to another URL must enter its key again, but a super admin need not', async () => {
    const root = await api.addPerson({ role: 100 })
    const [id] = (await create({ base_url: 'https://a.example/v1' })).data
    const urlOf = async () => (await row(id)).base_url
    const moves: object[] = [
      { base_url: 'https://b.example/v1' },
      { base_url: 'https://a.example.evil.example/v1', key: '' },
      { base_url: 'http://a.example/v1', key: ' ' },
      { base_url: 'https://a.example:8443/v1', key_mode: 'multi' },
      { base_url: 'https://b.example', key: 'sk-mine', key_mode: 'multi', key_append: true },
      { type: 8, base_url: 'https://b.example' },
      // On a shared host, another path belongs to another account.
      { base_url: 'https://A.example/v2/' },
      { base_url: 'https://a.example/v1/somebody-else' },
      { base_url: 'https://a.example/v1/../else/v1' },
      { base_url: 'https://api.openai.com/somebody-else' },
    ]
    for (const move of moves) {
      const answer = await put({ id, ...move })
      expect([move, answer.success]).toEqual([move, false])
      expect(answer.message).toContain('Enter the key again')
      expect(await urlOf()).toBe('https://a.example/v1')
    }
    // These do not count as new destinations: the same URL in another form, no URL, and the default URL of the type.
    const same = ['https://A.example/v1/', 'https://a.example', 'https://a.example/v1', 'https://a.example/']
    for (const base_url of [...same, '', 'https://api.openai.com', 'https://api.openai.com/v1/'])
      expect([base_url, (await put({ id, base_url, key: '' })).success]).toEqual([base_url, true])
    expect(api.secrets.open((await row(id)).key, 'channel')).toBe(secret)

    expect((await put({ id, base_url: 'https://b.example', key: 'sk-mine' })).success).toBe(true)
    expect(await urlOf()).toBe('https://b.example')
    const body = { id, base_url: 'https://c.example', key: '' }
    expect((await api.call('PUT', '/api/channel/', { as: root.token, body })).json).toMatchObject({ success: true })
    expect(await urlOf()).toBe('https://c.example')
    // The same applies to a copy, which has the same key.
    const copy = (await api.call('POST', `/api/channel/${id}/copy`, { as: admin.token, body: {} })).json
    expect((await put({ id: copy.data, base_url: 'https://d.example' })).message).toContain('Enter the key again')
  })

  test('an edit writes the fields that are sent, including empty texts, but an empty key keeps the old key', async () => {
    const id = (await create({ base_url: 'http://a.example', other: 'v1', models: 'a,b', system_prompt: 'be nice' }))
      .data[0]
    await put({
      id,
      base_url: '',
      other: '',
      key: '',
      models: 'b,c',
      group: 'vip',
      system_prompt: '',
      status: 3,
      priority: -1,
    })
    expect(await row(id)).toMatchObject({
      base_url: '',
      other: '',
      models: 'b,c',
      group: 'vip',
      system_prompt: '',
      status: 3,
    })
    expect(await abilities(id)).toEqual(['vip/b false -1', 'vip/c false -1'])
    expect(api.secrets.open((await row(id)).key, 'channel')).toBe(secret)
    expect((await put({ id: 99_999, status: 1 })).success).toBe(false)
    expect((await put({ status: 1 })).success).toBe(false)
  })

  test('editing does not overwrite figures that calls change at the same time', async () => {
    const id = (await create()).data[0]
    const spend = () =>
      api.store.write((trx) =>
        trx
          .updateTable('channels')
          .set((eb) => ({ used_quota: eb('used_quota', '+', 7) }))
          .where('id', '=', id)
          .execute(),
      )
    const edits = Array.from({ length: 5 }, (_, i) => put({ id, name: `n${i}`, models: `m${i}`, used_quota: 0 }))
    await Promise.all([...Array.from({ length: 10 }, spend), ...edits])
    expect((await row(id)).used_quota).toBe(70)
    expect(await abilities(id)).toHaveLength(1)
  })

  test('a channel can have more models than fit into one SQL statement', async () => {
    const models = Array.from({ length: 1200 }, (_, i) => `model-${i}`).join(',')
    const id = (await create({ models, group: 'a,b' })).data[0]
    expect(await abilities(id)).toHaveLength(2400)
  })

  test('long lists of models and groups do not create millions of pairs', async () => {
    const models = Array.from({ length: 501 }, (_, i) => `model-${i}`).join(',')
    const group = Array.from({ length: 100 }, (_, i) => `g${i}`).join(',')
    const many = await create({ models, group })
    expect(many.message).toBe('A channel may have 50000 pairs of a model and a group; these would be 50100.')
    const id = (await create({ models })).data[0]
    expect((await put({ id, group })).message).toContain('may have 50000 pairs')
    // A channel whose row already has too many pairs can still be edited.
    await api.store.write((trx) => trx.updateTable('channels').set({ group }).where('id', '=', id).execute())
    expect((await put({ id, name: 'large' })).success).toBe(true)
    await api.store.write((trx) => trx.updateTable('channels').set({ group: 'default' }).where('id', '=', id).execute())
    expect((await put({ id, name: 'small' })).success).toBe(true)
    const keys = Array.from({ length: 1000 }, (_, i) => `key-${i}`).join('\n')
    expect((await create({ models, key: keys })).message).toContain('may have 500000 pairs')
    expect(await abilities(id)).toHaveLength(501)
    expect((await get('?p=0')).data).toHaveLength(1)
  })

  test('lists ten per page and finds by id and by prefix of the name', async () => {
    for (let i = 0; i < 11; i++) await create({ name: `c${i}` })
    const answer = await api.call('GET', '/api/channel/?p=0', { as: admin.token })
    expect(answer.json.data).toHaveLength(10)
    expect(answer.headers.get('x-total-count')).toBe('11')
    expect((await get('?p=1')).data.map((each: { name: string }) => each.name)).toEqual(['c0'])
    const last = (await get('search?keyword=c10')).data
    expect(last).toHaveLength(1)
    expect((await get(`search?keyword=${last[0].id}`)).data[0].name).toBe('c10')
    expect((await get(`search?keyword=${secret.slice(0, -1)}`)).data).toEqual([])
  })

  test('a search for a complete key, even if it is one of several, finds its channels and returns no part of the key', async () => {
    const [one] = (await create({ name: 'one', key: 'sk-one-1234567890' })).data
    const [several] = (
      await create({ name: 'several', key: 'sk-two-1234567890\nsk-one-1234567890', key_mode: 'multi' })
    ).data
    const found = async (keyword: string) => (await get(`search?keyword=${encodeURIComponent(keyword)}`)).data
    const ids = (rows: { id: number }[]) => rows.map(({ id }) => id).sort()
    expect(ids(await found('sk-one-1234567890'))).toEqual([one, several].sort())
    expect(ids(await found('sk-two-1234567890'))).toEqual([several])
    expect(JSON.stringify(await found('sk-two-1234567890'))).not.toContain('1234567890')
    for (const part of ['sk-one-123456789', 'k-one-1234567890', 'sk-one-%', 'sk-one'])
      expect(await found(part)).toEqual([])
  })

  test('the list and a search can be filtered by exact type, status and group', async () => {
    const named = async (path: string) => {
      const answer = await api.call('GET', `/api/channel/${path}`, { as: admin.token })
      const names = answer.json.data.map((each: { name: string }) => each.name).sort()
      expect(answer.headers.get('x-total-count')).toBe(String(names.length))
      return names
    }
    const { data } = await create({ name: 'off', group: 'vip,default' })
    await put({ id: data[0], status: 2 })
    await create({ name: 'on', group: 'default,vip2', type: 8, base_url: 'http://127.0.0.1:1' })
    await create({ name: 'of all', group: 'a,VIP,b_c' })
    expect(await named('?type=8')).toEqual(['on'])
    expect(await named('?status=2')).toEqual(['off'])
    expect(await named('?status=1')).toEqual(['of all', 'on'])
    expect(await named('?group=vip')).toEqual(['off'])
    expect(await named('?group=VIP')).toEqual(['of all'])
    expect(await named('?group=default')).toEqual(['off', 'on'])
    expect(await named('?group=%20b_c%20')).toEqual(['of all'])
    expect(await named('?group=b%25')).toEqual([])
    expect(await named('?type=0&status=0&group=')).toEqual(['of all', 'off', 'on'])
    expect(await named('?type=&status=')).toHaveLength(3)
    expect(await named('?type=1&status=1&group=a')).toEqual(['of all'])
    expect(await named('search?keyword=o&group=default&status=2')).toEqual(['off'])
    expect(await named('search?keyword=of&type=8')).toEqual([])
    expect((await get('?group=default&size=1&p=1&sort=name&order=asc')).data[0].name).toBe('on')
  })

  test('an unreadable filter is refused', async () => {
    for (const [query, word] of [
      ['type=OpenAI', 'type'],
      ['type=-1', 'type'],
      ['type=1.5', 'type'],
      ['status=enabled', 'status'],
      ['status=4', 'status'],
      ['group=a,b', 'group'],
      [`group=${'g'.repeat(201)}`, 'group'],
    ] as const) {
      for (const path of [`?${query}`, `search?keyword=x&${query}`]) {
        const answer = await api.call('GET', `/api/channel/${path}`, { as: admin.token })
        expect([path, answer.status, answer.json.success]).toEqual([path, 200, false])
        expect(answer.json.message).toContain(word)
      }
    }
  })

  test('deleting a missing channel is not an error, and deleting all disabled channels returns their number', async () => {
    const ids = (await create({ key: 'a\nb\nc' })).data
    expect(await remove(`${ids[0]}/`)).toEqual({ success: true, message: '' })
    expect((await remove(`${ids[0]}`)).success).toBe(true)
    expect(await abilities(ids[0])).toEqual([])
    await put({ id: ids[1], status: 3 })
    expect(await remove('disabled')).toEqual({ success: true, message: '', data: 1 })
    expect((await get('')).data.map((each: { id: number }) => each.id)).toEqual([ids[2]])
  })

  test('models returns a plain list, and types returns the catalogue', async () => {
    const models = await get('models')
    expect(Object.keys(models)).toEqual(['object', 'data'])
    expect(models.data.map((each: { id: string; owned_by: string }) => `${each.owned_by}/${each.id}`)).toEqual([
      'openai/gpt-4',
      'openai/gpt-3.5-turbo',
    ])
    expect((await get('types')).data).toEqual(testCatalogue)
  })

  test('the response to a channel test has its duration in seconds beside `success`, even when the test fails', async () => {
    const id = (await create()).data[0]
    expect(await get(`test/${id}/`)).toEqual({ success: true, message: '', time: 1.234 })
    expect(await get(`test/${id}/?model=`)).toEqual({
      success: true,
      message: 'Hello.',
      time: 1.234,
      modelName: 'gpt-4',
    })
    const calls: unknown[] = []
    const failing = await createTestApi(api.store, {
      testChannel: async (...given) => {
        calls.push(given)
        return { ok: false, timeMs: 500, message: 'refused', model: 'gpt-4', reply: '' }
      },
      testAllChannels: async (scope) => scope === 'disabled',
    })
    const test = (path: string) => failing.call('GET', `/api/channel/test${path}`, { as: admin.token })
    expect((await test(`/${id}?model=gpt-4`)).json).toMatchObject({
      success: false,
      message: 'refused',
      time: 0.5,
      modelName: 'gpt-4',
    })
    expect(calls).toEqual([[id, 'gpt-4']])
    expect((await test('/99999')).json).toMatchObject({ success: false, message: 'Channel not found.', time: 0 })
    expect((await test('?scope=disabled')).json.success).toBe(true)
    expect((await test('')).json.message).toContain('already running')
  })

  test('visitors get 401, and ordinary users get an error', async () => {
    const user = await api.addPerson()
    for (const [method, path] of [
      ['GET', '/api/channel/'],
      ['GET', '/api/channel/search'],
      ['GET', '/api/channel/models'],
      ['GET', '/api/channel/types'],
      ['GET', '/api/channel/test'],
      ['GET', '/api/channel/test/1'],
      ['GET', '/api/channel/1'],
      ['POST', '/api/channel/'],
      ['PUT', '/api/channel/'],
      ['DELETE', '/api/channel/disabled'],
      ['DELETE', '/api/channel/1'],
    ] as const) {
      expect((await api.call(method, path)).status).toBe(401)
      expect((await api.call(method, path, { as: user.token })).json).toMatchObject({ success: false })
    }
  })
})
