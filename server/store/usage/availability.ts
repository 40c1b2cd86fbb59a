import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Db } from '../store.ts'
import { serviceFailure } from './service-failures.ts'
import { usageRows } from './usage-rows.ts'
import { dayHours, type HourRange, hourSeconds, kindFor, uncounted } from './usage-series.ts'

/** The calls to one model in one slot. A slot is an hour or a day, counted from 1970 (UTC). */
export interface SlotAvailability {
  grain: 'day' | 'hour'
  slot: number
  model: string
  /**
   * The number of calls that were served, or that failed because of this installation or its upstreams. Calls that
   * failed because of the caller are not counted. `failed` is the number of counted calls that failed.
   */
  calls: number
  failed: number
}

/**
 * The calls to each model, by day in the range `days` and by hour in the range `hours`, read with one query. Ranges are
 * in hours since 1970.
 */
export async function availabilityOf(
  db: Db,
  ranges: { days?: HourRange; hours?: HourRange },
): Promise<SlotAvailability[]> {
  const parts = (['days', 'hours'] as const).flatMap((name) => {
    const range = ranges[name]
    return range ? [slotsOf(range, name === 'days' ? 'day' : 'hour')] : []
  })
  const { rows } = await sql<SlotAvailability>`
    select grain, slot, model, cast(sum(calls) as bigint) as calls, cast(sum(failed) as bigint) as failed
    from (${sql.join(parts, sql` union all `)}) found
    group by grain, slot, model having sum(calls) > 0`.execute(db)
  return rows
}

function slotsOf(range: HourRange, grain: SlotAvailability['grain']) {
  const hours = grain === 'day' ? dayHours : 1
  const filter = { type: logType.consume }
  const served = usageRows({
    kind: kindFor(filter, ['model_name']),
    filter,
    range,
    group: 'model_name',
    bucket: { minutes: hours * 60, shift: 0 },
    figures: ['requests', 'failed'],
    callsOnly: true,
  })
  const { condition, calls } = serviceFailure
  const { from, to } = range
  return sql`
    select ${sql.lit(grain)} as grain, bucket as slot, g as model, requests as calls, failed from (${served}) served
    union all
    select ${sql.lit(grain)}, f.slot / ${sql.lit(hours)}, f.model_name, f.failures, f.failures from service_failures f
    where f.slot >= ${from} and f.slot < ${to}
    union all
    select ${sql.lit(grain)}, l.created_at / ${sql.lit(hours * hourSeconds)}, l.model_name, ${calls}, ${calls} from logs l
    where ${uncounted} and ${condition} and l.created_at >= ${from * hourSeconds} and l.created_at < ${to * hourSeconds}`
}
