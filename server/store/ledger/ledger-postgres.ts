import type pg from 'pg'
import type { LedgerResult, LedgerStore } from '../schema/ledger-types.ts'
import { pack } from './ledger-batch-postgres.ts'

interface Answer {
  charged: (number | null)[]
  taken: (number | null)[]
  /** Results of takes that are more than an amount; null if there is none. */
  answers: (LedgerResult | null)[] | null
}

const parameters = Array.from({ length: 28 }, (_, index) => `$${index + 1}`).join(', ')

/**
 * The ledger on PostgreSQL. Each batch is one call of `tollgate_batch` (see migrations/ledger-function.ts) and one
 * transaction.
 */
export function postgresLedger(pool: pg.Pool): LedgerStore {
  return {
    async apply(ops) {
      const { values, settles, takes } = pack(ops)
      const { rows } = await pool.query<Answer>({
        name: 'ledger-batch',
        text: `select array_to_json(s_charged) as charged, array_to_json(x_taken) as taken, answers from tollgate_batch(${parameters})`,
        values,
      })
      const [answer] = rows
      if (!answer) throw new Error('tollgate_batch returned no row')
      const results = new Array<LedgerResult>(ops.length)
      for (const [at, place] of settles.entries()) {
        const charged = answer.charged[at] ?? null
        results[place] = { charged: charged ?? 0, found: charged !== null }
      }
      for (const [at, place] of takes.entries())
        results[place] = answer.answers?.[at] ?? { ok: true, amount: answer.taken[at] ?? 0 }
      return results
    },
  }
}
