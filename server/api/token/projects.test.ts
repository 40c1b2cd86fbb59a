import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let me: { id: number; token: string }
  let other: { id: number; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    me = await api.addPerson()
    other = await api.addPerson()
  })
  afterEach(() => api.store.close())

  const create = async (body: object, as = me.token) => (await api.call('POST', '/api/token/', { as, body })).json
  const put = async (body: object) => (await api.call('PUT', '/api/token/', { as: me.token, body })).json
  const list = async (query: string, as = me.token) =>
    (await api.call('GET', `/api/token/${query}`, { as })).json.data.map(({ name }: { name: string }) => name)
  const projects = async (as = me.token) => (await api.call('GET', '/api/token/projects', { as })).json.data
  const use = (name: string, used_quota: number) =>
    api.store.write((trx) => trx.updateTable('tokens').set({ used_quota }).where('name', '=', name).execute())

  test('a token has a project, which changes only if it is sent', async () => {
    const { data } = await create({ name: 'a', project: '  Search index ' })
    expect(data.project).toBe('Search index')
    expect((await put({ id: data.id, name: 'b' })).data.project).toBe('Search index')
    expect((await put({ id: data.id, project: 'Web' })).data.project).toBe('Web')
    expect((await put({ id: data.id, project: null })).data.project).toBe('')
    expect((await create({ name: 'c' })).data.project).toBe('')
    expect((await create({ name: 'c', project: '𝒫'.repeat(64) })).data.project).toBe('𝒫'.repeat(64))
    expect(await create({ name: 'c', project: 'x'.repeat(65) })).toMatchObject({
      success: false,
      message: expect.stringContaining('at most 64 characters'),
    })
    const audited = await api.store.read.selectFrom('audit_events').select('detail').orderBy('id').execute()
    expect(audited.map(({ detail }) => detail)).toContain('project="Search index" → "Web"')
  })

  test('the list can be filtered and sorted by project, also in combination with other filters', async () => {
    for (const [name, project] of [
      ['a1', 'alpha'],
      ['b1', 'beta'],
      ['a2', 'alpha'],
      ['free', ''],
      ['alpha-like', 'alpha 2'],
    ])
      await create({ name, project, unlimited_quota: true })
    await create({ name: 'theirs', project: 'alpha' }, other.token)
    expect(await list('?project=alpha')).toEqual(['a2', 'a1'])
    expect(await list('search?project=alpha&keyword=a1')).toEqual(['a1'])
    expect(await list('?project=Alpha')).toEqual([])
    expect(await list('?project=%25')).toEqual([])
    expect(await list('?sort=project&order=desc&size=3')).toEqual(['b1', 'alpha-like', 'a2'])
    await api.store.write((trx) => trx.updateTable('tokens').set({ status: 2 }).where('name', '=', 'a1').execute())
    expect(await list('?project=alpha&status=2')).toEqual(['a1'])
    const refused = await api.call('GET', `/api/token/?project=${'x'.repeat(65)}`, { as: me.token })
    expect(refused.json.success).toBe(false)
  })

  test('projects have the totals of their own tokens only', async () => {
    expect(await projects()).toEqual([])
    for (const [name, project] of [
      ['b', 'beta'],
      ['a2', 'alpha'],
      ['a1', 'alpha'],
      ['a1', 'alpha'],
      ['', 'alpha'],
      ['free', ''],
    ])
      await create({ name, project })
    await create({ name: 'theirs', project: 'alpha' }, other.token)
    await use('a1', 1_000_000_000_000_000)
    await use('a2', 7)
    await use('theirs', 1000)
    expect(await projects()).toEqual([
      { project: '', tokens: 1, used_quota: 0, token_names: ['free'] },
      { project: 'alpha', tokens: 4, used_quota: 2_000_000_000_000_007, token_names: ['a1', 'a2'] },
      { project: 'beta', tokens: 1, used_quota: 0, token_names: ['b'] },
    ])
    expect(await projects(other.token)).toEqual([
      { project: 'alpha', tokens: 1, used_quota: 1000, token_names: ['theirs'] },
    ])
  })

  test('at most 20 names of tokens are listed for a project', async () => {
    for (let i = 0; i < 22; i++) await create({ name: `token ${String(i).padStart(2, '0')}`, project: 'many' })
    const [many] = await projects()
    expect([many.tokens, many.token_names.length, many.token_names[19]]).toEqual([22, 20, 'token 19'])
  })
})
