import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Trx } from '../store.ts'
import { hourSeconds } from './usage-series.ts'

/**
 * The condition that a call (log row `l`) failed because of this installation or its upstreams, and not because of the
 * caller. Such a call failed with a server error, or because an upstream rejected this server for its key, its credit
 * or its request rate. The statuses 501 and 508 are excluded, because the request causes them.
 */
const isServiceFailure = `(l.type = ${logType.error} and ((l.status >= 500 and l.status not in (501, 508))
  or (l.status in (401, 402, 403, 408, 429) and l.attempts <> '')))`

/** The condition for log rows `l` of such failures, and the number of calls that share such a row. */
export const serviceFailure = { condition: sql.raw(isServiceFailure), calls: sql.raw('1 + l.left_out') }

/**
 * Counts such failures in the log rows with ids above `from` and up to `to`. Called in the transaction that adds these
 * rows to the hourly sums.
 */
export async function addServiceFailures(trx: Trx, from: number, to: number): Promise<void> {
  const { condition, calls } = serviceFailure
  await sql`
    insert into service_failures (model_name, slot, failures)
    select l.model_name, l.created_at / ${sql.lit(hourSeconds)}, sum(${calls}) from logs l
    where l.id > ${from} and l.id <= ${to} and ${condition} group by 1, 2
    on conflict (model_name, slot) do update set
      failures = service_failures.failures + excluded.failures`.execute(trx)
}
