import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { hashedKey, storedKeyHash } from '../../lib/secrets/token-key.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let me: { id: number; token: string }
  let other: { id: number; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    me = await api.addPerson()
    other = await api.addPerson({ role: 100 })
  })
  afterEach(() => api.store.close())

  const create = async (body: unknown = {}, as = me.token) => (await api.call('POST', '/api/token/', { as, body })).json
  const put = async (body: unknown, query = '', as = me.token) =>
    (await api.call('PUT', `/api/token/${query}`, { as, body })).json
  const get = async (path = '', as = me.token) => api.call('GET', `/api/token/${path}`, { as })
  const row = (id: number) =>
    api.store.read.selectFrom('tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const set = (id: number, fields: object) =>
    api.store.write((trx) => trx.updateTable('tokens').set(fields).where('id', '=', id).execute())
  const unexplained = async (id: number) => {
    const { remain_quota, used_quota, granted_quota } = await row(id)
    return remain_quota + used_quota - granted_quota
  }

  test('lists and searches can be filtered by the status that applies to the next call', async () => {
    const add = async (name: string, fields: object) => {
      const { data } = await create({ name, remain_quota: 10, expired_time: -1 })
      if (Object.keys(fields).length > 0) await set(data.id, fields)
    }
    await add('enabled', {})
    await add('later', { expired_time: 1_700_000_001 })
    await add('unlimited', { unlimited_quota: true, remain_quota: 0 })
    await add('disabled', { status: 2, expired_time: 5 })
    await add('expired', { status: 3 })
    await add('past', { expired_time: 1_699_999_999 })
    await add('exhausted', { status: 4 })
    await add('spent', { remain_quota: 0 })
    const names = async (query: string) => {
      const { headers, json } = await get(query)
      expect(headers.get('x-total-count')).toBe(String(json.data.length))
      return json.data.map((each: { name: string }) => each.name).sort()
    }
    expect(await names('?status=1')).toEqual(['enabled', 'later', 'unlimited'])
    expect(await names('?status=2')).toEqual(['disabled'])
    expect(await names('?status=3')).toEqual(['expired', 'past'])
    expect(await names('?status=4')).toEqual(['exhausted', 'spent'])
    expect(await names('?status=0')).toHaveLength(8)
    expect(await names('search?keyword=e&status=4')).toEqual(['exhausted'])
    expect((await get('?status=5')).json.success).toBe(false)
  })

  test('a new token has 48 characters, is shown to its owner, and is encrypted in the table', async () => {
    const { data, success } = await create({
      name: 'mine',
      remain_quota: 500_000,
      expired_time: -1,
      unlimited_quota: false,
    })
    expect(success).toBe(true)
    expect(data).toEqual({
      id: data.id,
      user_id: me.id,
      key: expect.stringMatching(/^[0-9A-Za-z]{48}$/),
      status: 1,
      name: 'mine',
      created_time: 1_700_000_000,
      accessed_time: 1_700_000_000,
      expired_time: -1,
      remain_quota: 500_000,
      unlimited_quota: false,
      used_quota: 0,
      group: '',
      models: null,
      subnet: null,
      old_key_until: 0,
      project: '',
      rpm_limit: 0,
      tpm_limit: 0,
      concurrency_limit: 0,
      daily_budget: 0,
      monthly_budget: 0,
      spent_today: 0,
      spent_month: 0,
    })
    const stored = await row(data.id)
    expect(stored).toMatchObject({ granted_quota: 500_000, key_hash: api.secrets.fingerprint(data.key, 'token-key') })
    expect(JSON.stringify(stored)).not.toContain(data.key)
    expect(api.notices).toContainEqual({ topic: 'token', id: data.id })
  })

  test('a token that was imported with only the hash of its key shows no key, and is found by the key but not by the hash', async () => {
    const { data } = await create({ name: 'moved in' })
    const hex = createHash('sha256').update('sk-an-old-key-of-mine').digest('hex')
    const key = hashedKey(hex)
    await set(data.id, { key: api.secrets.seal(key, 'token'), key_hash: storedKeyHash(key, api.secrets) })
    expect((await get(String(data.id))).json.data.key).toBe('')
    expect(JSON.stringify((await get()).json)).not.toContain(hex)
    const find = async (pasted: string) =>
      (await api.call('POST', '/api/token/find', { as: me.token, body: { key: pasted } })).json
    expect((await find('sk-an-old-key-of-mine')).data.id).toBe(data.id)
    for (const stolen of [hex, key, `sk-${key}`]) expect((await find(stolen)).success).toBe(false)
  })

  test('by default a token has no name and no quota, and never expires', async () => {
    for (const body of [{}, { expired_time: 0, remain_quota: null, models: '', subnet: null }]) {
      expect((await create(body)).data).toMatchObject({
        name: '',
        remain_quota: 0,
        expired_time: -1,
        unlimited_quota: false,
        models: null,
        subnet: null,
      })
    }
  })

  test('the lists of models and IP networks are normalised', async () => {
    const { data } = await create({
      models: ' gpt-4 , gpt-4,,claude-3',
      subnet: '10.0.0.0/8, 192.0.2.1,2001:db8::1,2001:db8::/32',
    })
    expect(data).toMatchObject({
      models: 'gpt-4,claude-3',
      subnet: '10.0.0.0/8,192.0.2.1/32,2001:db8::1/128,2001:db8::/32',
    })
    expect((await put({ id: data.id, models: null, subnet: '' })).data).toMatchObject({ models: null, subnet: null })
  })

  test('invalid input is refused with the name of the field', async () => {
    const cases: [body: object, word: string][] = [
      [{ name: 'x'.repeat(31) }, 'name'],
      [{ remain_quota: -1 }, 'remain_quota'],
      [{ remain_quota: 1e15 + 1 }, 'remain_quota'],
      [{ remain_quota: 1.5 }, 'remain_quota'],
      [{ remain_quota: '5' }, 'remain_quota'],
      [{ expired_time: -2 }, 'expired_time'],
      [{ unlimited_quota: 1 }, 'unlimited_quota'],
      [{ subnet: '10.0.0.0/33' }, 'subnet'],
      [{ subnet: '10.1' }, 'subnet'],
      [{ subnet: '172.16/12' }, 'subnet'],
      [{ subnet: '010.0.0.0/8' }, 'subnet'],
      [{ subnet: '0x7f000001/32' }, 'subnet'],
      [{ subnet: 'home' }, 'subnet'],
    ]
    for (const [body, word] of cases) {
      const answer = await create(body)
      expect([body, answer.success]).toEqual([body, false])
      expect(answer.message).toContain(word)
    }
    expect((await create({ name: '字'.repeat(30) })).success).toBe(true)
  })

  test('lists only own tokens, ten per page, newest first', async () => {
    for (let i = 0; i < 12; i++) await create({ name: `t${i}`, remain_quota: i, unlimited_quota: i === 3 })
    await create({ name: 'theirs' }, other.token)
    const first = await get('?p=0')
    expect(first.json.data.map((each: { name: string }) => each.name)).toEqual(
      't11 t10 t9 t8 t7 t6 t5 t4 t3 t2'.split(' '),
    )
    expect(first.headers.get('x-total-count')).toBe('12')
    expect((await get('?p=1')).json.data).toHaveLength(2)
    expect((await get('?order=remain_quota')).json.data[0].name).toBe('t3')
    expect((await get('search?keyword=T1')).json.data.map((each: { name: string }) => each.name)).toEqual([
      't11',
      't10',
      't1',
    ])
    expect((await get('search?keyword=theirs')).json.data).toEqual([])
    expect((await get('search?keyword=%25')).json.data).toEqual([])
  })

  test("somebody else's token cannot be found, not even by root", async () => {
    const { id } = (await create({ name: 'mine' })).data
    expect((await get(String(id))).json.success).toBe(true)
    expect((await get(String(id), other.token)).json).toMatchObject({ success: false, message: 'Token not found.' })
    expect((await put({ id, name: 'stolen' }, '', other.token)).success).toBe(false)
    expect((await put({ id, status: 2 }, '?status_only=true', other.token)).success).toBe(false)
    expect((await api.call('DELETE', `/api/token/${id}`, { as: other.token })).json.success).toBe(false)
    expect(await row(id)).toMatchObject({ name: 'mine', status: 1 })
    // Sending another owner does not change the owner.
    await put({ id, user_id: other.id, key: 'x', used_quota: 5 })
    expect(await row(id)).toMatchObject({ user_id: me.id, used_quota: 0 })
  })

  test('an update writes the fields that are sent, including zeros, and leaves the rest unchanged', async () => {
    const { id, key } = (await create({ name: 'a', remain_quota: 100, models: 'm' })).data
    expect((await put({ id, remain_quota: 0 })).data).toMatchObject({ name: 'a', remain_quota: 0, models: 'm', key })
    expect((await put({ id, name: '', unlimited_quota: true, expired_time: 1_800_000_000 })).data).toMatchObject({
      name: '',
      unlimited_quota: true,
      expired_time: 1_800_000_000,
      remain_quota: 0,
    })
    expect((await put({ id, expired_time: null, remain_quota: null })).data.expired_time).toBe(1_800_000_000)
    expect((await put({ id, expired_time: 0 })).data.expired_time).toBe(-1)
    expect((await put({ id, status: 2 })).data.status).toBe(1)
    expect((await put({ name: 'no id' })).message).toBe('id is missing.')
  })

  test('a status_only update writes only the status, and only 1 or 2', async () => {
    const { id } = (await create({ name: 'a', remain_quota: 100 })).data
    expect((await put({ id, status: 2 }, '?status_only=true')).data).toMatchObject({
      status: 2,
      name: 'a',
      remain_quota: 100,
    })
    expect((await put({ id, status: 1, name: 'b' }, '?status_only=true')).data).toMatchObject({ status: 1, name: 'a' })
    for (const status of [0, 3, 4, 99, undefined]) {
      expect([status, (await put({ id, status }, '?status_only=true')).success]).toEqual([status, false])
    }
    expect(api.notices).toContainEqual({ topic: 'token', id })
  })

  test('an expired or exhausted token must be fixed before it is enabled', async () => {
    const { id } = (await create({ remain_quota: 10 })).data
    await set(id, { status: 3, expired_time: 1_600_000_000 })
    expect((await put({ id, status: 1 }, '?status_only=true')).message).toContain('expired')
    expect((await put({ id, status: 1, expired_time: -1 })).success).toBe(false)
    expect((await put({ id, status: 3, expired_time: -1 })).data.status).toBe(3)
    expect((await put({ id, status: 1 }, '?status_only=true')).data.status).toBe(1)
    await set(id, { status: 4, remain_quota: 0 })
    expect((await put({ id, status: 1 }, '?status_only=true')).message).toContain('quota')
    await put({ id, unlimited_quota: true })
    expect((await put({ id, status: 1 }, '?status_only=true')).data.status).toBe(1)
  })

  test('no spending is lost when calls spend while the owner edits the token', async () => {
    const { id } = (await create({ remain_quota: 1000 })).data
    const spend = () =>
      api.store.write((trx) =>
        trx
          .updateTable('tokens')
          .set((eb) => ({ remain_quota: eb('remain_quota', '-', 7), used_quota: eb('used_quota', '+', 7) }))
          .where('id', '=', id)
          .execute(),
      )
    await Promise.all([
      ...Array.from({ length: 10 }, spend),
      ...Array.from({ length: 10 }, () => put({ id, remain_quota_delta: 5 })),
      ...Array.from({ length: 5 }, (_, i) => put({ id, name: `edit ${i}` })),
      ...Array.from({ length: 5 }, () => put({ id, status: 2 }, '?status_only=true')),
    ])
    expect(await row(id)).toMatchObject({ remain_quota: 1000 - 70 + 50, status: 2 })
    await Promise.all([spend(), put({ id, remain_quota: 300 }), spend()])
    expect(await unexplained(id)).toBe(0)
    expect((await put({ id, remain_quota_delta: -10_000 })).success).toBe(false)
    expect((await put({ id, remain_quota_delta: 1e15 })).success).toBe(false)
    expect((await put({ id, remain_quota: 1, remain_quota_delta: 1 })).success).toBe(false)
  })

  test('sending back an overdrawn token unchanged is not an error', async () => {
    const { id } = (await create({ remain_quota: 5 })).data
    await set(id, { remain_quota: -20, used_quota: 25 })
    expect((await put({ id, name: 'x', remain_quota: -20 })).success).toBe(true)
    expect((await put({ id, remain_quota: -1 })).success).toBe(false)
    expect(await unexplained(id)).toBe(0)
  })

  test('a token can be deleted, and is then gone', async () => {
    const { id } = (await create()).data
    expect((await api.call('DELETE', `/api/token/${id}/`, { as: me.token })).json).toEqual({
      success: true,
      message: '',
    })
    expect((await api.call('DELETE', `/api/token/${id}`, { as: me.token })).json.success).toBe(false)
    expect((await get(String(id))).json.success).toBe(false)
  })

  test('visitors get 401', async () => {
    for (const [method, path] of [
      ['GET', '/api/token/'],
      ['GET', '/api/token/search'],
      ['GET', '/api/token/1'],
      ['POST', '/api/token/'],
      ['PUT', '/api/token/'],
      ['DELETE', '/api/token/1'],
    ] as const) {
      expect((await api.call(method, path)).status).toBe(401)
    }
  })
})
