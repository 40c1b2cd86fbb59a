import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { addAccount, figuresOf, holdOp } from '../../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { untilOneWaits } from '../../../test/helpers/waiting.ts'
import { armQuota } from '../accounts/reminders.ts'
import { addUser, addUserQuota } from '../accounts/user-changes.ts'

forEachDatabase((name, openFresh) => {
  test('two transactions that wait for each other both finish', async () => {
    const store = await openFresh()
    const make = (username: string) =>
      store.write((trx) =>
        addUser(trx, { username, display_name: username, password: '', quota: 10, created_time: 1_700_000_000 }),
      )
    const [one, two] = [await make('one'), await make('two')]
    const met = Promise.withResolvers<void>()
    let begun = 0
    const cross = (first: number, second: number) =>
      store.write(async (trx) => {
        begun++
        await addUserQuota(trx, first, 1)
        // On SQLite the second transaction begins only after the first has ended.
        if (begun === 2 || name === 'sqlite') met.resolve()
        await met.promise
        await addUserQuota(trx, second, 1)
      })
    await Promise.all([cross(one, two), cross(two, one)])
    const rows = await store.read.selectFrom('users').select('quota').execute()
    expect(rows.map(({ quota }) => quota)).toEqual([12, 12])
    // On PostgreSQL, an aborted transaction is repeated. It can be aborted more than once if the other transaction has
    // not continued in the meantime.
    if (name === 'sqlite') expect(begun).toBe(2)
    else expect(begun).toBeGreaterThan(2)
  }, 120_000)

  if (name === 'sqlite') return

  test('a ledger batch that the database aborted because of a deadlock is repeated, and applied only once', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 100 })
    await store.write(async (trx) => {
      // Counts the attempts in a sequence, because a sequence keeps its value when the transaction that used it is
      // rolled back.
      await sql`create sequence attempts`.execute(trx)
      await sql`create function disturb() returns trigger language plpgsql as $$ begin
        if nextval('attempts') = 1 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
        return new;
      end $$`.execute(trx)
      await sql`create trigger disturb after insert on holds for each statement execute function disturb()`.execute(trx)
    })
    const results = await store.ledger.apply([holdOp(account, 30), holdOp(account, 20)])
    expect(results).toEqual([
      { ok: true, amount: 30 },
      { ok: true, amount: 20 },
    ])
    expect(await figuresOf(store, account)).toMatchObject({ quota: 50, held: 50 })
  })

  test('`armQuota` locks accounts in the order of their ids, as the ledger does, even if their rows are stored in another order', async () => {
    const store = await openFresh()
    const ids: number[] = []
    for (let each = 0; each < 3; each++) ids.push((await addAccount(store, { user: 100 })).userId)
    const [first, ...others] = ids as [number, number, number]
    // An update stores a new version of the first row behind the other rows. After `analyze`, the planner knows that
    // the table is small and reads it in physical order.
    await store.write((trx) => addUserQuota(trx, first, 1))
    await sql`analyze users`.execute(store.read)
    let arming: Promise<number[]> | undefined
    const free = await store.write(async (trx) => {
      await addUserQuota(trx, first, 1)
      arming = store.write((other) => armQuota(other, ids, true))
      await untilOneWaits(store)
      return trx.selectFrom('users').select('id').where('id', 'in', others).forUpdate().skipLocked().execute()
    })
    expect(free).toHaveLength(2)
    expect(await arming).toEqual(ids)
    expect(await store.write((trx) => armQuota(trx, ids, true))).toEqual([])
  })
})
