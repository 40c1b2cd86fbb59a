import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { untilOneWaits } from '../../../test/helpers/waiting.ts'
import { addDeadKey } from '../../store/channels/channel-keys.ts'

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

  const call = async (method: string, path: string, body?: object) =>
    (await api.call(method, `/api/channel/${path}`, { as: admin.token, ...(body && { body }) })).json
  const create = async (body: object = {}): Promise<number> => (await call('POST', '', { ...plain, ...body })).data[0]
  const shown = async (id: number) => (await call('GET', String(id))).data
  const row = (id: number) =>
    api.store.read.selectFrom('channels').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const storedKeys = async (id: number) => api.secrets.open((await row(id)).key, 'channel').split('\n')
  const abilities = async (id: number) => {
    const rows = await api.store.read.selectFrom('abilities').selectAll().where('channel_id', '=', id).execute()
    return rows.map((each) => `${each.group}/${each.model} ${Boolean(each.enabled)} ${each.priority}`).sort()
  }
  /** Pauses a key, as the relay does when an upstream rejects it. */
  const markDead = (id: number, key: string, reason = 'status 401') =>
    api.store.write((trx) =>
      trx
        .insertInto('channel_dead_keys')
        .values({ channel_id: id, key_hash: api.secrets.fingerprint(key, 'channel-key'), reason, since: 1_699_999_999 })
        .execute(),
    )
  const audit = () => api.store.read.selectFrom('audit_events').selectAll().orderBy('id').execute()

  test('the response to a balance update has the field `balance` beside `success`, even on failure', async () => {
    const id = await create()
    expect(await call('GET', `update_balance/${id}/`)).toEqual({ success: true, message: '', balance: 12.5 })
    expect(await call('GET', 'update_balance')).toEqual({ success: true, message: '' })
    const failing = await createTestApi(api.store, {
      updateBalance: async () => ({ ok: false, message: 'status code: 404' }),
      updateAllBalances: async () => false,
      upstreamModels: async () => ({ ok: false, message: 'not implemented' }),
    })
    const ask = async (path: string) => (await failing.call('GET', `/api/channel/${path}`, { as: admin.token })).json
    expect(await ask(`update_balance/${id}`)).toMatchObject({ success: false, message: 'status code: 404', balance: 0 })
    expect(await ask('update_balance/99999')).toMatchObject({
      success: false,
      message: 'Channel not found.',
      balance: 0,
    })
    expect(await ask('update_balance')).toMatchObject({ success: false })
    expect(await ask(`${id}/upstream_models`)).toMatchObject({ success: false, message: 'not implemented' })
    expect(await ask('99999/upstream_models')).toMatchObject({ success: false })
  })

  test('everybody who is logged in can read the default models of every type', async () => {
    const user = await api.addPerson()
    expect((await api.call('GET', '/api/models', { as: user.token })).json).toEqual({
      success: true,
      message: '',
      data: { 1: ['gpt-4', 'gpt-3.5-turbo'], 8: ['gpt-4'] },
    })
    expect((await api.call('GET', '/api/models')).status).toBe(401)
  })

  test('groups are returned with their ratios', async () => {
    await api.call('PUT', '/api/option/', {
      as: (await api.addPerson({ role: 100 })).token,
      body: { key: 'GroupRatio', value: '{"default":1,"vip":0.5}' },
    })
    expect((await api.call('GET', '/api/group/ratios', { as: admin.token })).json.data).toEqual({
      default: 1,
      vip: 0.5,
    })
    expect((await api.call('GET', '/api/group/', { as: admin.token })).json.data).toEqual(['default', 'vip'])
  })

  test('a copy has the settings, keys and paused keys of its original, but its usage, balance and test results are zero', async () => {
    const id = await create({
      key: `${secret}1\n${secret}2`,
      key_mode: 'multi',
      group: 'default,vip',
      models: 'gpt-4,o1',
      priority: 5,
      weight: 3,
      base_url: 'https://example.com',
      model_mapping: '{"a":"b"}',
      system_prompt: 'be kind',
    })
    await markDead(id, `${secret}1`)
    await api.store.write((trx) =>
      trx.updateTable('channels').set({ used_quota: 7, balance: 3, test_time: 5, response_time: 6 }).execute(),
    )
    const made = await call('POST', `${id}/copy`)
    expect(made).toEqual({ success: true, message: '', data: expect.any(Number) })
    const copy = await shown(made.data)
    const model = await shown(id)
    expect(copy).toEqual({
      ...model,
      id: made.data,
      name: 'main (copy)',
      created_time: 1_700_000_000,
      used_quota: 0,
      balance: 0,
      test_time: 0,
      response_time: 0,
    })
    expect(copy).toMatchObject({ key: '', key_count: 2, keys_dead: 1, key_mode: 'multi' })
    expect(await abilities(made.data)).toEqual(await abilities(id))
    expect(await storedKeys(made.data)).toEqual([`${secret}1`, `${secret}2`])
    expect((await shown((await call('POST', `${id}/copy`, { name: 'second' })).data)).name).toBe('second')
    expect(await call('POST', '99999/copy')).toMatchObject({ success: false })
    expect(await call('POST', `${id}/copy`, { name: 'x'.repeat(101) })).toMatchObject({ success: false })
    expect(api.notices).toContainEqual({ topic: 'channels', id: made.data })
    expect((await audit()).at(-1)?.action).toBe('channel.copy')
  })

  test('if the name of a copy is too long, it is truncated, not refused', async () => {
    const id = await create({ name: '字'.repeat(100) })
    expect([...(await shown((await call('POST', `${id}/copy`)).data)).name]).toHaveLength(100)
  })

  test('many channels can be enabled, disabled, edited and deleted in one call', async () => {
    const ids = [await create(), await create(), await create()]
    const [one = 0, two = 0, three = 0] = ids
    expect(await call('POST', 'batch', { ids: [one, two, two, 99_999], action: 'disable' })).toEqual({
      success: true,
      message: '',
      data: 2,
    })
    expect(await Promise.all(ids.map(async (id) => (await shown(id)).status))).toEqual([2, 2, 1])
    expect(await abilities(one)).toEqual(['default/gpt-4 false 0'])
    expect((await call('POST', 'batch', { ids, action: 'enable' })).data).toBe(3)
    expect(await abilities(one)).toEqual(['default/gpt-4 true 0'])
    const edit = { ids: [one, three], action: 'edit', priority: 9, weight: 4, models: 'a, b,a', group: 'vip' }
    expect((await call('POST', 'batch', edit)).data).toBe(2)
    expect(await shown(three)).toMatchObject({ priority: 9, weight: 4, models: 'a,b', group: 'vip', name: 'main' })
    expect(await abilities(three)).toEqual(['vip/a true 9', 'vip/b true 9'])
    expect(await shown(two)).toMatchObject({ priority: 0, models: 'gpt-4' })
    expect(api.notices).toContainEqual({ topic: 'channels', id: 0 })
    expect((await call('POST', 'batch', { ids: [one, two], action: 'delete' })).data).toBe(2)
    expect((await call('GET', '')).data.map((each: { id: number }) => each.id)).toEqual([three])
    expect((await audit()).slice(-4).map((each) => each.action)).toEqual([
      'channel.batch-disable',
      'channel.batch-enable',
      'channel.batch-edit',
      'channel.batch-delete',
    ])
  })

  test('an invalid batch does nothing', async () => {
    const id = await create()
    for (const body of [
      {},
      { ids: [], action: 'disable' },
      { ids: [id] },
      { ids: [id], action: 'explode' },
      { ids: ['1'], action: 'disable' },
      { ids: [0], action: 'disable' },
      { ids: [1.5], action: 'disable' },
      { ids: Array.from({ length: 1001 }, (_, n) => n + 1), action: 'delete' },
      { ids: [id], action: 'edit' },
      { ids: [id], action: 'edit', models: ' , ' },
      { ids: [id], action: 'edit', priority: 2 ** 60 },
      { ids: [id], action: 'edit', weight: -1 },
      { ids: [id], action: 'disable', priority: 1 },
    ]) {
      expect([body, await call('POST', 'batch', body)]).toMatchObject([body, { success: false }])
    }
    expect(await shown(id)).toMatchObject({ status: 1, priority: 0, models: 'gpt-4' })
  })

  test('creates one channel with several keys, or a channel for each key', async () => {
    const many = await call('POST', '', { ...plain, key: `${secret}1\n${secret}2`, key_mode: 'single' })
    expect(many.data).toHaveLength(2)
    const multi = await call('POST', '', {
      ...plain,
      key: ` ${secret}1\r\n\n${secret}2\n${secret}1`,
      key_mode: 'multi',
    })
    expect(multi.data).toHaveLength(1)
    const id = multi.data[0]
    expect(await shown(id)).toMatchObject({ key: '', key_mode: 'multi', key_count: 2, keys_dead: 0 })
    expect(await storedKeys(id)).toEqual([`${secret}1`, `${secret}2`])
    expect(await call('POST', '', { ...plain, key_mode: 'both' })).toMatchObject({ success: false })
    const lines = Array.from({ length: 1001 }, (_, n) => `k${n}`).join('\n')
    expect(await call('POST', '', { ...plain, key: lines, key_mode: 'multi' })).toMatchObject({ success: false })
  })

  test('keys are added, replaced, and reduced to a single one again', async () => {
    const id = await create({ key: `${secret}1\n${secret}2`, key_mode: 'multi' })
    await call('PUT', '', { id, name: 'renamed', key: '' })
    expect(await storedKeys(id)).toEqual([`${secret}1`, `${secret}2`])
    await call('PUT', '', { id, key: `${secret}3\n${secret}1`, key_append: true })
    expect(await storedKeys(id)).toEqual([`${secret}1`, `${secret}2`, `${secret}3`])
    expect(await shown(id)).toMatchObject({ key_count: 3 })
    await markDead(id, `${secret}1`)
    await markDead(id, `${secret}2`)
    // A key's health record is removed with the key, and kept for a key that stays.
    await call('PUT', '', { id, key: `${secret}1\n${secret}4` })
    expect(await shown(id)).toMatchObject({ key_count: 2, keys_dead: 1, key_mode: 'multi' })
    expect((await call('PUT', '', { id, key_mode: 'single' })).message).toContain('one key')
    expect((await call('PUT', '', { id, key_mode: 'single', key: `${secret}5` })).data).toMatchObject({
      key_mode: 'single',
      key_count: 1,
      keys_dead: 0,
    })
    expect(await storedKeys(id)).toEqual([`${secret}5`])
    expect((await call('PUT', '', { id, key_mode: 'multi' })).data).toMatchObject({ key_mode: 'multi', key_count: 1 })
    expect((await call('PUT', '', { id, key_mode: 'single' })).data).toMatchObject({ key_mode: 'single' })
    expect(await storedKeys(id)).toEqual([`${secret}5`])
  })

  test('a key that is paused while paused keys are deleted is no longer used', async () => {
    const id = await create({ key: `${secret}1\n${secret}2\n${secret}3`, key_mode: 'multi' })
    await markDead(id, `${secret}1`)
    const key_hash = api.secrets.fingerprint(`${secret}2`, 'channel-key')
    let deletion: ReturnType<typeof call> | undefined
    await api.store.write(async (trx) => {
      await addDeadKey(trx, { channel_id: id, key_hash, reason: 'status 401', since: 1_699_999_999 }, () => true)
      deletion = call('DELETE', `${id}/keys/dead`)
      await untilOneWaits(api.store)
    })
    expect((await deletion)?.data).toBe(2)
    expect(await storedKeys(id)).toEqual([`${secret}3`])
    expect(await shown(id)).toMatchObject({ key_count: 1, keys_dead: 0 })
  })

  test('the health of each key is shown by its index, and paused keys can be reactivated or deleted', async () => {
    const id = await create({ key: `${secret}1\n${secret}2\n${secret}3`, key_mode: 'multi' })
    await markDead(id, `${secret}2`, 'status 401: no')
    const healthy = { healthy: true, reason: '', since: 0 }
    expect(await call('GET', `${id}/keys`)).toEqual({
      success: true,
      message: '',
      data: [
        { index: 1, ...healthy },
        { index: 2, healthy: false, reason: 'status 401: no', since: 1_699_999_999 },
        { index: 3, ...healthy },
      ],
    })
    expect((await call('POST', `${id}/keys/revive`)).data).toBe(1)
    expect(await shown(id)).toMatchObject({ keys_dead: 0 })
    await markDead(id, `${secret}1`)
    await markDead(id, `${secret}3`)
    expect((await call('DELETE', `${id}/keys/dead`)).data).toBe(2)
    expect(await storedKeys(id)).toEqual([`${secret}2`])
    expect(await shown(id)).toMatchObject({ key_count: 1, keys_dead: 0, key_mode: 'multi' })
    expect((await call('DELETE', `${id}/keys/dead`)).data).toBe(0)
    await markDead(id, `${secret}2`)
    expect(await call('DELETE', `${id}/keys/dead`)).toMatchObject({ success: false })
    expect(await storedKeys(id)).toEqual([`${secret}2`])
    for (const [method, path] of [
      ['GET', '99999/keys'],
      ['POST', '99999/keys/revive'],
      ['DELETE', '99999/keys/dead'],
    ] as const) {
      expect(await call(method, path)).toMatchObject({ success: false })
    }
    expect(await call('GET', `${await create()}/keys`)).toMatchObject({ data: [{ index: 1, healthy: true }] })
  })

  test('enabling a channel by hand reactivates its keys', async () => {
    const id = await create({ key: `${secret}1\n${secret}2`, key_mode: 'multi' })
    await markDead(id, `${secret}1`)
    await call('PUT', '', { id, status: 1, name: 'still enabled' })
    expect(await shown(id)).toMatchObject({ keys_dead: 1 })
    await call('PUT', '', { id, status: 3 })
    await call('PUT', '', { id, status: 1 })
    expect(await shown(id)).toMatchObject({ keys_dead: 0, status: 1 })
    await markDead(id, `${secret}1`)
    await call('POST', 'batch', { ids: [id], action: 'disable' })
    await call('POST', 'batch', { ids: [id], action: 'enable' })
    expect(await shown(id)).toMatchObject({ keys_dead: 0, status: 1 })
  })

  test('no response shows a key', async () => {
    const id = await create({ key: `${secret}1\n${secret}2`, key_mode: 'multi' })
    await markDead(id, `${secret}1`)
    const answers = [
      await call('GET', ''),
      await call('GET', `${id}/keys`),
      await call('POST', `${id}/copy`),
      await call('PUT', '', { id, key: `${secret}3`, key_append: true }),
      await call('POST', 'batch', { ids: [id], action: 'edit', priority: 1 }),
      await call('POST', `${id}/keys/revive`),
      await call('DELETE', `${id}/keys/dead`),
      await audit(),
      api.warnings,
    ]
    expect(JSON.stringify(answers)).not.toContain(secret)
    expect(JSON.stringify(answers)).not.toContain('v1.')
    expect(JSON.stringify(await api.store.read.selectFrom('channel_dead_keys').selectAll().execute())).not.toContain(
      secret,
    )
  })

  test('before the first test, the history is empty and the progress is zero', async () => {
    const id = await create()
    expect((await call('GET', `${id}/tests`)).data).toEqual([])
    expect(await call('GET', '99999/tests')).toMatchObject({ success: false })
    expect((await call('GET', 'test/progress')).data).toEqual({
      running: false,
      total: 0,
      done: 0,
      failed: 0,
      started_at: 0,
      finished_at: 0,
    })
  })

  test('visitors get 401, and ordinary users get an error', async () => {
    const user = await api.addPerson()
    const id = await create()
    for (const [method, path] of [
      ['GET', 'update_balance'],
      ['GET', `update_balance/${id}`],
      ['GET', `${id}/upstream_models`],
      ['POST', `${id}/copy`],
      ['POST', 'batch'],
      ['GET', `${id}/keys`],
      ['POST', `${id}/keys/revive`],
      ['DELETE', `${id}/keys/dead`],
      ['GET', `${id}/tests`],
      ['GET', 'test/progress'],
    ] as const) {
      expect((await api.call(method, `/api/channel/${path}`)).status).toBe(401)
      const answer = await api.call(method, `/api/channel/${path}`, { as: user.token })
      expect([path, answer.json]).toMatchObject([
        path,
        { success: false, message: expect.stringContaining('permission') },
      ])
    }
    expect((await api.call('GET', '/api/group/ratios')).status).toBe(401)
    expect((await api.call('GET', '/api/group/ratios', { as: user.token })).json.success).toBe(false)
    expect((await call('GET', '')).data).toHaveLength(1)
  })

  test('a page on another site cannot make a browser request balances from upstreams', async () => {
    const id = await create()
    for (const path of ['update_balance', `update_balance/${id}`]) {
      const answer = await api.call('GET', `/api/channel/${path}`, {
        cookie: 'session=x',
        headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      })
      expect(answer.status).toBe(403)
    }
  })
})
