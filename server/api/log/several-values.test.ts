// Filters with several values, and filters that exclude values. Lists, totals, histograms, exports, live rows and usage
// must agree, both before and after the rows are aggregated to hourly sums.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { isWanted } from '../../store/logs/log-outcome.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const hour = 3600
const begin = 1_699_999_200 - 6 * hour
const now = 1_700_000_000
const models = ['gpt-4o', 'o3', 'a,b', 'claude'] as const
const owners = ['ada', 'bob', 'eve'] as const

/** A filter in the server's format, and the rows that it must select. */
const cases: [query: string, wanted: (row: Row) => boolean][] = [
  ['model_name=gpt-4o', (row) => row.model_name === 'gpt-4o'],
  ['model_name=gpt-4o&model_name=o3', (row) => ['gpt-4o', 'o3'].includes(row.model_name)],
  ['model_name=a%2Cb&model_name=', (row) => row.model_name === 'a,b'],
  ['not_model_name=gpt-4o&not_model_name=o3', (row) => !['gpt-4o', 'o3'].includes(row.model_name)],
  ['model_name=gpt-4o&model_name=o3&not_model_name=o3', (row) => row.model_name === 'gpt-4o'],
  ['username=ada&username=bob&not_token_name=spare', (row) => row.username !== 'eve' && row.token_name !== 'spare'],
  ['channel=1&channel=2&channel=NaN', (row) => row.channel_id < 3],
  ['not_channel=2&model_name=o3&model_name=claude', (row) => row.channel_id !== 2 && /o3|claude/.test(row.model_name)],
  ['not_username=ada&not_channel=0', (row) => row.username !== 'ada'],
  ['group=vip&group=gold', (row) => ['vip', 'gold'].includes(groupOf(row))],
  ['not_group=default', (row) => groupOf(row) !== 'default'],
  [
    'group=default&group=&model_name=o3&not_channel=2',
    (row) => row.model_name === 'o3' && row.channel_id !== 2 && groupOf(row) === 'default',
  ],
  ["group=vip'%20or%201=1", () => false],
  ['project=Search', (row) => projectOf(row) === 'Search'],
  ['project=Search&project=a%2Cb&project=', (row) => projectOf(row) !== ''],
  ['not_project=Search', (row) => projectOf(row) !== 'Search'],
  ['project=Search&group=gold&not_model_name=o3', (row) => row.token_id === ownToken && row.model_name !== 'o3'],
  ['project=search', () => false],
  ["project=Search'%20or%201=1", () => false],
]

/**
 * The token whose calls are in the group `gold`, whoever makes them. With other tokens, ada's calls are in `vip`, and
 * all others are in `default`.
 */
const ownToken = 10
const groupOf = (row: Row) => (row.token_id === ownToken ? 'gold' : row.username === 'ada' ? 'vip' : 'default')

/** The projects of the tokens that exist. Calls of other tokens are in no project. */
const projects: Readonly<Record<number, string>> = { [ownToken]: 'Search', 11: 'a,b', 12: 'Search' }
const projectOf = (row: Row) => projects[row.token_id] ?? ''

type Row = ReturnType<typeof rowOf>

