import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Db } from '../store.ts'
import { usageRows } from './usage-rows.ts'
import { type HourRange, kindFor } from './usage-series.ts'

const hours = { minutes: 60, shift: 0 }

/** The number of log rows in one hour (hours since 1970). */
export interface HourRows {
  hour: number
  rows: number
  /** Rows of calls that were interrupted or failed. */
  failed: number
}

/** The calls of a type by hour: charged calls (`consume`), or calls that failed and were not charged (`error`). */
export async function callsByHour(db: Db, type: 'consume' | 'error', range: HourRange): Promise<HourRows[]> {
  const filter = { type: logType[type] }
  const rows = usageRows({ kind: kindFor(filter), filter, range, bucket: hours, figures: ['requests', 'failed'] })
  const answer = await sql<HourRows>`
    select bucket as hour, cast(sum(requests) as bigint) as rows, cast(sum(failed) as bigint) as failed
    from (${rows}) found group by bucket`.execute(db)
  return answer.rows
}

/** The attempts at a channel in one hour (hours since 1970). */
export interface ChannelHour {
  channel: number
  hour: number
  /** Attempts, including those that failed. */
  attempts: number
  failed: number
}

/** The attempts at each channel by hour: calls that it served, and failed attempts. */
export async function attemptsByHour(db: Db, { from, to }: HourRange): Promise<ChannelHour[]> {
  const filter = { type: logType.consume }
  const rows = usageRows({
    kind: kindFor(filter, ['channel_id']),
    filter,
    range: { from, to },
    group: 'channel_id',
    bucket: hours,
    figures: ['requests', 'failed'],
  })
  // In `usageRows`, `failed` already includes the failed attempts, so they are added only to `attempts`.
  const answer = await sql<ChannelHour>`
    select channel, hour, cast(sum(attempts) as bigint) as attempts, cast(sum(failed) as bigint) as failed from (
      select g as channel, bucket as hour, requests as attempts, failed from (${rows}) served
      union all
      select f.channel_id, f.slot, f.attempts, 0 from channel_failures f where f.slot >= ${from} and f.slot < ${to}
    ) found where channel > 0 group by channel, hour`.execute(db)
  return answer.rows
}
