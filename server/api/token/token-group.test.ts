import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let me: { id: number; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    me = await api.addPerson()
    const root = await api.addPerson({ role: 100 })
    for (const [key, value] of Object.entries({
      UserUsableGroups: { fast: 'Faster channels' },
      GroupRatio: { default: 1, fast: 2, vip: 0.5 },
      GroupGroupRatio: { default: { fast: 1.5 } },
    })) {
      const body = { key, value: JSON.stringify(value) }
      expect((await api.call('PUT', '/api/option/', { as: root.token, body })).json.success).toBe(true)
    }
  })
  afterEach(() => api.store.close())

  const create = async (body: object) => (await api.call('POST', '/api/token/', { as: me.token, body })).json
  const put = async (body: object) => (await api.call('PUT', '/api/token/', { as: me.token, body })).json

  test('8.6 a token gets a group that its owner may choose, and no other', async () => {
    const { data } = await create({ name: 'a', group: 'fast' })
    expect(data.group).toBe('fast')
    for (const group of ['vip', 'nowhere', 'fast,vip', '__proto__', 'constructor']) {
      expect(await create({ name: 'b', group })).toMatchObject({
        success: false,
        message: `You cannot use the group ${group}.`,
        code: 'token_group_not_usable',
      })
      expect(await put({ id: data.id, group })).toMatchObject({ success: false })
    }
    const one = (await api.call('GET', `/api/token/${data.id}`, { as: me.token })).json.data
    expect(one.group).toBe('fast')
  })

  test("a token without a group, or with its owner's group, is stored without a group", async () => {
    for (const group of [undefined, null, '', ' ', 'default']) {
      expect((await create({ name: 'a', ...(group !== undefined && { group }) })).data.group).toBe('')
    }
    const { data } = await create({ name: 'b', group: 'fast' })
    expect((await put({ id: data.id, name: 'c' })).data.group).toBe('fast')
    expect((await put({ id: data.id, group: null })).data.group).toBe('')
  })

  test("an update that sends back the token's current group keeps it, even if the group can no longer be chosen", async () => {
    const { data } = await create({ name: 'a', group: 'fast' })
    await api.store.write((trx) => trx.updateTable('tokens').set({ group: 'gone' }).where('id', '=', data.id).execute())
    expect(await put({ id: data.id, name: 'b', group: 'gone' })).toMatchObject({
      success: true,
      data: { group: 'gone' },
    })
  })

  test('the groups that may be chosen are listed with the ratio that this user pays', async () => {
    expect((await api.call('GET', '/api/user/self/groups', { as: me.token })).json.data).toEqual({
      default: { desc: '', ratio: 1 },
      fast: { desc: 'Faster channels', ratio: 1.5 },
    })
  })

  test('8.6 models and prices of another group are shown only if the user may choose it', async () => {
    const get = async (path: string) => (await api.call('GET', path, { as: me.token })).json.success
    expect(await get('/api/user/available_models?group=fast')).toBe(true)
    expect(await get('/api/user/available_models?group=vip')).toBe(false)
  })

  test('an invalid value of a group option is refused with the reason', async () => {
    const root = await api.addPerson({ role: 100 })
    const set = async (key: string, value: string) =>
      (await api.call('PUT', '/api/option/', { as: root.token, body: { key, value } })).json.message
    expect(await set('UserUsableGroups', '[]')).toContain('UserUsableGroups')
    expect(await set('UserUsableGroups', '{"a,b":""}')).toContain('not the name of a group')
    expect(await set('UserUsableGroups', '{"a":1}')).toContain('must be a text')
    expect(await set('GroupGroupRatio', '{"a":1}')).toContain('groups and ratios')
    expect(await set('GroupGroupRatio', '{"a":{"b":-1}}')).toContain('must not be negative')
  })
})
