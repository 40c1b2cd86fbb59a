import type pg from 'pg'
import type { LedgerOp, LedgerResult, LedgerStore } from '../schema/ledger-types.ts'
import { isWithoutEffect } from '../statements/without-effect.ts'
import { LeaseBook, type LeasedBatch, namesLease } from './lease-book-postgres.ts'
import { leaseStore } from './leases-postgres.ts'
import { pack } from './ledger-batch-postgres.ts'
import { packMixed } from './mixed-batch-postgres.ts'
import { addUp } from './quick-batch-postgres.ts'

interface Answer {
  charged: (number | null)[]
  taken: (number | null)[]
  /** The results of those takes (extensions and holds) whose result is more than an amount; null if there are none. */
  answers: (LedgerResult | null)[] | null
}

const listOf = (count: number) => Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
const answers = 'array_to_json(s_charged) as charged, array_to_json(x_taken) as taken, answers'
const quick = { name: 'ledger-quick', text: `select tollgate_quick(${listOf(36)})` }
const batch = {
  name: 'ledger-batch',
  text: `select ${answers} from tollgate_batch(${listOf(28)})`,
}
const leased = { name: 'ledger-leased', text: `select tollgate_leased(${listOf(40)})` }
const mixed = { name: 'ledger-mixed', text: `select ${answers} from tollgate_mixed(${listOf(41)})` }

/**
 * Error codes of the database functions. `notSimple` means that `tollgate_quick` or `tollgate_leased` cannot apply the
 * batch, `leaseGone` that a lease does not exist as expected. In both cases nothing was changed.
 */
const notSimple = 'TG001'
const leaseGone = 'TG002'
/**
 * After a batch has failed with `notSimple`, this many batches are not tried as simple batches. An account whose quota
 * is nearly used up causes many batches in a row that are not simple.
 */
const carefulBatches = 20

/**
 * Settings of the ledger's connections. Its statements find a few rows by their keys, however large the tables are. The
 * settings make PostgreSQL plan each statement once, with a plan that uses the indexes. Without them, a plan made while
 * a table is small could scan the whole table, and would be slow when the table has grown.
 */
export const ledgerSettings = [
  'plan_cache_mode = force_generic_plan',
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'jit = off',
]

/**
 * The ledger on PostgreSQL. Each batch is one call of a function, and one transaction (see migrations/ledger-function.ts
 * and migrations/lease-functions.ts).
 */
export function postgresLedger(pool: pg.Pool, { triesSimple = true } = {}): LedgerStore {
  let careful = 0
  const book = new LeaseBook(pool)

  async function simple(query: { name: string; text: string }, values: readonly unknown[]): Promise<boolean> {
    try {
      await pool.query({ ...query, values: [...values] })
      return true
    } catch (error) {
      if (codeOf(error) !== notSimple) throw error
      careful = carefulBatches
      return false
    }
  }

  function isTriedAsSimple(): boolean {
    if (careful === 0) return triesSimple
    careful--
    return false
  }

  async function applyAny(ops: readonly LedgerOp[], query = batch, before: readonly unknown[] = []) {
    const { values, settles, takes } = pack(ops)
    const { rows } = await pool.query<Answer>({ ...query, values: [...before, ...values] })
    const [answer] = rows
    if (!answer) throw new Error('the batch returned no row')
    const results = new Array<LedgerResult>(ops.length)
    for (const [at, place] of settles.entries()) {
      const charged = answer.charged[at] ?? null
      results[place] = { charged: charged ?? 0, found: charged !== null }
    }
    for (const [at, place] of takes.entries())
      results[place] = answer.answers?.[at] ?? { ok: true, amount: answer.taken[at] ?? 0 }
    return results
  }

  async function applyPlain(ops: readonly LedgerOp[]): Promise<LedgerResult[]> {
    const sums = isTriedAsSimple() ? addUp(ops) : undefined
    if (sums && (await simple(quick, sums.values))) return sums.results
    return applyAny(ops)
  }

  async function applyFromLeases(ops: readonly LedgerOp[], leases: LeasedBatch): Promise<LedgerResult[]> {
    const sums = isTriedAsSimple() ? addUp(ops) : undefined
    if (sums && (await simple(leased, [...sums.values, sums.ended, ...leases.values]))) return sums.results
    const { before, others, merge } = packMixed(ops, leases)
    return merge(await applyAny(others, mixed, before))
  }

  /**
   * Applies a batch with operations that are paid from leases. If the batch fails, the next batch on the same leases
   * finds out whether it took effect (see `LeaseBook`).
   */
  async function applyLeased(ops: readonly LedgerOp[]): Promise<LedgerResult[]> {
    await book.resolve(ops)
    const { results, open } = book.answer(ops)
    const rest = open.map((at) => ops[at] as LedgerOp)
    if (rest.length > 0) {
      const done = await applyOpen(rest)
      for (const [index, at] of open.entries()) results[at] = done[index] as LedgerResult
    }
    // The results are recorded as delivered only now. If `applyOpen` fails, the caller tries all operations again.
    book.delivered(ops)
    return results
  }

  /** Applies operations that have not taken effect yet and whose leases are known. */
  async function applyOpen(rest: readonly LedgerOp[]): Promise<LedgerResult[]> {
    const leases = book.batchOf(rest)
    let done: LedgerResult[]
    try {
      done = leases.isEmpty ? await applyPlain(rest) : await applyFromLeases(rest, leases)
    } catch (error) {
      if (!isWithoutEffect(error)) book.doubt(leases)
      if (codeOf(error) !== leaseGone || !(await book.dropGone(leases))) throw error
      done = await applyLeased(rest)
      leases.clear()
    }
    book.applied(leases)
    return done
  }

  return {
    leases: leaseStore(pool, book),
    apply: (ops) => (book.isUsed && ops.some(namesLease) ? applyLeased(ops) : applyPlain(ops)),
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code
}