const rowOf = (index: number, ids: readonly number[]) => ({
  ...logRow({ userId: ids[index % 3] ?? 0, tokenId: 10 + (index % 5), channelId: 1 + (index % 4) }),
  username: owners[index % 3] ?? '',
  token_name: index % 5 === 0 ? 'spare' : 'main',
  model_name: models[index % 7 < 4 ? index % 7 : 0] ?? '',
  created_at: begin + index * 500,
  quota: 1 + index,
})

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Awaited<ReturnType<TestApi['addPerson']>>
  let ada: typeof admin
  let rows: Row[]

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada' })
    const bob = await api.addPerson({ username: 'bob' })
    const eve = await api.addPerson({ username: 'eve' })
    for (const name of ['first', 'second', 'third'])
      await api.call('POST', '/api/channel/', { as: admin.token, body: { name, type: 1, key: 'sk', models: 'o3' } })
    await api.call('POST', '/api/token/', { as: ada.token, body: { name: 'own', remain_quota: 1, expired_time: -1 } })
    await api.store.write(async (trx) => {
      await trx.updateTable('tokens').set({ id: ownToken, group: 'gold' }).execute()
      await trx.updateTable('tokens').set({ project: 'Search' }).execute()
      await trx.updateTable('users').set({ group: 'vip' }).where('id', '=', ada.id).execute()
    })
    const { key: _key, ...token } = await api.store.read.selectFrom('tokens').selectAll().executeTakeFirstOrThrow()
    const others = [11, 12].map((id) => {
      const own = { id, project: projects[id] ?? '', user_id: bob.id, group: '', key: `k${id}` }
      return { ...token, ...own, key_hash: `hash ${id}` }
    })
    await api.store.write((trx) => trx.insertInto('tokens').values(others).execute())
    rows = Array.from({ length: 42 }, (__, index) => rowOf(index, [ada.id, bob.id, eve.id]))
  })
  afterEach(() => api.store.close())

  async function write(): Promise<void> {
    await api.store.write((trx) => trx.insertInto('logs').values(rows.slice(0, 21)).execute())
    await rollUpUsage(api.store, now)
    await api.store.write((trx) => trx.insertInto('logs').values(rows.slice(21)).execute())
  }

  const get = async (path: string, as = admin) => {
    const { headers, json } = await api.call('GET', path, { as: as.token })
    // biome-ignore lint/suspicious/noExplicitAny: the type depends on the call
    return { ...(json as { success: boolean; message: string; data: any }), headers }
  }
  const sum = (of: readonly Row[]) => of.reduce((total, row) => total + row.quota, 0)

  test('several values and excluded values select the same rows everywhere', async () => {
    await write()
    for (const [query, wanted] of cases) {
      const expected = rows.filter(wanted)
      const list = await get(`/api/log/?size=100&${query}`)
      expect([query, list.data.length]).toEqual([query, expected.length])
      expect([query, list.headers.get('x-total-count')]).toEqual([query, String(expected.length)])
      const sorted = await get(`/api/log/?size=100&sort=quota&order=asc&${query}`)
      expect(sorted.data.map((log: { quota: number }) => log.quota)).toEqual(expected.map((row) => row.quota))
      const stat = await get(`/api/log/stat?${query}`)
      expect([query, stat.data.quota, stat.data.calls]).toEqual([query, sum(expected), expected.length])
      const slow = await get(`/api/log/stat?outcome=slow&slow_seconds=1&${query}`)
      expect([query, slow.success]).toEqual([query, true])
      const { data: bins } = await get(`/api/log/histogram?${query}`)
      const counted = bins.types
        .flatMap((each: { counts: number[] }) => each.counts)
        .reduce((a: number, b: number) => a + b, 0)
      expect([query, counted]).toEqual([query, expected.length])
      const file = await api.app.request(
        `/api/log/export?${query}`,
        { headers: { authorization: admin.token } },
        {
          socketAddress: '203.0.113.9',
        },
      )
      expect([query, (await file.text()).trim().split('\r\n').length - 1]).toEqual([query, expected.length])
      for (const group of ['none', 'model', 'project', 'user', 'channel']) {
        const usage = await get(`/api/usage/?group_by=${group}&${query}`)
        expect([query, group, usage.data.total.quota]).toEqual([query, group, sum(expected)])
      }
      for (const by of ['model', 'project', 'project&and=model']) {
        const table = await get(`/api/usage/table?by=${by}&size=100&${query}`)
        expect([query, by, sum(table.data)]).toEqual([query, by, sum(expected)])
      }
    }
  })

  test('rows of the live log are selected by the same filters as rows of a list', () => {
    const filter = { model_name: ['gpt-4o', 'o3'], not_username: ['eve'], channel: [] }
    const wanted = rows.filter((row) => /gpt-4o|o3/.test(row.model_name) && row.username !== 'eve')
    expect(rows.filter((row) => isWanted({ id: 1, ...row } as never, filter))).toEqual(wanted)
  })

  test('users can filter only their own rows, and cannot filter by user or channel', async () => {
    await write()
    const own = rows.filter((row) => row.username === 'ada' && row.model_name !== 'gpt-4o')
    const query = 'not_model_name=gpt-4o&username=bob&not_username=ada&channel=9&not_channel=1&group=x&not_group=vip'
    const list = await get(`/api/log/self?size=100&${query}`, ada)
    expect(list.data.length).toBe(own.length)
    expect(list.data[0]).not.toHaveProperty('channel_name')
    expect((await get(`/api/usage/?${query}`, ada)).data.total.quota).toBe(sum(own))
  })

  test('a filter has at most 20 values, and each is checked', async () => {
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (__, at) => `${name}=${at + 1}`).join('&')
    for (const name of [
      'model_name',
      'not_model_name',
      'channel',
      'not_channel',
      'username',
      'token_name',
      'not_group',
      'project',
      'not_project',
    ]) {
      expect([name, (await get(`/api/log/?${many(name, 20)}`)).success]).toEqual([name, true])
      expect([name, (await get(`/api/log/?${many(name, 21)}`)).success]).toEqual([name, false])
      expect([name, (await get(`/api/usage/?${many(name, 21)}`)).success]).toEqual([name, false])
    }
    expect((await get(`/api/log/?model_name=o3&model_name=${'x'.repeat(201)}`)).success).toBe(false)
    expect((await get('/api/log/?channel=1&channel=two')).success).toBe(false)
    expect((await get('/api/log/?channel=1&channel=-1')).success).toBe(false)
    expect((await get('/api/log/?model_name=o3&model_name=%00')).success).toBe(false)
    const injected = encodeURIComponent("o3') or 1=1 --")
    expect((await get(`/api/log/?model_name=o3&model_name=${injected}`)).data).toEqual([])
    // Other parameters keep their first value.
    expect((await get('/api/log/?p=0&p=5&type=2&type=x')).success).toBe(true)
  })

  test('admins see the names of channels', async () => {
    await write()
    const names = new Map<number, string | undefined>()
    for (const log of (await get('/api/log/?size=100')).data) names.set(log.channel, log.channel_name)
    expect(Object.fromEntries(names)).toEqual({ 1: 'first', 2: 'second', 3: 'third', 4: undefined })
  })

  test('the values for a filter are listed by number of rows, and can be limited by time range, prefix and reader', async () => {
    await write()
    const values = async (query: string, as = admin) => {
      const { data, message } = await get(`/api/usage/values?${query}`, as)
      return (
        data?.map((each: { value: string; name: string; rows: number }) => [each.value, each.name, each.rows]) ??
        message
      )
    }
    const count = (test: (row: Row) => boolean) => rows.filter(test).length
    const ofModel = (name: string) => count((row) => row.model_name === name)
    expect(await values('of=model')).toEqual([
      ['gpt-4o', 'gpt-4o', ofModel('gpt-4o')],
      ['a,b', 'a,b', ofModel('a,b')],
      ['claude', 'claude', ofModel('claude')],
      ['o3', 'o3', ofModel('o3')],
    ])
    expect(await values('of=model&keyword=GP')).toEqual([['gpt-4o', 'gpt-4o', ofModel('gpt-4o')]])
    expect(await values('of=model&keyword=%25')).toEqual([])
    expect(await values('of=user&keyword=b')).toEqual([['bob', 'bob', 14]])
    expect(await values('of=channel&keyword=sec')).toEqual([['2', 'second', count((row) => row.channel_id === 2)]])
    expect((await values('of=channel')).map((each: unknown[]) => each[1])).toContain('')
    expect(await values(`of=user&start_timestamp=${begin}&end_timestamp=${begin + 100}`)).toEqual([
      ['ada', 'ada', 3],
      ['bob', 'bob', 3],
      ['eve', 'eve', 2],
    ])
    const own = (test: (row: Row) => boolean) => count((row) => row.username === 'ada' && test(row))
    expect(await values('of=token', ada)).toEqual([
      ['main', 'main', own((row) => row.token_name === 'main')],
      ['spare', 'spare', own((row) => row.token_name === 'spare')],
    ])
    expect(await values('of=token&mine=1')).toEqual([])
    const inGroup = (name: string) => [name, name, count((row) => groupOf(row) === name)]
    expect(await values('of=group')).toEqual(
      ['default', 'vip', 'gold']
        .map(inGroup)
        .sort((a, b) => Number(b[2]) - Number(a[2]) || (String(a[0]) < String(b[0]) ? -1 : 1)),
    )
    expect(await values('of=group&keyword=V')).toEqual([inGroup('vip')])
    const inProject = (name: string) => [name, name, count((row) => projectOf(row) === name)]
    expect(await values('of=project')).toEqual(['Search', 'a,b'].map(inProject))
    expect(await values('of=project&keyword=S')).toEqual([inProject('Search')])
    expect(await values('of=project', ada)).toEqual([
      ['Search', 'Search', own((row) => projectOf(row) === 'Search')],
      ['a,b', 'a,b', own((row) => projectOf(row) === 'a,b')],
    ])
    for (const of of ['user', 'channel', 'group'])
      expect(await values(`of=${of}`, ada)).toBe('Only admins can list users, channels and groups.')
    expect(await values('of=planet')).toContain('of')
  })
})
