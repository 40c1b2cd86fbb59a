import { type RawBuilder, sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Db } from '../store.ts'
import { firstByteStep } from './first-byte-steps.ts'

/** The requests of one user at one channel in one minute. */
export interface MinuteCalls {
  minute: number
  user_id: number
  channel_id: number
  requests: number
  failed: number
  /**
   * `served` is the number of these requests that the channel served, which are those in charged rows. `interrupted` is
   * the number of served requests that failed or were interrupted.
   */
  served: number
  interrupted: number
}

/** The number of responses in a minute whose first byte time is in one step of the histogram. */
export interface MinuteTimes {
  minute: number
  step: number
  responses: number
}

/** The attempts of calls, as the log rows store them. */
export interface MinuteAttempts {
  minute: number
  type: number
  attempts: string
  /** The number of calls that the row represents. */
  calls: number
}

/** The log rows to read: those with ids from `first` to `last` and a time of at least `since` (epoch seconds). */
export interface MinuteRange {
  first: number
  last: number
  since: number
}

const minute = sql.raw('l.created_at / 60')
// A row of a failed call can be shared with other failed calls, which are counted in `left_out`.
const calls = sql.raw('1 + l.left_out')
const isFailed = sql.raw("l.outcome in ('failed', 'interrupted')")
const isServed = sql.raw(`l.type = ${logType.consume}`)

const within = ({ first, last, since }: MinuteRange): RawBuilder<unknown> =>
  sql`logs l where l.id between ${first} and ${last} and l.created_at >= ${since}
    and (${isServed} or l.type = ${sql.lit(logType.error)})`

export async function callsByMinute(db: Db, range: MinuteRange): Promise<MinuteCalls[]> {
  const { rows } = await sql<MinuteCalls>`
    select ${minute} as minute, l.user_id, l.channel_id, cast(sum(${calls}) as bigint) as requests,
      cast(sum(case when ${isFailed} then ${calls} else 0 end) as bigint) as failed,
      cast(sum(case when ${isServed} then 1 else 0 end) as bigint) as served,
      cast(sum(case when ${isServed} and ${isFailed} then 1 else 0 end) as bigint) as interrupted
    from ${within(range)} group by 1, 2, 3`.execute(db)
  return rows
}

export async function timesByMinute(db: Db, range: MinuteRange): Promise<MinuteTimes[]> {
  const { rows } = await sql<MinuteTimes>`
    select ${minute} as minute, ${firstByteStep} as step, count(*) as responses
    from ${within(range)} and ${isServed} and l.first_byte_time > 0 group by 1, 2`.execute(db)
  return rows
}

const mostAttemptRows = 5000

/** The attempts in the newest rows that have more than one attempt or a failed one. */
export async function attemptsByMinute(db: Db, range: MinuteRange): Promise<MinuteAttempts[]> {
  const { rows } = await sql<MinuteAttempts>`
    select ${minute} as minute, l.type, l.attempts, ${calls} as calls from ${within(range)} and l.attempts <> ''
    order by l.id desc limit ${sql.lit(mostAttemptRows)}`.execute(db)
  return rows
}
