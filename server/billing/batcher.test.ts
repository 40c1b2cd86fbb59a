import { expect, test } from 'bun:test'
import { addAccount, figuresOf, holdOp, settleOp } from '../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import type { LedgerStore } from '../store/schema/ledger-types.ts'
import { createBatcher } from './batcher.ts'

/** The real ledger, which also records the number of operations in each transaction. */
function counted(ledger: LedgerStore): LedgerStore & { sizes: number[] } {
  const sizes: number[] = []
  return {
    sizes,
    apply(ops) {
      sizes.push(ops.length)
      return ledger.apply(ops)
    },
  }
}

forEachDatabase((_name, openFresh) => {
  test('operations of one event-loop turn form one transaction, and operations that arrive while it is written form the next one', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 10_000, token: 10_000 })
    const ledger = counted(store.ledger)
    const batcher = createBatcher(ledger)
    const first = [1, 2, 3].map(() => batcher.push(holdOp(account, 10)))
    expect(batcher.pending()).toBe(3)
    await new Promise((resolve) => setImmediate(resolve))
    const second = [1, 2, 3, 4].map(() => batcher.push(holdOp(account, 10)))
    await Promise.all([...first, ...second])
    expect(ledger.sizes).toEqual([3, 4])
    expect(batcher.pending()).toBe(0)
    expect(await figuresOf(store, account)).toMatchObject({ held: 70 })
  })

  test('after a large batch, operations of two turns form one transaction; after a small batch, they do not', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 10_000, token: 10_000 })
    const ledger = counted(store.ledger)
    const batcher = createBatcher(ledger)
    const push = (count: number) => Array.from({ length: count }, () => batcher.push(holdOp(account, 10)))
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    await Promise.all(push(8))
    for (let round = 0; round < 2; round++) {
      const first = push(2)
      await turn()
      await Promise.all([...first, ...push(3)])
    }
    expect(ledger.sizes).toEqual([8, 5, 2, 3])
    expect(await figuresOf(store, account)).toMatchObject({ held: 180 })
  })

  test('a burst of operations is split into several transactions', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 100_000, token: 100_000 })
    const ledger = counted(store.ledger)
    const batcher = createBatcher(ledger)
    await Promise.all(Array.from({ length: 1100 }, () => batcher.push(holdOp(account, 10))))
    expect(ledger.sizes).toEqual([512, 512, 76])
    expect(await figuresOf(store, account)).toMatchObject({ held: 11_000 })
  })

  test('if the database rejects an operation, the other operations of its batch succeed', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 1000 })
    const batcher = createBatcher(store.ledger)
    const open = holdOp(account, 100)
    await batcher.push(open)
    const results = await Promise.allSettled([
      batcher.push(holdOp(account, 10)),
      batcher.push({ ...open, amount: 20, minimum: 20 }),
      batcher.push(holdOp(account, 30)),
      batcher.push(holdOp(account, 5000)),
    ])
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'refused'))).toEqual([
      { ok: true, amount: 10 },
      'refused',
      { ok: true, amount: 30 },
      { ok: false, reason: 'token', available: 860, othersOpen: true, used: 0 },
    ])
    await batcher.push(settleOp(account, open, 50))
    expect(await figuresOf(store, account)).toMatchObject({ quota: 910, held: 40, used: 50 })
  })
})
