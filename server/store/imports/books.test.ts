import { expect, test } from 'bun:test'
import { addAccount } from '../../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { balanceFaults } from '../ledger/balance-check.ts'
import { bookChange } from './books.ts'

forEachDatabase((_, openFresh) => {
  // A balance can be below zero if the policy allows it.
  test.each([
    [100, -30, 70],
    [100, -130, 0],
    [-50, -30, -50],
    [-50, 0, -50],
    [-50, 30, -20],
    [-50, 80, 30],
  ])('a balance of %d is changed by %d to %d', async (left, quota, expected) => {
    const store = await openFresh()
    const { userId, tokenId } = await addAccount(store, { user: left, token: left })
    await store.write(async (trx) => {
      await bookChange(trx, 'users', userId, { quota, used: 7, requests: 1 })
      await bookChange(trx, 'tokens', tokenId, { quota, used: 7, requests: 1 })
    })
    const user = await store.read.selectFrom('users').select('quota').where('id', '=', userId).executeTakeFirst()
    const token = await store.read
      .selectFrom('tokens')
      .select('remain_quota')
      .where('id', '=', tokenId)
      .executeTakeFirst()
    expect([user?.quota, token?.remain_quota]).toEqual([expected, expected])
    const { faults } = await balanceFaults(store)
    expect(faults.filter(({ text }) => !text.startsWith('the balance is below zero'))).toEqual([])
  })
})
