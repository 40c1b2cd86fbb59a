import { expect, test } from 'bun:test'
import { addAccount, addSecondToken, holdOp, logRow, settleOp } from '../../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { purgeAudit } from '../installation/audit.ts'
import { purgeLogs } from '../logs/log-purge.ts'
import { balanceFaults } from './balance-check.ts'

forEachDatabase((_name, openFresh) => {
  /** Creates two users with three tokens in total. Each token has one settled and one open call. */
  async function used() {
    const store = await openFresh()
    const first = await addAccount(store, { user: 1000, token: 500 })
    const second = await addSecondToken(store, first)
    const other = await addAccount(store, { user: 300, token: 200 })
    for (const account of [first, second, other]) {
      const hold = holdOp(account, 50)
      await store.ledger.apply([hold, holdOp(account, 20)])
      await store.ledger.apply([settleOp(account, hold, 30)])
    }
    return { store, first, second, other }
  }

  test('a correct database with settled and open calls has no faults', async () => {
    const { store } = await used()
    expect(await balanceFaults(store)).toEqual({
      faults: [],
      checked: { users: 2, tokens: 3, channels: 2 },
      openHolds: 3,
      openLeases: 0,
    })
  })

  test('an empty database has no faults', async () => {
    expect(await balanceFaults(await openFresh())).toEqual({
      faults: [],
      checked: { users: 0, tokens: 0, channels: 0 },
      openHolds: 0,
      openLeases: 0,
    })
  })

  test('log rows of other types, and purged log rows, cause no faults', async () => {
    const { store, first } = await used()
    await store.write((trx) =>
      trx
        .insertInto('logs')
        .values({ ...logRow(first, { type: 1 }), quota: 999 })
        .execute(),
    )
    await purgeLogs(store, { before: 2_000_000_000, now: 2_000_000_000 })
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('a balance that is higher than the granted quota allows is reported, with the amounts', async () => {
    const { store, first } = await used()
    await store.write((trx) => trx.updateTable('users').set({ quota: 5000 }).where('id', '=', first.userId).execute())
    expect((await balanceFaults(store)).faults).toEqual([
      { kind: 'user', id: first.userId, text: 'granted 1000, but left 5000 + held 40 + used 60 = 5100' },
    ])
  })

  test('a negative balance is reported', async () => {
    const { store, other } = await used()
    const who = { created_at: 0, actor_id: 1, actor_name: 'root', ip: '' }
    await store.write((trx) =>
      trx.updateTable('tokens').set({ remain_quota: -1, granted_quota: 49 }).where('id', '=', other.tokenId).execute(),
    )
    expect((await balanceFaults(store)).faults).toEqual([
      { kind: 'token', id: other.tokenId, text: 'the balance is below zero: -1' },
    ])
    // A negative balance is not a fault under the policy `compat`.
    await store.write((trx) => trx.insertInto('options').values({ key: 'QuotaPolicy', value: 'compat' }).execute())
    expect((await balanceFaults(store)).faults).toEqual([])
    // Nor is it a fault if the policy was `compat` earlier.
    await store.write(async (trx) => {
      await trx.updateTable('options').set({ value: 'strict' }).where('key', '=', 'QuotaPolicy').execute()
      const change = { action: 'option.update', target: 'QuotaPolicy', detail: 'compat → strict' }
      await trx
        .insertInto('audit_events')
        .values([
          { ...who, ...change },
          { ...who, ...change, target: 'QuotaPerUnit' },
          { ...who, ...change, action: 'option.read' },
        ])
        .execute()
    })
    expect((await balanceFaults(store)).faults).toEqual([])
    // Purging the audit log keeps the event of the policy change, so the check still accepts the negative balance.
    await purgeAudit(store, 2_000_000_000, () => Promise.resolve())
    expect((await balanceFaults(store)).faults).toEqual([])
    const kept = await store.read.selectFrom('audit_events').select(['action', 'target']).execute()
    expect(kept).toEqual([{ action: 'option.update', target: 'QuotaPolicy' }])
  })

  test('a missing log row is reported for its user, its token and its channel', async () => {
    const { store, second } = await used()
    await store.write((trx) => trx.deleteFrom('logs').where('token_id', '=', second.tokenId).execute())
    const { faults } = await balanceFaults(store)
    expect(faults.map(({ kind, id }) => [kind, id])).toEqual([
      ['user', second.userId],
      ['token', second.tokenId],
      ['channel', second.channelId],
    ])
    expect(faults[0]?.text).toBe('used 60, but the log rows sum to 30 and 0 are not in the log')
  })

  test('a missing hold is reported for its user and, if its token is limited, for the token', async () => {
    const { store, first } = await used()
    await store.write((trx) => trx.deleteFrom('holds').where('token_id', '=', first.tokenId).execute())
    expect((await balanceFaults(store)).faults.map(({ kind, id }) => [kind, id])).toEqual([
      ['user', first.userId],
      ['token', first.tokenId],
    ])
  })
})
