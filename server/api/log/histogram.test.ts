import { afterEach, beforeEach, expect, test } from 'bun:test'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const hour = 3600
const day = 24 * hour
/** 2023-11-14, a Tuesday, 22:13:20 UTC. */
const now = 1_700_000_000
const midnight = now - (now % day)

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Awaited<ReturnType<TestApi['addPerson']>>
  let ada: typeof admin

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada' })
  })
  afterEach(() => api.store.close())

  const add = (created_at: number, fields: object = {}) =>
    api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values({ ...logRow({ userId: ada.id, tokenId: 1, channelId: 1 }), quota: 1, created_at, ...fields })
        .execute(),
    )
  const ask = async (path: string, as = admin) =>
    (await api.call('GET', `/api/log/${path}`, { as: as.token })).json.data
  /** Expects the same result before and after the rows are aggregated. */
  const expectBoth = async (path: string, expected: object, as = admin) => {
    expect(await ask(path, as)).toEqual(expected)
    await rollUpUsage(api.store, now)
    expect(await ask(path, as)).toEqual(expected)
  }

  test("counts rows by day and type, only within the range, in the reader's time zone", async () => {
    await add(midnight - 2 * day)
    await add(midnight - 1)
    await add(midnight, { type: 4 })
    await add(midnight + 100)
    await add(midnight + 1800)
    const range = `start_timestamp=${midnight - 2 * day}&end_timestamp=${midnight + 1000}`
    await expectBoth(`histogram?buckets=3&${range}`, {
      step: day,
      starts: [midnight - 2 * day, midnight - day, midnight],
      types: [
        { type: 2, counts: [1, 1, 1] },
        { type: 4, counts: [0, 0, 1] },
      ],
      outcomes: [
        { outcome: 'succeeded', counts: [1, 1, 1] },
        { outcome: 'other', counts: [0, 0, 1] },
      ],
    })
    // In Shanghai the day began at 16:00 UTC.
    expect(await ask(`histogram?buckets=3&utc_offset=480&${range}`)).toEqual({
      step: day,
      starts: [midnight - 2 * day - 8 * hour, midnight - day - 8 * hour, midnight - 8 * hour],
      types: [
        { type: 2, counts: [1, 0, 2] },
        { type: 4, counts: [0, 0, 1] },
      ],
      outcomes: [
        { outcome: 'succeeded', counts: [1, 0, 2] },
        { outcome: 'other', counts: [0, 0, 1] },
      ],
    })
  })

  test('counts in minutes if the range is short', async () => {
    await add(midnight + 61)
    await add(midnight + 119)
    await add(midnight + 300, { type: 1 })
    await add(midnight + 301)
    await expectBoth(`histogram?start_timestamp=${midnight}&end_timestamp=${midnight + 300}&buckets=10`, {
      step: 60,
      starts: [0, 1, 2, 3, 4, 5].map((minute) => midnight + minute * 60),
      types: [
        { type: 1, counts: [0, 0, 0, 0, 0, 1] },
        { type: 2, counts: [0, 2, 0, 0, 0, 0] },
      ],
      outcomes: [
        { outcome: 'succeeded', counts: [0, 2, 0, 0, 0, 0] },
        { outcome: 'other', counts: [0, 0, 0, 0, 0, 1] },
      ],
    })
  })

  test('without a range, covers the time from the first row to now in no more parts than requested', async () => {
    expect(await ask('histogram?buckets=5')).toMatchObject({ types: [] })
    await add(midnight - 200 * day)
    await add(midnight)
    const all = await ask('histogram?buckets=9')
    expect(all.step).toBe(30 * day)
    expect(all.starts.length).toBeLessThanOrEqual(9)
    expect(all.starts[0]).toBeLessThanOrEqual(midnight - 200 * day)
    expect(all.starts.at(-1) + all.step).toBeGreaterThan(now)
    expect(all.types).toHaveLength(1)
    expect(all.types[0].counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(2)
    expect(await ask('histogram?buckets=1')).toMatchObject({ types: [{ type: 2, counts: [2] }] })
  })

  test('accepts the filters of the list, shows people only their own rows, and omits deleted rows', async () => {
    await add(midnight, { model_name: 'a' })
    await add(midnight, { model_name: 'b' })
    await add(midnight, { user_id: admin.id })
    const count = async (path: string, as = admin) =>
      (await ask(path, as)).types[0]?.counts.reduce((sum: number, each: number) => sum + each) ?? 0
    expect(await count('histogram?model_name=a')).toBe(1)
    expect(await count('histogram?type=4')).toBe(0)
    expect(await count('self/histogram?username=admin&user_id=1', ada)).toBe(2)
    expect((await api.call('GET', '/api/log/histogram', { as: ada.token })).json.success).toBe(false)
    await api.call('DELETE', `/api/log/?target_timestamp=${midnight + 1}`, { as: admin.token })
    expect((await ask('histogram')).types).toEqual([])
  })
})
