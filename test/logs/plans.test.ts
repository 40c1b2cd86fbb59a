// The console's log and usage queries find their rows through an index, on a database that contains some rows.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'kysely'
import { plansOf } from '../../bench/logs/explain.ts'
import { seed } from '../../bench/logs/seed.ts'
import { rollUpUsage } from '../../server/store/usage/usage-rollup.ts'
import { forEachDatabase } from '../helpers/databases.ts'

setDefaultTimeout(120_000)

const rows = 10_000
const uncounted = 500
const end = 1_700_000_000

/**
 * Matches plan lines that read a whole table of log rows or totals. `l` and `u` are the aliases of these tables in the
 * queries.
 */
const readsAll = {
  sqlite: /^SCAN (?:l|u|logs)\b/,
  // The partitions of other months are empty.
  postgres: /^Seq Scan on (?:logs|logs_2023_\d\d|usage_hours|usage_days|usage_weeks)\b/,
}
const readsByIndex = {
  sqlite: /^SEARCH (?:l|u|logs) USING/,
  postgres: /^Index (?:Only )?Scan (?:Backward )?using \w+ on (?:logs_2023|usage_)/,
}

forEachDatabase((name, openFresh) => {
  test('lists, statistics, histograms and usage never read a whole table', async () => {
    const store = await openFresh()
    const count = () => rollUpUsage(store, end)
    const population = await seed(store, { rows, days: 30, end, countAt: rows - uncounted, count })
    // Updates the statistics that the query planner uses. A database in use does this automatically.
    await sql`analyze`.execute(store.read)
    for (const { question, reads } of await plansOf(store, population)) {
      // A search reads rows from the newest backwards and stops after a limit. SQLite reports this as a scan.
      if (question === 'search' && name === 'sqlite') continue
      expect([question, reads.filter((line) => readsByIndex[name].test(line)).length > 0]).toEqual([question, true])
      // SQLite reports a search in an index and then a scan of its result. The result has the same alias `l` as the
      // table, so these scans are not counted.
      const results = reads.filter((line) => /^SEARCH l USING INDEX idx_logs_/.test(line)).length
      expect([question, reads.filter((line) => readsAll[name].test(line)).slice(results)]).toEqual([question, []])
    }
  })
})
