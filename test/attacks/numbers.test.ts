// Amounts that are negative, too large or not whole numbers, and sums that would overflow.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { balanceFaults } from '../../server/store/ledger/balance-check.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { setOptions } from '../helpers/mail-server.ts'
import { type Attacker, belongings, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

/** Values that are invalid for every amount. They are JSON text because some of them are not JavaScript values. */
const never = [
  '-1',
  '-0.5',
  '0.5',
  '1e15',
  '1000000000000001',
  '9007199254740993',
  '9223372036854775808',
  '1e308',
  '1e400',
  '-1e400',
  '"5"',
  '"NaN"',
  'true',
  '[5]',
  '{}',
]
const most = 1e15

forEachDatabase((_, openFresh) => {
  let set: Scene
  let user: Attacker
  let admin: Attacker
  let owned: Awaited<ReturnType<typeof belongings>>

  beforeEach(async () => {
    set = await scene(await openFresh())
    user = await set.person()
    admin = await set.person(10)
    owned = await belongings(set, user, admin)
  })
  afterEach(async () => {
    expect((await balanceFaults(set.api.store)).faults).toEqual([])
    await set.api.store.close()
  })

  const send = (method: string, path: string, as: Attacker, body: unknown) =>
    set.api.call(method, path, { as: as.token, body })
  const quotaOf = async ({ id }: Attacker) => (await set.rows('users')).find((row) => row['id'] === id)?.['quota']

  test('negative and overflowing user quotas are refused, both as new values and as amounts to add', async () => {
    for (const amount of never.filter((each) => each !== '1e15')) {
      const { json } = await send('PUT', '/api/user/', admin, `{"id":${user.id},"quota":${amount}}`)
      expect([amount, json.success]).toEqual([amount, false])
    }
    for (const amount of ['-1001', '1e15', '-1e15', '1e16', '0.1', '"7"']) {
      const { json } = await send('PUT', '/api/user/', admin, `{"id":${user.id},"quota_delta":${amount}}`)
      expect([amount, json.success]).toEqual([amount, false])
    }
    expect(await quotaOf(user)).toBe(1000)
    expect((await send('PUT', '/api/user/', admin, { id: user.id, quota: most })).json.success).toBe(true)
    expect((await send('PUT', '/api/user/', admin, { id: user.id, quota_delta: 1 })).json.success).toBe(false)
    expect(await quotaOf(user)).toBe(most)
  })

  test('negative and overflowing token quotas are refused on creation and on change', async () => {
    const before = await set.rows('tokens')
    for (const amount of never.filter((each) => each !== '1e15')) {
      for (const method of ['POST', 'PUT']) {
        const { json } = await send(
          method,
          '/api/token/',
          user,
          `{"id":${owned.token.id},"name":"x","remain_quota":${amount}}`,
        )
        expect([method, amount, json.success]).toEqual([method, amount, false])
      }
    }
    for (const amount of ['-51', '1e15', '-1e15', '1e16', '0.1']) {
      const { json } = await send('PUT', '/api/token/', user, `{"id":${owned.token.id},"remain_quota_delta":${amount}}`)
      expect([amount, json.success]).toEqual([amount, false])
    }
    expect(await set.rows('tokens')).toEqual(before)
  })

  test('a code or a gift is worth at least 1, and never more than an account can hold', async () => {
    for (const amount of [...never.filter((each) => each !== '1e15'), '0', 'null']) {
      const made = await send('POST', '/api/redemption/', admin, `{"name":"x","quota":${amount}}`)
      expect([amount, made.json.success]).toEqual([amount, false])
      const changed = await send(
        'PUT',
        '/api/redemption/',
        admin,
        `{"id":${owned.redemptionId},"quota":${amount === 'null' ? '0' : amount}}`,
      )
      expect([amount, changed.json.success]).toEqual([amount, false])
      const given = await send('POST', '/api/topup', admin, `{"user_id":${user.id},"quota":${amount}}`)
      expect([amount, given.json.success]).toEqual([amount, false])
    }
    for (const count of ['-1', '0', '101', '1e9', '1.5', '"3"']) {
      const { json } = await send('POST', '/api/redemption/', admin, `{"name":"x","quota":5,"count":${count}}`)
      expect([count, json.success]).toEqual([count, false])
    }
    expect(await set.rows('redemptions')).toHaveLength(1)
    await send('PUT', '/api/user/', admin, { id: user.id, quota: most - 10 })
    expect((await send('POST', '/api/user/topup', user, { key: owned.code })).json.success).toBe(false)
    expect((await send('POST', '/api/topup', admin, { user_id: user.id, quota: 11 })).json.success).toBe(false)
    expect(await quotaOf(user)).toBe(most - 10)
    expect((await set.rows('redemptions'))[0]).toMatchObject({ status: 1 })
  })

  test('invitation bonuses stop at an account’s maximum and never overflow it', async () => {
    await setOptions(set.api, {
      QuotaForInviter: String(most),
      QuotaForInvitee: String(most),
      QuotaForNewUser: String(most),
    })
    const code = (await set.api.call('GET', '/api/user/aff', { as: user.token })).json.data
    for (let invited = 0; invited < 3; invited++) {
      const body = { username: `invited${invited}`, password: 'long enough', aff_code: code }
      expect((await set.api.call('POST', '/api/user/register', { body })).json.success).toBe(true)
    }
    for (const row of await set.rows('users')) expect(Number(row['quota'])).toBeLessThanOrEqual(most)
  })

  test('ids and times outside the valid range are refused or match nothing', async () => {
    for (const id of [
      '9223372036854775808',
      '9007199254740993',
      '99999999999999999999',
      '-1',
      '0',
      '1e3x',
      '1.5',
      'NaN',
      '%00',
    ]) {
      for (const path of ['token', 'user', 'channel', 'redemption']) {
        const { status, json } = await set.api.call('GET', `/api/${path}/${id}`, { as: admin.token })
        expect([path, id, status, json.success]).toEqual([path, id, 200, false])
      }
    }
    for (const time of ['9007199254740991', '9223372036854775808', '-5', '1e400', 'NaN']) {
      const query = `start_timestamp=${time}&end_timestamp=${time}&type=${time}&channel=${time}&p=${time}&size=${time}`
      for (const path of ['/api/log/', '/api/log/self', '/api/log/stat', '/api/audit/']) {
        const { status, json } = await set.api.call('GET', `${path}?${query}`, { as: admin.token })
        const isTaken = time === '9007199254740991' || time === 'NaN'
        expect([path, time, status, json.success]).toEqual([path, time, 200, isTaken])
      }
    }
    const purge = await set.api.call('DELETE', '/api/log/?target_timestamp=9007199254740993', { as: admin.token })
    expect(purge.json.success).toBe(false)
  })
})
