import { expect, test } from 'bun:test'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { addUser, addUserQuota } from './user-changes.ts'

forEachDatabase((name, openFresh) => {
  test('of two transactions that wait for each other both come to their end', async () => {
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
        // On SQLite the second one begins when the first has ended.
        if (begun === 2 || name === 'sqlite') met.resolve()
        await met.promise
        await addUserQuota(trx, second, 1)
      })
    await Promise.all([cross(one, two), cross(two, one)])
    const rows = await store.read.selectFrom('users').select('quota').execute()
    expect(rows.map(({ quota }) => quota)).toEqual([12, 12])
    // Who begins anew may meet the other once more, as long as that has not woken up.
    if (name === 'sqlite') expect(begun).toBe(2)
    else expect(begun).toBeGreaterThan(2)
  }, 120_000)
})
