import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Trx } from '../store.ts'
import { hourSeconds } from './usage-series.ts'

/**
 * The condition that a call (log row `l`) failed because of this service or its upstreams, not because of the caller.
 * This means a server error, or an upstream that refused this server's key, credit or rate. The statuses 501 and 508
 * are excluded, because they are caused by the request.
 */
const isServiceFailure = `(l.type = ${logType.error} and ((l.status >= 500 and l.status not in (501, 508))
  or (l.status in (401, 402, 403, 408, 429) and l.attempts <> '')))`

/**
 * The condition for failures of the service among the log rows `l`, and the number of calls that such a row represents.
 */
export const serviceFailure = { condition: sql.raw(isServiceFailure), calls: sql.raw('1 + l.left_out') }

/**
 * Counts the failures among the log rows with ids above `from`, up to `to`. They are counted together with the other
 * sums of these rows.
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
