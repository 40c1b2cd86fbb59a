import { afterEach, beforeEach, expect, test } from 'bun:test'
import { maxQuota } from '../../../contract/api/fields.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: { id: number; token: string }
  let user: { id: number; token: string; username: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ role: 10 })
    user = await api.addPerson()
  })
  afterEach(() => api.store.close())

  const call = async (method: string, path: string, body?: object, as = admin.token) =>
    (await api.call(method, `/api/redemption/${path}`, { as, ...(body && { body }) })).json
  const create = (body: object = {}) => call('POST', '', { name: 'gift', quota: 500, ...body })
  const redeem = async (key: unknown, as = user.token) =>
    (await api.call('POST', '/api/user/topup', { as, body: { key } })).json
  const topUp = async (body: object, as = admin.token) => (await api.call('POST', '/api/topup', { as, body })).json
  const account = (id = user.id) =>
    api.store.read
      .selectFrom('users')
      .select(['quota', 'granted_quota', 'used_quota'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  const logs = () => api.store.read.selectFrom('logs').selectAll().where('type', '=', 1).orderBy('id').execute()
  const audit = () => api.store.read.selectFrom('audit_events').selectAll().orderBy('id').execute()

  test('creates as many codes of 32 hex digits as requested, all different', async () => {
    const { success, message, data } = await create({ count: 100 })
    expect({ success, message }).toEqual({ success: true, message: '' })
    expect(data).toHaveLength(100)
    expect(new Set(data).size).toBe(100)
    for (const key of data) expect(key).toMatch(/^[0-9a-f]{32}$/)
    expect((await create()).data).toHaveLength(1)
  })

  test('shows a code with its stored values', async () => {
    const [key] = (await create({ name: ' gift ' })).data
    const [row] = (await call('GET', '')).data
    expect(row).toEqual({
      id: row.id,
      user_id: admin.id,
      key,
      status: 1,
      name: 'gift',
      quota: 500,
      created_time: 1_700_000_000,
      redeemed_time: 0,
      count: 0,
      redeemed_user_id: 0,
      redeemed_username: '',
      expired_time: 0,
    })
    expect(await call('GET', String(row.id))).toEqual({ success: true, message: '', data: row })
    expect(await call('GET', '99999')).toMatchObject({ success: false })
  })

  test('lists ten per page, newest first, and finds by id and by prefix of the name', async () => {
    await create({ name: 'spring', count: 12 })
    await create({ name: 'autumn' })
    const first = await api.call('GET', '/api/redemption/?p=0', { as: admin.token })
    expect(first.headers.get('x-total-count')).toBe('13')
    expect(first.json.data).toHaveLength(10)
    expect(first.json.data[0].name).toBe('autumn')
    expect((await call('GET', '?p=1')).data).toHaveLength(3)
    expect((await call('GET', '?p=2')).data).toEqual([])
    expect((await call('GET', 'search?keyword=spr')).data).toHaveLength(12)
    expect((await call('GET', 'search?keyword=%25')).data).toEqual([])
    const { id, key } = first.json.data[0]
    expect((await call('GET', `search?keyword=${id}`)).data.map((each: { id: number }) => each.id)).toEqual([id])
    expect((await call('GET', `search?keyword=${key.slice(0, 8)}x`)).data).toEqual([])
    expect((await call('GET', '?sort=quota&order=asc&size=3')).data).toHaveLength(3)
  })

  test('the list and a search can be filtered by status', async () => {
    const [used] = (await create({ name: 'used' })).data
    await create({ name: 'off' })
    await call('PUT', '?status_only=true', { id: (await call('GET', '')).data[0].id, status: 2 })
    await create({ name: 'open', count: 12 })
    await redeem(used)
    const names = async (path: string) => (await call('GET', path)).data.map((each: { name: string }) => each.name)
    expect(await names('?status=3')).toEqual(['used'])
    expect(await names('?status=2')).toEqual(['off'])
    expect(await names('search?keyword=o&status=2')).toEqual(['off'])
    expect(await names('search?keyword=used&status=1')).toEqual([])
    const open = await api.call('GET', '/api/redemption/?status=1&p=1', { as: admin.token })
    expect(open.json.data).toHaveLength(2)
    expect(open.headers.get('x-total-count')).toBe('12')
    for (const all of ['?size=100', '?size=100&status=0', '?size=100&status='])
      expect(await names(all)).toHaveLength(14)
    for (const wrong of ['?status=used', '?status=5', '?status=-1', 'search?status=1.5']) {
      expect(await call('GET', wrong)).toMatchObject({ success: false, message: expect.stringContaining('status') })
    }
  })

  test('refuses invalid input, and creates nothing', async () => {
    const cases: [body: object, word: string][] = [
      [{ count: 0 }, 'count'],
      [{ count: 101 }, 'count'],
      [{ count: 1.5 }, 'count'],
      [{ count: '3' }, 'count'],
      [{ name: '' }, 'name'],
      [{ name: '   ' }, 'name'],
      [{ name: 'x'.repeat(21) }, 'name'],
      [{ name: undefined }, 'name'],
      [{ quota: 0 }, 'quota'],
      [{ quota: -1 }, 'quota'],
      [{ quota: 0.5 }, 'quota'],
      [{ quota: '5' }, 'quota'],
      [{ quota: maxQuota + 1 }, 'quota'],
      [{ quota: 9e99 }, 'quota'],
      [{ quota: undefined }, 'quota'],
      [{ expired_time: -1 }, 'expired_time'],
      [{ expired_time: 1.5 }, 'expired_time'],
      [{ expired_time: '0' }, 'expired_time'],
      [{ expired_time: 1_699_999_999 }, 'future'],
      [{ prefix: 'x'.repeat(13) }, 'prefix'],
      [{ prefix: 'a b' }, 'prefix'],
      [{ prefix: 'ä' }, 'prefix'],
      [{ prefix: "'--" }, 'prefix'],
      [{ prefix: 5 }, 'prefix'],
    ]
    for (const [body, word] of cases) {
      const answer = await create(body)
      expect([body, answer.success]).toEqual([body, false])
      expect(answer.message).toContain(word)
    }
    expect((await call('GET', '')).data).toEqual([])
    expect(await audit()).toEqual([])
  })

  test('a name can have 20 visible characters', async () => {
    expect((await create({ name: '二十个字符的名字也可以用二十个字符的名字啊' })).success).toBe(false)
    expect((await create({ name: '二十个字符的名字也可以用二十个字符的名字' })).success).toBe(true)
  })

  test('redeeming a code adds its quota to the account, once', async () => {
    const [key] = (await create({ quota: 700 })).data
    const before = await account()
    api.time.ms += 60_000
    expect(await redeem(` ${key} `)).toEqual({ success: true, message: '', data: 700 })
    expect(await account()).toEqual({
      quota: before.quota + 700,
      granted_quota: before.granted_quota + 700,
      used_quota: 0,
    })
    expect((await call('GET', '')).data[0]).toMatchObject({
      status: 3,
      redeemed_time: 1_700_000_060,
      redeemed_user_id: user.id,
      redeemed_username: user.username,
    })
    expect(api.notices).toContainEqual({ topic: 'user', id: user.id })
    const again = await redeem(key)
    expect(again).toMatchObject({ success: false })
    expect(again.data).toBeUndefined()
    expect((await redeem(key, admin.token)).message).toContain('used')
    expect((await account()).quota).toBe(before.quota + 700)
    expect(await logs()).toMatchObject([
      { user_id: user.id, username: user.username, quota: 700, content: expect.stringContaining('$0.001400') },
    ])
  })

  test('only an unused code gives quota', async () => {
    const [key] = (await create()).data
    const { id } = (await call('GET', '')).data[0]
    await call('PUT', '?status_only=true', { id, status: 2 })
    expect((await redeem(key)).message).toContain('disabled')
    for (const wrong of [key.slice(1), key.toUpperCase() === key ? 'x' : key.toUpperCase(), "' or 1=1 --", '%']) {
      expect(await redeem(wrong)).toMatchObject({ success: false, message: expect.stringContaining('not valid') })
    }
    for (const wrong of ['', '  ', 5, null, undefined, ['a'], 'x'.repeat(300)]) {
      expect(await redeem(wrong)).toMatchObject({ success: false })
    }
    expect((await account()).quota).toBe(1000)
    expect(await logs()).toEqual([])
    await call('PUT', '?status_only=true', { id, status: 1 })
    expect((await redeem(key)).data).toBe(500)
  })

  test('a code that would overflow the balance stays unused', async () => {
    const [key] = (await create({ quota: maxQuota })).data
    expect((await redeem(key)).message).toContain('too large')
    expect((await call('GET', '')).data[0]).toMatchObject({ status: 1, redeemed_user_id: 0 })
    expect((await account()).quota).toBe(1000)
  })

  test('a code can be redeemed until its last second, and an expired code only after it gets a later expiry', async () => {
    const expired_time = 1_700_000_100
    const [first, second] = (await create({ count: 2, expired_time })).data
    const { id } = (await call('GET', `search?keyword=gift`)).data.find(({ key }: { key: string }) => key === second)
    api.time.ms = expired_time * 1000 + 999
    expect((await redeem(first)).data).toBe(500)
    api.time.ms += 1
    const refused = await redeem(second)
    expect(refused).toMatchObject({
      success: false,
      message: 'This redemption code has expired.',
      code: 'code_expired',
    })
    expect((await account()).quota).toBe(1500)
    expect(await logs()).toHaveLength(1)
    // A used code stays used, and a disabled code stays disabled, regardless of the expiry.
    expect((await redeem(first)).message).toContain('used')
    await call('PUT', '?status_only=true', { id, status: 2 })
    expect((await redeem(second)).message).toContain('disabled')
    await call('PUT', '?status_only=true', { id, status: 1 })
    expect((await call('PUT', '', { id, expired_time: expired_time - 1 })).message).toContain('future')
    // Clients send whole records back, so an expiry that has passed does not block other changes.
    expect((await call('PUT', '', { id, expired_time, quota: 7 })).data).toMatchObject({ quota: 7, expired_time })
    expect((await redeem(second)).code).toBe('code_expired')
    expect((await call('PUT', '', { id, expired_time: 0 })).data.expired_time).toBe(0)
    expect((await redeem(second)).data).toBe(7)
    expect((await audit()).map(({ detail }) => detail)).toContain(`expired_time=${expired_time} → 0`)
  })

  test('codes that are created with a prefix begin with it, have the usual length, and are all different', async () => {
    const { data } = await create({ count: 100, prefix: ' SPRING_26-x ' })
    expect(new Set(data).size).toBe(100)
    for (const key of data) expect(key).toMatch(/^SPRING_26-x[0-9a-f]{21}$/)
    expect((await redeem(data[0])).data).toBe(500)
    expect((await redeem('SPRING_26-x')).code).toBe('code_invalid')
  })

  test('codes are counted by name', async () => {
    const [used] = (await create({ name: 'spring', count: 4, quota: 10 })).data
    await redeem(used)
    const rows = (await call('GET', '?batch=spring')).data
    const off = rows.find(({ status }: { status: number }) => status === 1)
    await call('PUT', '?status_only=true', { id: off.id, status: 2 })
    api.time.ms += 1000
    await create({ name: 'spring', count: 3, quota: 100, expired_time: 1_700_000_050 })
    await create({ name: 'Spring', quota: 5 })
    const spring = {
      ...{ name: 'spring', made: 7, unused: 5, used: 1, disabled: 1, expired: 0 },
      ...{ quota: 340, used_quota: 10, outstanding_quota: 320 },
      ...{ created_time: 1_700_000_001, redeemed_time: 1_700_000_000 },
    }
    expect((await call('GET', 'batches?keyword=spr&sort=made')).data).toEqual([
      spring,
      expect.objectContaining({ name: 'Spring', made: 1, outstanding_quota: 5, redeemed_time: 0 }),
    ])
    api.time.ms += 60_000
    const later = await api.call('GET', '/api/redemption/batches?sort=name&order=desc&size=1&p=0', { as: admin.token })
    expect(later.headers.get('x-total-count')).toBe('2')
    expect(later.json.data).toHaveLength(1)
    const [batch] = (await call('GET', 'batches?sort=outstanding_quota')).data
    expect(batch).toEqual({ ...spring, unused: 2, expired: 3, outstanding_quota: 20 })
    const count = async (path: string) => (await call('GET', path)).data.length
    expect(await count('?batch=spring&status=4')).toBe(3)
    expect(await count('?batch=spring&status=1')).toBe(2)
    expect(await count('search?keyword=s&batch=Spring')).toBe(1)
    expect(await count('?batch=spr')).toBe(0)
    expect(await count("batches?keyword='%25")).toBe(0)
  })

  test('if the sums of a batch are too large for an exact integer, the list still works', async () => {
    const name = 'huge'
    await create({ name, quota: maxQuota, count: 100 })
    const [batch] = (await call('GET', 'batches')).data
    expect(batch).toMatchObject({ name, made: 100, quota: Number.MAX_SAFE_INTEGER })
    // The sum of these quotas exceeds a 64-bit integer.
    const common = {
      user_id: 1,
      name,
      quota: maxQuota,
      created_time: 1,
      status: 1,
      redeemed_time: 0,
      redeemed_user_id: 0,
    }
    for (let from = 0; from < 10_000; from += 1000)
      await api.store.write((trx) =>
        trx
          .insertInto('redemptions')
          .values(Array.from({ length: 1000 }, (_, at) => ({ ...common, key: `k${from + at}` })))
          .execute(),
      )
    expect((await call('GET', 'batches')).data[0]).toMatchObject({ made: 10_100, quota: Number.MAX_SAFE_INTEGER })
  })

  test('a batch can be disabled and enabled; used codes stay used', async () => {
    const keys = (await create({ name: 'lost', count: 3 })).data
    const [other] = (await create({ name: 'kept' })).data
    await redeem(keys[0])
    expect((await call('PUT', 'batches', { name: 'lost', status: 2 })).data).toBe(2)
    expect((await redeem(keys[1])).code).toBe('code_used')
    expect((await redeem(other)).data).toBe(500)
    expect((await call('PUT', 'batches', { name: 'lost', status: 2 })).data).toBe(0)
    expect((await call('PUT', 'batches', { name: 'lost', status: 1 })).data).toBe(2)
    expect((await redeem(keys[0])).success).toBe(false)
    expect((await redeem(keys[1])).data).toBe(500)
    for (const status of [0, 3, 4]) expect((await call('PUT', 'batches', { name: 'lost', status })).success).toBe(false)
    expect((await call('PUT', 'batches', { name: 'lost', status: 2 }, user.token)).success).toBe(false)
    const [first, second] = (await audit()).filter(({ action }) => action === 'redemption.update')
    expect(first).toMatchObject({ target: '2 redemptions', detail: expect.stringContaining('status: 1 → 2 of "lost"') })
    expect(second?.detail).toContain('status: 2 → 1')
  })

  test('a PUT changes name and quota; only a status_only PUT changes the status, and a used code stays used', async () => {
    const [key] = (await create()).data
    const { id } = (await call('GET', '')).data[0]
    expect((await call('PUT', '', { id, name: 'new', quota: 9, status: 2 })).data).toMatchObject({
      name: 'new',
      quota: 9,
      status: 1,
    })
    expect((await call('PUT', '?status_only=true', { id, status: 2, quota: 77 })).data).toMatchObject({
      status: 2,
      quota: 9,
    })
    for (const status of [0, 3, 4, -1, undefined, '1']) {
      expect(await call('PUT', '?status_only=true', { id, status })).toMatchObject({ success: false })
    }
    for (const wrong of [{ name: '' }, { name: 'x'.repeat(21) }, { quota: 0 }, { quota: -3 }, { quota: 2 ** 60 }]) {
      expect([wrong, await call('PUT', '', { id, ...wrong })]).toMatchObject([wrong, { success: false }])
    }
    await call('PUT', '?status_only=true', { id, status: 1 })
    expect((await redeem(key)).data).toBe(9)
    for (const status of [1, 2]) {
      expect(await call('PUT', '?status_only=true', { id, status })).toMatchObject({ success: false })
    }
    expect(await call('PUT', '', { id, name: 'new', quota: 10 })).toMatchObject({ success: false })
    expect((await call('PUT', '', { id, name: 'late', quota: 9 })).data).toMatchObject({ name: 'late', status: 3 })
    expect((await redeem(key)).success).toBe(false)
    expect(await call('PUT', '', { id: 99_999, name: 'x' })).toMatchObject({ success: false })
  })

  test('an imported name that is too long for a new code does not block other changes', async () => {
    const name = 'a name of an imported code'
    await create()
    await api.store.write((trx) => trx.updateTable('redemptions').set({ name }).execute())
    const { id } = (await call('GET', '')).data[0]
    expect((await call('PUT', '', { id, name, quota: 5 })).data).toMatchObject({ name, quota: 5 })
  })

  test('a code can be deleted in every state, and is then invalid', async () => {
    const [key, used] = (await create({ count: 2 })).data
    await redeem(used)
    const rows = (await call('GET', '')).data
    for (const { id } of rows) expect(await call('DELETE', `${id}/`)).toEqual({ success: true, message: '' })
    expect((await call('GET', '')).data).toEqual([])
    expect((await redeem(key)).success).toBe(false)
    expect(await call('DELETE', '1')).toMatchObject({ success: false })
  })

  test('an admin gives quota to an existing user', async () => {
    expect(await topUp({ user_id: user.id, quota: 300, remark: 'sorry for the trouble' })).toEqual({
      success: true,
      message: '',
    })
    expect(await account()).toMatchObject({ quota: 1300, granted_quota: 1300 })
    expect(await topUp({ user_id: user.id, quota: 5 })).toMatchObject({ success: true })
    expect((await logs()).map((row) => [row.user_id, row.quota, row.content])).toEqual([
      [user.id, 300, 'sorry for the trouble'],
      [user.id, 5, expect.stringContaining('$0.000010')],
    ])
    expect(api.notices).toContainEqual({ topic: 'user', id: user.id })
    for (const body of [
      { user_id: 99_999, quota: 5 },
      { user_id: user.id, quota: 0 },
      { user_id: user.id, quota: -5 },
      { user_id: user.id, quota: maxQuota },
      { user_id: user.id, quota: 1.5 },
      { user_id: user.id },
      { quota: 5 },
      { user_id: user.id, quota: 5, remark: 'x'.repeat(201) },
    ]) {
      expect([body, await topUp(body)]).toMatchObject([body, { success: false }])
    }
    await api.call('DELETE', `/api/user/${user.id}`, { as: admin.token })
    expect(await topUp({ user_id: user.id, quota: 5 })).toMatchObject({ success: false })
    expect((await account()).quota).toBe(1305)
  })

  test('the audit log identifies codes by id, never by their text', async () => {
    const keys = (await create({ count: 3 })).data
    await redeem(keys[0])
    await redeem(`${keys[1]}x`)
    const { id } = (await call('GET', '')).data[0]
    await call('PUT', '', { id, quota: 6 })
    await call('DELETE', String(id))
    await topUp({ user_id: user.id, quota: 5 })
    const trail = await audit()
    expect(trail.map((row) => row.action)).toEqual([
      'redemption.create',
      'redemption.redeem',
      'redemption.update',
      'redemption.delete',
      'user.top-up',
    ])
    const written = JSON.stringify([trail, await logs(), api.warnings])
    for (const key of keys) expect(written).not.toContain(key)
  })

  test('visitors get 401; ordinary users neither see nor create codes, and cannot give quota', async () => {
    await create()
    for (const [method, path] of [
      ['GET', '/api/redemption/'],
      ['GET', '/api/redemption/search'],
      ['GET', '/api/redemption/1'],
      ['POST', '/api/redemption/'],
      ['PUT', '/api/redemption/'],
      ['PUT', '/api/redemption/?status_only=true'],
      ['DELETE', '/api/redemption/1'],
      ['POST', '/api/topup'],
    ] as const) {
      expect((await api.call(method, path)).status).toBe(401)
      const answer = await api.call(method, path, { as: user.token, body: { id: 1, user_id: user.id, quota: 5 } })
      expect([path, answer.json]).toMatchObject([
        path,
        { success: false, message: expect.stringContaining('permission') },
      ])
    }
    expect((await api.call('POST', '/api/user/topup')).status).toBe(401)
    expect((await account()).quota).toBe(1000)
  })
})
