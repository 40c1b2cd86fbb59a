import type pg from 'pg'
import type { LedgerOp, LedgerResult, LedgerStore } from '../schema/ledger-types.ts'

/**
 * The ledger on PostgreSQL. Each batch is one call of `tollgate_ledger` (see migrations/ledger-function.ts) and one
 * transaction.
 */
export function postgresLedger(pool: pg.Pool): LedgerStore {
  return {
    async apply(ops) {
      const answer = await pool.query<{ results: LedgerResult[] }>({
        name: 'ledger',
        text: 'select tollgate_ledger($1::jsonb) as results',
        values: [toJson(ops)],
      })
      const results = answer.rows[0]?.results
      if (!results) throw new Error('tollgate_ledger returned no row')
      return results
    },
  }
}

/**
 * PostgreSQL's text type cannot store NUL or half of a surrogate pair, but a model name or an upstream's message may
 * contain them. JSON writes both as escapes. The quick check finds such escapes. It also matches some texts that
 * contain a literal backslash, which does no harm.
 */
function toJson(ops: readonly LedgerOp[]): string {
  const json = JSON.stringify(ops)
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return JSON.stringify(ops, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  )
}
