import type pg from 'pg'
import type { LedgerOp, LedgerResult, LedgerStore } from '../schema/ledger-types.ts'
import { pack } from './ledger-batch-postgres.ts'
import { addUp, type QuickBatch } from './quick-batch-postgres.ts'

interface Answer {
  charged: (number | null)[]
  taken: (number | null)[]
  /** Results of takes that are more than an amount; null if there is none. */
  answers: (LedgerResult | null)[] | null
}

const listOf = (count: number) => Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
const quick = { name: 'ledger-quick', text: `select tollgate_quick(${listOf(36)})` }
const batch = {
  name: 'ledger-batch',
  text: `select array_to_json(s_charged) as charged, array_to_json(x_taken) as taken, answers from tollgate_batch(${listOf(28)})`,
}

/** How `tollgate_quick` says that it changed nothing, because the batch is not a simple one. */
const notSimple = 'TG001'
/**
 * The number of batches that are not tried as simple ones after one was not. An account that is nearly used up has many
 * in a row.
 */
const carefulBatches = 20

/**
 * Settings of the ledger's connections. Its statements find a few rows by their keys, whatever the tables contain, so
 * they are planned once, and every plan uses the keys. A plan made while a table was small and read as a whole would
 * be slow later.
 */
export const ledgerSettings = [
  'plan_cache_mode = force_generic_plan',
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'jit = off',
]

/**
 * The ledger on PostgreSQL. Each batch is one call of `tollgate_quick` or `tollgate_batch` (see
 * migrations/ledger-function.ts), and one transaction.
 */
export function postgresLedger(pool: pg.Pool, { triesSimple = true } = {}): LedgerStore {
  let careful = 0

  async function applySimple({ values, results }: QuickBatch): Promise<LedgerResult[] | undefined> {
    try {
      await pool.query({ ...quick, values })
      return results
    } catch (error) {
      if ((error as { code?: unknown }).code !== notSimple) throw error
      careful = carefulBatches
      return undefined
    }
  }

  async function applyAny(ops: readonly LedgerOp[]): Promise<LedgerResult[]> {
    const { values, settles, takes } = pack(ops)
    const { rows } = await pool.query<Answer>({ ...batch, values })
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
  }

  return {
    async apply(ops) {
      if (careful > 0) careful--
      else if (triesSimple) {
        const simple = addUp(ops)
        const results = simple && (await applySimple(simple))
        if (results) return results
      }
      return applyAny(ops)
    },
  }
}
