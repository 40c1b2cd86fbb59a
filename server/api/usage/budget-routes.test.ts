import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Budget } from '../../../contract/api/budget.ts'
import { logRow } from '../../../test/helpers/accounts.ts'
import type { TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { setOptions } from '../../../test/helpers/mail-server.ts'
import { type Person, withPeople } from '../../../test/helpers/usage-people.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

/** 2023-11-14 22:13:20 UTC. */
const now = 1_700_000_000
const day = 86_400
const midnight = now - (now % day)
const nextMonth = Date.parse('2023-12-01T00:00:00Z') / 1000

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Person
  let ada: Person
  let bob: Person

  beforeEach(async () => {
    ;({ api, admin, ada, bob } = await withPeople(await openFresh()))
    // There are no limits except those that a test sets.
    await setUser(admin.id, { quota: 0, granted_quota: 0 })
    await setUser(ada.id, { quota: 0, granted_quota: 0 })
    await setUser(bob.id, { quota: 0, granted_quota: 0 })
  })
  afterEach(() => api.store.close())

  const setUser = (id: number, fields: object) =>
    api.store.write((trx) => trx.updateTable('users').set(fields).where('id', '=', id).execute())
  const addToken = async (who: Person, name: string, fields: object = {}) => {
    const made = await api.call('POST', '/api/token/', { as: who.token, body: { name, unlimited_quota: true } })
    expect(made.json.success).toBe(true)
    const id = await api.store.read.selectFrom('tokens').select('id').where('name', '=', name).executeTakeFirstOrThrow()
    if (Object.keys(fields).length > 0)
      await api.store.write((trx) => trx.updateTable('tokens').set(fields).where('id', '=', id.id).execute())
    return id.id
  }
  const spend = (who: Person, quota: number, token_id = 0, created_at = now - 3 * day) =>
    api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values({
          ...logRow({ userId: who.id, tokenId: token_id, channelId: 1 }),
          username: who.username,
          created_at,
          quota,
        })
        .execute(),
    )
  const ask = async (query: string, as = admin) => {
    const { headers, json } = await api.call('GET', `/api/budget/?${query}`, { as: as.token })
    const { success, message, data } = json as { success: boolean; message: string; data: Budget[] }
    return { success, message, data, total: Number(headers.get('x-total-count')) }
  }
  const read = async (query = '', as = admin) => {
    const answer = await ask(query, as)
    expect([query, answer.message]).toEqual([query, ''])
    return answer.data
  }
  const brief = (rows: Budget[]) =>
    rows.map(({ owner, period, username, token_name }) => [owner, period, token_name || username].join(' '))

  test('every kind of limit is listed with the amount used, and the limits that are closest to being reached come first', async () => {
    await setUser(ada.id, { quota: 900, granted_quota: 5000, spent_month: 100, spent_today: 30, spent_at: now - 5 })
    await setUser(ada.id, { daily_budget: 60, monthly_budget: 1000 })
    await addToken(ada, 'limited', { unlimited_quota: false, granted_quota: 400, remain_quota: 100 })
    await addToken(ada, 'budget', {
      daily_budget: 10,
      monthly_budget: 50,
      spent_today: 8,
      spent_month: 9,
      spent_at: midnight,
    })
    await addToken(ada, 'free')
    const rows = await read()
    expect(brief(rows)).toEqual([
      'token day budget',
      'token total limited',
      'user day ada',
      'token month budget',
      'user month ada',
      'user total ada',
    ])
    expect(rows.find(({ owner, period }) => owner === 'user' && period === 'total')).toMatchObject({
      user_id: ada.id,
      limit: 1000,
      used: 100,
      left: 900,
      share: 0.1,
      pace: 0,
      forecast: null,
      runs_out: null,
      resets: 0,
    })
    expect(rows.find(({ token_name, period }) => token_name === 'limited' && period === 'total')).toMatchObject({
      limit: 400,
      used: 300,
      left: 100,
      share: 0.75,
    })
    expect(rows[0]).toMatchObject({ limit: 10, used: 8, share: 0.8, resets: midnight + day, forecast: 8 })
  })

  test('spending on an earlier day or in an earlier month does not count', async () => {
    await setUser(ada.id, { daily_budget: 60, monthly_budget: 1000, spent_today: 50, spent_month: 70 })
    await setUser(ada.id, { spent_at: midnight - 1 })
    expect((await read('period=day'))[0]).toMatchObject({ used: 0 })
    expect((await read('period=month'))[0]).toMatchObject({ used: 70 })
    await setUser(ada.id, { spent_at: now - 20 * day })
    expect((await read('period=month'))[0]).toMatchObject({ used: 0 })
  })

  test('the forecast is based on the last seven days, both before and after the rollup', async () => {
    const token = await addToken(ada, 'main', { unlimited_quota: false, granted_quota: 2000, remain_quota: 1000 })
    await api.store.write((trx) => trx.updateTable('tokens').set({ created_time: 0 }).execute())
    await setUser(ada.id, { quota: 500, granted_quota: 1200, created_time: 0, monthly_budget: 3000 })
    await setUser(ada.id, { spent_month: 700, spent_at: now })
    await spend(ada, 400, token)
    await spend(ada, 300, token, now - 60)
    await spend(ada, 5000, token, now - 9 * day)
    await spend(bob, 77, 0)
    for (let round = 0; round < 2; round++) {
      const rows = await read('sort=runs_out&order=asc')
      expect(brief(rows)).toEqual(['user total ada', 'token total main', 'user month ada'])
      expect(rows.map(({ pace }) => pace)).toEqual([100, 100, 100])
      expect(rows[0]).toMatchObject({ runs_out: now + 5 * day, left: 500 })
      expect(rows[1]).toMatchObject({ runs_out: now + 10 * day })
      expect(rows[2]).toMatchObject({
        runs_out: null,
        forecast: 700 + Math.round((100 * (nextMonth - now)) / day),
        resets: nextMonth,
      })
      expect(brief(await read('level=runs_out'))).toEqual(['user total ada'])
      await rollUpUsage(api.store, now)
    }
    // The pace of an account that is three and a half days old is its average over these days.
    await setUser(ada.id, { created_time: now - 3.5 * day })
    expect((await read('owner=user&period=total'))[0]).toMatchObject({ pace: 200 })
    // An empty balance has already run out.
    await setUser(ada.id, { quota: -3 })
    expect((await read('owner=user&period=total'))[0]).toMatchObject({ left: -3, runs_out: now })
  })

  test('a group gives its users limits unless they have their own', async () => {
    await setOptions(api, {
      GroupLimits: JSON.stringify({ default: { daily_budget: 100 }, "o'x": { monthly_budget: 5 } }),
    })
    await setUser(ada.id, { daily_budget: 7 })
    await setUser(admin.id, { group: "o'x" })
    const rows = await read('sort=name&order=asc')
    expect(rows.map(({ username, period, limit, from_group }) => [username, period, limit, from_group])).toEqual([
      ['ada', 'day', 7, ''],
      ['admin', 'month', 5, "o'x"],
      ['bob', 'day', 100, 'default'],
    ])
  })

  test('rows can be filtered, searched, sorted and paged', async () => {
    await setUser(ada.id, { daily_budget: 100, spent_today: 80, spent_at: now, monthly_budget: 1000 })
    await setUser(bob.id, {
      daily_budget: 100,
      spent_today: 96,
      spent_month: 96,
      spent_at: now,
      quota: 5,
      granted_quota: 5,
    })
    await addToken(bob, 'a%_b', { daily_budget: 3 })
    const names = async (query: string) => brief(await read(query))
    expect(await names('level=near')).toEqual(['user day bob', 'user total bob', 'user day ada'])
    expect(await names('level=critical')).toEqual(['user day bob', 'user total bob'].slice(0, 2))
    expect(await names('owner=token')).toEqual(['token day a%_b'])
    expect(await names('period=month')).toEqual(['user month ada'])
    expect(await names('keyword=%25_')).toEqual(['token day a%_b'])
    expect(await names(`user_id=${ada.id}`)).toEqual(['user day ada', 'user month ada'])
    for (const sort of ['share', 'runs_out', 'limit', 'used', 'left', 'pace', 'name'])
      for (const order of ['asc', 'desc']) {
        const rows = await read(`sort=${sort}&order=${order}`)
        expect([sort, rows.length]).toEqual([sort, 5])
      }
    expect((await read('sort=left&order=asc')).map(({ left }) => left)).toEqual([3, 4, 5, 20, 1000])
    const [first, second, beyond] = [await ask('size=2'), await ask('size=2&p=1'), await ask('size=2&p=9')]
    expect([first.total, second.total, beyond.total]).toEqual([5, 5, 5])
    expect([first.data.length, second.data.length, beyond.data.length]).toEqual([2, 2, 0])
  })

  test('people see only their own limits, the limits of disabled users and tokens are not listed, and invalid input is refused', async () => {
    await setUser(ada.id, { daily_budget: 100 })
    await setUser(bob.id, { daily_budget: 100 })
    await addToken(bob, 'of bob', { daily_budget: 3 })
    await addToken(ada, 'off', { daily_budget: 3, status: 2 })
    expect(brief(await read('', ada))).toEqual(['user day ada'])
    expect(brief(await read(`user_id=${ada.id}`, ada))).toEqual(['user day ada'])
    expect(await read('keyword=bob', ada)).toEqual([])
    expect((await ask(`user_id=${bob.id}`, ada)).success).toBe(false)
    const own = await download('', ada)
    expect([own.includes('ada'), own.includes('bob')]).toEqual([true, false])
    await setUser(bob.id, { status: 2 })
    expect(brief(await read())).toEqual(['user day ada'])
    for (const query of [
      'owner=channel',
      'period=year',
      'level=all',
      'user_id=-1',
      'user_id=x',
      `keyword=${'x'.repeat(101)}`,
    ])
      expect([query, (await ask(query)).success]).toEqual([query, false])
  })

  const download = async (query: string, as = admin) => {
    const headers = { authorization: as.token }
    const response = await api.app.request(`/api/budget/export?${query}`, { headers }, { socketAddress: '203.0.113.9' })
    return response.text()
  }

  test('the exported file has all rows with amounts in dollars, and exports by admins are recorded', async () => {
    await setUser(ada.id, { monthly_budget: 1_000_000, spent_month: 250_000, spent_at: now })
    await addToken(ada, '=1+1', { daily_budget: 500_000 })
    const lines = (await download('')).trimEnd().split('\r\n')
    expect(lines[0]).toContain('"limit_usd","used_usd","left_usd"')
    expect(lines).toHaveLength(3)
    expect(lines[1]).toContain('"month"')
    expect(lines[1]).toContain(
      ',2.000000,0.500000,1.500000,0.000000,0.500000,0.2500,"","2023-12-01 00:00",1000000,250000,750000,0,250000',
    )
    expect(lines[2]).toContain(`"'=1+1"`)
    const events = await api.store.read.selectFrom('audit_events').select('action').execute()
    expect(events.map(({ action }) => action)).toContain('budget.export')
  })
})
