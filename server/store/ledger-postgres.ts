import type pg from 'pg'
import type { LedgerResult, LedgerStore } from './ledger-store.ts'

/** The ledger on PostgreSQL: one call of `tollgate_ledger` (migration 0002) is one transaction and one round trip. */
export function postgresLedger(pool: pg.Pool): LedgerStore {
  return {
    async apply(ops) {
      const answer = await pool.query<{ results: LedgerResult[] }>({
        name: 'ledger',
        text: 'select tollgate_ledger($1::jsonb) as results',
        // PostgreSQL's text has no NUL; a caller's model name may.
        values: [JSON.stringify(ops).replaceAll('\\u0000', '')],
      })
      const results = answer.rows[0]?.results
      if (!results) throw new Error('tollgate_ledger returned no row')
      return results
    },
  }
}
