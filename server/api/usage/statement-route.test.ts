import { afterEach, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { Statement } from '../../../contract/api/statement.ts'
import { logRow } from '../../../test/helpers/accounts.ts'
import type { TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { type Person, withPeople } from '../../../test/helpers/usage-people.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

/** 2023-11-14 22:13:20 UTC. */
const now = 1_700_000_000
const at = (text: string) => Date.parse(text) / 1000

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Person
  let ada: Person

  beforeEach(async () => {
    ;({ api, admin, ada } = await withPeople(await openFresh()))
  })
  afterEach(() => api.store.close())

  /** Writes a log row and applies the balance change in this row, as the server does. */
  const change = (created_at: number, type: number, quota: number, fields: object = {}) =>
    api.store.write(async (trx) => {
      const row = logRow({ userId: ada.id, tokenId: 1, channelId: 1 })
      await trx
        .insertInto('logs')
        .values({ ...row, username: 'ada', type, quota, created_at, ...fields })
        .execute()
      const left = type === 2 ? -quota : quota
      await trx
        .updateTable('users')
        .set((eb) => ({
          quota: eb('quota', '+', left),
          used_quota: eb('used_quota', '+', type === 2 ? quota : 0),
          granted_quota: eb('granted_quota', '+', type === 2 ? 0 : quota),
        }))
        .where('id', '=', ada.id)
        .execute()
    })
  const ask = async (query: string, as = ada) =>
    (await api.call('GET', `/api/user/statement?${query}`, { as: as.token })).json as {
      success: boolean
      message: string
      data: Statement
    }
  const read = async (query: string, as = ada) => {
    const answer = await ask(query, as)
    expect([query, answer.message]).toEqual([query, ''])
    return answer.data
  }
  const started = async () => (await read('month=2023-09')).opening

  test('the opening balance and the changes add up to the closing balance, and each month begins where the last one ended', async () => {
    const before = await started()
    await change(at('2023-09-30T21:00:00Z'), 1, 5000)
    await change(at('2023-09-30T22:30:00Z'), 1, 700)
    await change(at('2023-10-05T10:00:00Z'), 4, 30)
    await change(at('2023-10-06T10:00:00Z'), 3, -200)
    await change(at('2023-10-07T10:00:00Z'), 2, 100, { model_name: 'b' })
    await change(at('2023-10-31T22:59:59Z'), 2, 300, { model_name: 'a' })
    await change(at('2023-10-31T23:00:00Z'), 2, 11, { model_name: 'a' })
    for (let round = 0; round < 2; round++) {
      const zone = 'time_zone=Europe/Berlin'
      const october = await read(`month=2023-10&${zone}`)
      expect(october).toMatchObject({
        start: at('2023-09-30T22:00:00Z'),
        end: at('2023-10-31T22:59:59Z'),
        user: { username: 'ada' },
        opening: before + 5000,
        top_ups: 700,
        bonuses: 30,
        adjustments: -200,
        charges: 400,
        closing: before + 5130,
        held: 0,
        unknown_charges: 0,
      })
      expect(october.models.map(({ model, requests, quota }) => [model, requests, quota])).toEqual([
        ['a', 1, 300],
        ['b', 1, 100],
      ])
      expect((await read(`month=2023-09&${zone}`)).closing).toBe(october.opening)
      const november = await read(`month=2023-11&${zone}`)
      expect(november).toMatchObject({ opening: october.closing, charges: 11, closing: before + 5119, end: now })
      expect(await read(`month=2023-10&user_id=${ada.id}&${zone}`, admin)).toEqual(october)
      await rollUpUsage(api.store, now)
    }
  })

  test('credit that an admin adds or removes appears with its amount in the statement', async () => {
    const before = await read('month=2023-11')
    const as = admin.token
    await api.call('POST', '/api/topup', { as, body: { user_id: ada.id, quota: 900, remark: '' } })
    await api.call('PUT', '/api/user/', { as, body: { id: ada.id, quota_delta: -40 } })
    const after = await read('month=2023-11')
    expect(after).toMatchObject({ opening: before.opening, top_ups: 900, adjustments: -40 })
    expect(after.closing).toBe(before.closing + 860)
    expect(after.unknown_changes).toBe(before.unknown_changes)
  })

  test("an account's initial credit is a bonus in its first month", async () => {
    const created = at('2023-10-05T00:00:00Z')
    await api.store.write(async (trx) => {
      await sql`update schema_migrations set applied_at = ${created}`.execute(trx)
      await trx.updateTable('users').set({ created_time: created }).where('id', '=', ada.id).execute()
    })
    await change(at('2023-10-06T10:00:00Z'), 1, 5000)
    await change(at('2023-11-06T10:00:00Z'), 2, 70)
    expect(await read('month=2023-09')).toMatchObject({ opening: 0, bonuses: 0, closing: 0, is_exact: true })
    const october = await read('month=2023-10')
    expect(october).toMatchObject({ opening: 0, top_ups: 5000, is_exact: true, unknown_changes: 0 })
    expect(october.bonuses).toBeGreaterThan(0)
    expect(october.closing).toBe(october.bonuses + 5000)
    const november = await read('month=2023-11')
    expect(november).toMatchObject({ opening: october.closing, bonuses: 0, charges: 70, closing: october.closing - 70 })
    // An account that was created before the server recorded amounts may have had other changes, so its statement is
    // not exact.
    await api.store.write((trx) =>
      trx
        .updateTable('users')
        .set({ created_time: created - 1 })
        .where('id', '=', ada.id)
        .execute(),
    )
    expect(await read('month=2023-09')).toMatchObject({ is_exact: false, unknown_changes: october.bonuses })
  })

  test('balance changes without a log row or an amount are listed as unknown, and the statement is not exact', async () => {
    await api.store.write((trx) =>
      trx
        .updateTable('users')
        .set((eb) => ({ used_quota: eb('used_quota', '+', 70), quota: eb('quota', '-', 70) }))
        .where('id', '=', ada.id)
        .execute(),
    )
    expect(await read('month=2023-11')).toMatchObject({ is_exact: false, unknown_charges: 70 })
  })

  test('users turn their own statement emails on or off; admins see how many were sent', async () => {
    const path = '/api/user/statement-emails'
    const emails = async (as: typeof ada) => (await api.call('GET', path, { as: as.token })).json.data
    expect(await emails(ada)).toEqual({
      offered: false,
      wanted: true,
      has_address: false,
      month: '2023-10',
      counts: null,
    })
    for (const wanted of [false, false, true, false]) {
      const { json } = await api.call('PUT', path, { as: ada.token, body: { wanted } })
      expect(json.data).toMatchObject({ wanted })
      expect(await emails(ada)).toMatchObject({ wanted })
      expect(await emails(admin)).toMatchObject({ wanted: true })
    }
    const states = ['sent', 'sent', 'waiting', 'sending', 'refused'] as const
    const values = states.map((state, index) => ({ month: '2023-10', user_id: index + 10, state, updated_at: now }))
    await api.store.write((trx) => trx.insertInto('statement_emails').values(values).execute())
    expect(await emails(admin)).toMatchObject({ counts: { sent: 2, waiting: 2, refused: 1 } })
    for (const body of [{}, { wanted: 'yes' }, { wanted: null }, { wanted: true, user_id: admin.id }])
      await api.call('PUT', path, { as: ada.token, body })
    expect(await emails(admin)).toMatchObject({ wanted: true })
  })

  test('people can read only their own statements, and invalid months are refused', async () => {
    for (const query of [
      `month=2023-10&user_id=${admin.id}`,
      'month=2023-12',
      'month=2023-13',
      'month=10-2023',
      'month=',
      'month=2023-10&time_zone=Mars',
      'month=2023-10&user_id=-1',
    ])
      expect([query, (await ask(query)).success]).toEqual([query, false])
    expect((await ask('month=2023-10&user_id=4711', admin)).success).toBe(false)
  })
})
