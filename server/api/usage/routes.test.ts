import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Usage } from '../../../contract/api/usage.ts'
import { addAccount, addSecondToken, logRow } from '../../../test/helpers/accounts.ts'
import type { TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { type Person, withPeople } from '../../../test/helpers/usage-people.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const hour = 3600
const day = 24 * hour
/** 2023-11-14, a Tuesday, 22:13:20 UTC. */
const now = 1_700_000_000
const midnight = now - (now % day)

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Person
  let ada: Person
  let bob: Person

  beforeEach(async () => {
    ;({ api, admin, ada, bob } = await withPeople(await openFresh()))
  })
  afterEach(() => api.store.close())

  const add = (who: Person, created_at: number, quota: number, fields: object = {}) =>
    api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values({
          ...logRow({ userId: who.id, tokenId: who.id * 10, channelId: 1 }),
          username: who.username,
          token_name: 'main',
          created_at,
          quota,
          prompt_tokens: 3,
          completion_tokens: 4,
          elapsed_time: 100 * quota,
          first_byte_time: 10,
          ...fields,
        })
        .execute(),
    )
  const ask = async (query: string, as = admin) =>
    (await api.call('GET', `/api/usage/?${query}`, { as: as.token })).json as {
      success: boolean
      message: string
      data: Usage
    }
  const read = async (query: string, as = admin) => {
    const answer = await ask(query, as)
    expect(answer.message).toBe('')
    return answer.data
  }

  test('the chart and the table of usage agree on the days before and after a clock change', async () => {
    const at = (text: string) => Date.parse(text) / 1000
    await add(ada, at('2023-03-25T22:59:00Z'), 1)
    await add(ada, at('2023-03-25T23:00:00Z'), 2)
    await add(ada, at('2023-03-26T21:59:59Z'), 4)
    await add(ada, at('2023-03-26T22:00:00Z'), 8)
    await add(ada, at('2023-10-28T21:59:00Z'), 16)
    await add(ada, at('2023-10-28T22:00:00Z'), 32)
    await add(ada, at('2023-10-29T22:59:59Z'), 64)
    await add(ada, at('2023-10-29T23:00:00Z'), 128)
    const zone = 'time_zone=Europe/Berlin'
    const ranges = [
      ['2023-02-28T23:00:00Z', '2023-03-31T21:59:59Z'],
      ['2023-09-30T22:00:00Z', '2023-10-31T22:59:59Z'],
      ['2022-12-31T23:00:00Z', '2023-11-14T22:59:59Z'],
    ] as const
    for (let round = 0; round < 2; round++) {
      for (const [from, to] of ranges) {
        const range = `start_timestamp=${at(from)}&end_timestamp=${at(to)}`
        const usage = await read(`${zone}&${range}`)
        const local = new Intl.DateTimeFormat('sv', {
          timeZone: 'Europe/Berlin',
          dateStyle: 'short',
          timeStyle: 'short',
        })
        const starts = usage.buckets.map((start) => local.format(start * 1000).split(' '))
        expect([...new Set(starts.map(([, time]) => time))]).toEqual(['00:00'])
        const spent = starts.flatMap(([day], n) => (usage.values[n] ? [[day, usage.values[n]]] : []))
        const table = await api.call('GET', `/api/usage/table?by=day&sort=name&order=asc&${zone}&${range}`, {
          as: admin.token,
        })
        const rows = table.json.data as { key: string; quota: number }[]
        expect(spent).toEqual(rows.map(({ key, quota }) => [key, quota]))
        const months = await read(`rollup=month&${zone}&${range}`)
        expect(months.values.reduce((sum, value) => sum + value, 0)).toBe(usage.total.quota)
      }
      const october = await read(
        `rollup=month&${zone}&start_timestamp=${at(ranges[1][0])}&end_timestamp=${at(ranges[1][1])}`,
      )
      expect([october.buckets, october.values]).toEqual([[at(ranges[1][0])], [240]])
      await rollUpUsage(api.store, now)
    }
    for (const name of ['Mars', '../etc/passwd', "'; drop table logs", 'x'.repeat(65)])
      expect([name, (await ask(`time_zone=${encodeURIComponent(name)}`)).success]).toEqual([name, false])
  })

  test('by default, sums all usage by day from the first call to now', async () => {
    await add(ada, midnight - 2 * day + 5, 10, { cached_tokens: 2 })
    await add(bob, midnight - 1, 20, { outcome: 'failed', first_byte_time: 0 })
    await add(bob, now - 60, 30)
    await add(bob, now - 60, 1000, { type: 1 })
    const usage = await read('')
    expect(usage).toEqual({
      start: midnight - 2 * day,
      end: midnight + 23 * hour,
      buckets: [midnight - 2 * day, midnight - day, midnight],
      values: [10, 20, 30],
      total: {
        requests: 3,
        quota: 60,
        prompt_tokens: 9,
        completion_tokens: 12,
        tokens: 21,
        cached_tokens: 2,
        cached_share: 0.2222,
        failed: 1,
        duration: 2000,
        first_byte: 10,
      },
      previous: null,
      groups: [],
      other: null,
    })
    await rollUpUsage(api.store, now)
    expect(await read('')).toEqual(usage)
  })

  test('returns every metric in each bucket', async () => {
    await add(ada, midnight + 5, 10, { cached_tokens: 2 })
    await add(ada, midnight + hour, 20)
    await add(ada, midnight + hour, 40, { first_byte_time: 0 })
    const values = async (metric: string) =>
      (await read(`metric=${metric}&rollup=hour&start_timestamp=${midnight}&end_timestamp=${midnight + 2 * hour}`))
        .values
    expect(await values('quota')).toEqual([10, 60, 0])
    expect(await values('requests')).toEqual([1, 2, 0])
    expect(await values('prompt_tokens')).toEqual([3, 6, 0])
    expect(await values('completion_tokens')).toEqual([4, 8, 0])
    expect(await values('tokens')).toEqual([7, 14, 0])
    expect(await values('cached_tokens')).toEqual([2, 0, 0])
    expect(await values('cached_share')).toEqual([0.6667, 0, 0])
    expect(await values('failed')).toEqual([0, 0, 0])
    expect(await values('duration')).toEqual([1000, 3000, 0])
    expect(await values('first_byte')).toEqual([10, 10, 0])
  })

  test('lists the largest groups by name and combines the others', async () => {
    for (const [model, quota] of [
      ['a', 5],
      ['b', 50],
      ['c', 20],
      ['d', 7],
    ] as const)
      await add(ada, midnight, quota, { model_name: model })
    await add(ada, midnight - day, 1, { model_name: 'a' })
    const usage = await read('group_by=model&top=2')
    expect(usage.groups.map(({ key, name, values }) => ({ key, name, values }))).toEqual([
      { key: 'b', name: 'b', values: [0, 50] },
      { key: 'c', name: 'c', values: [0, 20] },
    ])
    expect(usage.other).toMatchObject({ groups: 2, values: [1, 12], total: { quota: 13, requests: 3, tokens: 21 } })
    expect(usage.values).toEqual([1, 82])
    expect((await read('group_by=model&top=4')).other).toBeNull()
  })

  test('tokens, users and channels have their current names, and those that were deleted have their last known names', async () => {
    const account = await addAccount(api.store, { user: 5 })
    const { tokenId } = await addSecondToken(api.store, { ...account, userId: ada.id })
    const channel = { channel_id: 999 }
    await add(ada, midnight, 10, { ...channel, token_id: tokenId, token_name: 'before' })
    await add(bob, midnight, 5, { ...channel, token_id: 999, token_name: 'gone', username: 'bob' })
    await api.store.write((trx) =>
      trx.updateTable('users').set({ username: 'lovelace' }).where('id', '=', ada.id).execute(),
    )
    for (let round = 0; round < 2; round++) {
      expect((await read('group_by=token')).groups.map(({ key, name }) => [key, name])).toEqual([
        [String(tokenId), 'test'],
        ['999', 'gone'],
      ])
      expect((await read('group_by=user')).groups.map(({ name }) => name)).toEqual(['lovelace', 'bob'])
      // For a deleted channel, the name is its id.
      expect((await read('group_by=channel')).groups).toMatchObject([{ key: '999', name: '999', total: { quota: 15 } }])
      await rollUpUsage(api.store, now)
    }
  })

  test('accepts the same filters as the logs, and matches only whole names', async () => {
    await add(ada, midnight, 1, { model_name: 'gpt_4', token_name: '100%' })
    await add(ada, midnight, 2, { model_name: 'gpt-4', token_name: '100x', channel_id: 7 })
    await add(bob, midnight, 4, { model_name: 'gpt-4' })
    for (let round = 0; round < 2; round++) {
      const quota = async (query: string) => (await read(query)).total.quota
      expect(await quota('model_name=gpt_4')).toBe(1)
      expect(await quota('model_name=gpt%25')).toBe(0)
      expect(await quota('token_name=100%25')).toBe(1)
      expect(await quota('username=ada')).toBe(3)
      expect(await quota('channel=7')).toBe(2)
      expect(await quota('username=ada&model_name=gpt-4&channel=7')).toBe(2)
      expect(await quota('username=bob&channel=7')).toBe(0)
      await rollUpUsage(api.store, now)
    }
  })

  test('a range is widened to whole hours, and the response reports the widened range', async () => {
    await add(ada, midnight + 10, 1)
    await add(ada, midnight + hour + 3599, 2)
    await add(ada, midnight + 2 * hour, 4)
    const usage = await read(`rollup=hour&start_timestamp=${midnight + 1800}&end_timestamp=${midnight + hour + 60}`)
    expect(usage).toMatchObject({ start: midnight, end: midnight + 2 * hour, values: [1, 2], total: { quota: 3 } })
  })

  test('compares with the preceding period of the same length', async () => {
    await add(ada, midnight - day, 5, { model_name: 'a' })
    await add(ada, midnight - day - 1, 100, { model_name: 'a' })
    await add(ada, midnight, 7, { model_name: 'a' })
    await add(ada, midnight, 3, { model_name: 'b' })
    const range = `start_timestamp=${midnight}&end_timestamp=${midnight + 22 * hour + 800}`
    const usage = await read(`group_by=model&compare=previous&${range}`)
    expect(usage.previous).toMatchObject({ requests: 0, quota: 0 })
    const earlier = `start_timestamp=${midnight - hour}&end_timestamp=${midnight + 22 * hour + 800}`
    const wider = await read(`group_by=model&compare=previous&${earlier}`)
    expect(wider.previous).toMatchObject({ requests: 2, quota: 105 })
    expect(wider.groups.map(({ key, previous }) => [key, previous?.quota])).toEqual([
      ['a', 105],
      ['b', 0],
    ])
    // Without a start, there is no preceding period.
    expect((await read('compare=previous')).previous).toBeNull()
  })

  test('people see only their own usage and nothing about channels, whatever they request', async () => {
    await add(ada, midnight, 10, { channel_id: 7 })
    await add(bob, midnight, 20, { channel_id: 8 })
    for (let round = 0; round < 2; round++) {
      for (const query of ['', 'username=bob', 'channel=8', 'user_id=3&userId=3', 'group_by=model']) {
        expect([query, (await read(query, ada)).total.quota]).toEqual([query, 10])
      }
      expect((await read('group_by=user', ada)).groups.map(({ name }) => name)).toEqual(['ada'])
      expect((await read('group_by=token', ada)).groups.map(({ total }) => total.quota)).toEqual([10])
      expect(await ask('group_by=channel', ada)).toMatchObject({ success: false })
      await rollUpUsage(api.store, now)
    }
    expect((await api.call('GET', '/api/usage/')).status).toBe(401)
  })

  test('too many buckets and unknown parameter values are refused', async () => {
    expect(await ask('rollup=hour&start_timestamp=1')).toMatchObject({
      success: false,
      message: expect.stringContaining('at most 1000 buckets'),
    })
    for (const query of ['metric=money', 'group_by=group', 'rollup=year', 'utc_offset=900', 'top=0', 'compare=last']) {
      expect([query, (await ask(query)).success]).toEqual([query, false])
    }
  })

  test('deleting log rows does not change the usage figures', async () => {
    await add(ada, midnight - 5 * day, 10)
    await add(ada, midnight, 20)
    const before = await read('group_by=model')
    expect((await api.call('DELETE', `/api/log/?target_timestamp=${midnight}`, { as: admin.token })).json.data).toBe(1)
    expect(await read('group_by=model')).toEqual(before)
    expect((await api.call('GET', '/api/log/stat', { as: admin.token })).json.data).toMatchObject({
      quota: 30,
      token: 14,
    })
    expect((await api.call('GET', '/api/log/', { as: admin.token })).headers.get('x-total-count')).toBe('1')
  })
})
