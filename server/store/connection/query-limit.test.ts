import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import { runHere } from '../../../test/helpers/command-line.ts'
import { forEachEmptyDatabaseUrl } from '../../../test/helpers/databases.ts'
import * as timers from '../../lib/running-timer.ts'
import { migrate } from '../migrations/migrate.ts'
import { openStore } from './open.ts'

/** The longest time limit that `work` set while it waited, in milliseconds. */
async function longestLimit(work: () => Promise<unknown>): Promise<number> {
  const limits = spyOn(timers, 'runningTimer')
  await work()
  const delays = limits.mock.calls.map(([ms]) => ms)
  limits.mockRestore()
  return Math.max(0, ...delays)
}

forEachEmptyDatabaseUrl((name, freshUrl) => {
  if (name === 'sqlite') return

  afterEach(() => mock.restore())

  test('a query has a time limit, but migrations and commands have none, because they process whole tables', async () => {
    const url = await freshUrl()
    const store = openStore({ url })
    const migrating = await longestLimit(() => migrate(store))
    const limit = await longestLimit(() => store.read.selectFrom('users').select('id').execute())
    await store.close()
    expect(migrating).toBeLessThan(limit)

    const ran = { code: null as number | null, output: '' }
    const commanded = await longestLimit(async () => {
      Object.assign(ran, await runHere(['audit'], { DATABASE_URL: url }))
    })
    expect(ran).toEqual({ code: 0, output: '0 users, 0 tokens, 0 channels checked; 0 holds open; 0 faults.\n' })
    expect(commanded).toBeLessThan(limit)
  })
})
