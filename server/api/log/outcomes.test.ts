import { afterEach, beforeEach, expect, test } from 'bun:test'
import { logOutcomes } from '../../../contract/log-outcomes.ts'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { isWanted } from '../../store/logs/log-outcome.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const hour = 3600
const begin = 1_699_999_200
const now = begin + 5 * hour
const attempt = (channelId: number, error: string) => ({ channelId, status: 500, error, elapsedMs: 5 })

/** The fields of calls with different outcomes. The name of each outcome is in `token_name`. */
const calls = {
  plain: { quota: 10 },
  failed: { type: 6, quota: 0, outcome: 'failed', attempts: JSON.stringify([attempt(1, 'no')]) },
  interrupted: { outcome: 'interrupted', quota: 3 },
  aborted: { outcome: 'aborted', quota: 1 },
  retried: { attempts: JSON.stringify([attempt(1, 'no'), attempt(2, '')]), elapsed_time: 9_999 },
  quoting: { attempts: JSON.stringify([attempt(1, '},{"channelId"')]) },
  slow: { elapsed_time: 10_000 },
  estimated: { estimated: true },
  bonus: { type: 4, quota: 0 },
  probed: { type: 5, quota: 0, outcome: 'failed' },
}

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Awaited<ReturnType<TestApi['addPerson']>>
  let ada: typeof admin

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada' })
    for (const [index, [token_name, fields]] of Object.entries(calls).entries())
      await add({ token_name, created_at: begin + index * 600, ...fields })
  })
  afterEach(() => api.store.close())

  const add = (fields: object) => {
    const row = { ...logRow({ userId: ada.id, tokenId: 1, channelId: 1 }), username: 'ada', estimated: false }
    return api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values({ ...row, outcome: 'complete', attempts: '', quota: 1, elapsed_time: 5, ...fields })
        .execute(),
    )
  }
  const ask = (path: string, as = admin) => api.call('GET', `/api/log/${path}`, { as: as.token })
  const textOf = async (path: string) => {
    const headers = { authorization: admin.token }
    return (await api.app.request(`/api/log/${path}`, { headers }, { socketAddress: '203.0.113.9' })).text()
  }
  const names = async (path: string, as = admin) =>
    (await ask(path, as)).json.data.map((row: { token_name: string }) => row.token_name)
  /** Runs a check before and after the rows are aggregated to hourly sums. */
  const beforeAndAfter = async (check: () => Promise<void>) => {
    await check()
    await rollUpUsage(api.store, now)
    await check()
  }

  test('lists, files and totals can be limited to one outcome, and users get only their own calls', () =>
    beforeAndAfter(async () => {
      const wanted = {
        failed: ['interrupted', 'failed'],
        slow: ['slow'],
        'slow&slow_seconds=9': ['slow', 'retried'],
        estimated: ['estimated'],
        retried: ['retried'],
        'failed&outcome=estimated': ['estimated', 'interrupted', 'failed'],
        'failed&outcome=&outcome=slow&slow_seconds=9': ['slow', 'retried', 'interrupted', 'failed'],
        'slow&slow_seconds=9&not_outcome=slow': [],
      }
      for (const [query, expected] of Object.entries(wanted)) {
        const path = `?outcome=${query}`
        const answer = await ask(path)
        expect([query, answer.headers.get('x-total-count')]).toEqual([query, String(expected.length)])
        expect(answer.headers.has('x-searched-count')).toBe(false)
        expect([query, await names(path)]).toEqual([query, expected])
        expect(await names(`${path}&order=asc&size=1`)).toEqual(expected.slice(-1))
        expect((await names(`${path}&sort=quota`)).sort()).toEqual([...expected].sort())
        const file = await textOf(`export${path}`)
        expect([query, file.trim().split('\n').length - 1]).toEqual([query, expected.length])
        const { calls: counted } = (await ask(`stat${path}`)).json.data
        expect([query, counted]).toEqual([query, expected.length])
        if (query !== 'retried') expect(await names(`self${path}`, ada)).toEqual(expected)
        expect(await names(`${path}&username=nobody`)).toEqual([])
      }
      const rest = ['probed', 'bonus', 'slow', 'quoting', 'retried', 'aborted', 'plain']
      const not = '?not_outcome=failed&not_outcome=estimated'
      expect(await names(not)).toEqual(rest)
      expect(await names(`self${not}`, ada)).toEqual(rest)
      expect(await names('?outcome=slow&slow_seconds=9&not_outcome=retried')).toEqual(['slow'])
      expect((await ask(`stat${not}`)).json.data).toMatchObject({ calls: 5, failed: 0 })
      expect((await textOf(`export${not}`)).trim().split('\n').length - 1).toBe(rest.length)
      const { types } = (await ask(`histogram${not}&type=2`)).json.data
      expect(
        types.flatMap(({ counts }: { counts: number[] }) => counts).reduce((a: number, b: number) => a + b, 0),
      ).toBe(5)
      expect(await names('self?outcome=failed', admin)).toEqual([])
      expect(await names('?outcome=failed&type=6')).toEqual(['failed'])
      expect(await names(`?outcome=failed&start_timestamp=${begin + 601}`)).toEqual(['interrupted'])
      expect((await ask('stat?outcome=failed&type=1')).json.data).toMatchObject({ quota: 3, calls: 2, failed: 2 })
    }))

  test('totals contain the number of failed calls, and a histogram has separate counts for each outcome', () =>
    beforeAndAfter(async () => {
      expect((await ask('stat')).json.data).toMatchObject({ calls: 8, failed: 2 })
      expect((await ask('stat?channel=1')).json.data).toMatchObject({ calls: 8, failed: 2 })
      expect((await ask(`stat?end_timestamp=${begin + 600}`)).json.data).toMatchObject({ calls: 2, failed: 1 })
      const range = `start_timestamp=${begin}&end_timestamp=${begin + 2 * hour - 1}`
      const inHours = (await ask(`histogram?buckets=2&${range}`)).json.data
      expect(inHours.outcomes).toEqual([
        { outcome: 'succeeded', counts: [4, 2] },
        { outcome: 'failed', counts: [2, 0] },
        { outcome: 'other', counts: [0, 2] },
      ])
      const inMinutes = (await ask(`histogram?buckets=400&${range}`)).json.data.outcomes
      const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0)
      expect(inMinutes.map(({ counts }: { counts: number[] }) => sum(counts))).toEqual([6, 2, 2])
      expect((await ask(`histogram?buckets=2&outcome=slow&${range}`)).json.data.types).toEqual([
        { type: 2, counts: [0, 1] },
      ])
    }))

  test('a stream selects the same rows as a list', async () => {
    const attempts = JSON.stringify([attempt(1, 'cut'), attempt(2, '')])
    await add({ token_name: 'rescued', outcome: 'rescued', attempts, created_at: begin + 9 * 600 })
    expect(await names('?outcome=rescued')).toEqual(['rescued'])
    expect(await names('?outcome=retried')).toEqual(['rescued', 'retried'])
    const rows = await api.store.read.selectFrom('logs').selectAll().orderBy('id', 'desc').execute()
    const filters = logOutcomes.flatMap((outcome) => [
      { outcome: [outcome] },
      { not_outcome: [outcome] },
      { outcome: [outcome, 'failed' as const], not_outcome: ['retried' as const] },
    ])
    for (const filter of filters) {
      const matching = rows.filter((row) => isWanted(row, { ...filter, slow_seconds: 9 }))
      const query = new URLSearchParams()
      for (const [name, all] of Object.entries(filter)) for (const each of all) query.append(name, each)
      expect([String(query), matching.map((row) => row.token_name)]).toEqual([
        String(query),
        await names(`?${query}&slow_seconds=9`),
      ])
    }
  })

  test('users cannot filter for calls that were retried or whose broken stream was continued (`rescued`), and invalid values are refused', async () => {
    for (const path of ['self', 'self/stat', 'self/histogram'])
      for (const outcome of ['retried', 'rescued'])
        expect([path, (await ask(`${path}?outcome=${outcome}`, ada)).json.success]).toEqual([path, false])
    for (const path of ['self', 'self/export'])
      expect([path, (await ask(`${path}?not_outcome=retried`, ada)).json.success]).toEqual([path, false])
    for (const query of [
      'outcome=lost',
      'outcome=failed&outcome=lost',
      'not_outcome=lost',
      'slow_seconds=0',
      'slow_seconds=1e9',
      'slow_seconds=x',
    ])
      expect([query, (await ask(`?${query}`)).json.success]).toEqual([query, false])
  })

  test('a list of a common outcome searches only the newest rows and returns how many it searched', async () => {
    const many = Array.from({ length: 10_200 }, (_, index) => index)
    const row = { ...logRow({ userId: ada.id, tokenId: 1, channelId: 1 }), username: 'ada', attempts: '', quota: 1 }
    for (let at = 0; at < many.length; at += 300)
      await api.store.write((trx) =>
        trx
          .insertInto('logs')
          .values(many.slice(at, at + 300).map((each) => ({ ...row, created_at: now - each, elapsed_time: 20_000 })))
          .execute(),
      )
    await rollUpUsage(api.store, now)
    const answer = await ask('?outcome=slow')
    const searched = Number(answer.headers.get('x-searched-count'))
    expect(searched).toBeLessThanOrEqual(10_000)
    expect(answer.headers.get('x-total-count')).toBe(String(searched))
    const own = await ask('self?outcome=failed', ada)
    expect(own.headers.get('x-searched-count')).toBe(String(searched))
    expect(own.json.data).toEqual([])
    // Failed calls have an index, so those outside the searched rows are found, too.
    expect(await names('?outcome=failed')).toEqual(['interrupted', 'failed'])
  })
})
