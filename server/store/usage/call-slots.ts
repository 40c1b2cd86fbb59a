import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Db } from '../store.ts'
import { firstByteStep } from './first-byte-steps.ts'

/** The calls of one user in one slot. */
export interface SlotCalls {
  slot: number
  user_id: number
  requests: number
  failed: number
  tokens: number
  quota: number
  first_id: number
}

/** The number of responses in a slot whose first byte time is in one step of the histogram. */
export interface SlotTimes {
  slot: number
  step: number
  responses: number
}

/** The log rows to read: those with ids from `first` to `last` and a time of at least `since` (epoch seconds). */
interface SlotRange {
  first: number
  last: number
  since: number
}

const isCall = sql.raw(`(l.type = ${logType.consume} or l.type = ${logType.error})`)
// A row of a failed call can be shared with other failed calls, which are counted in `left_out`.
const calls = sql.raw('1 + l.left_out')

/** The calls by slot and user. A slot is `seconds` long, and slots are counted from 1970. */
export async function callsBySlot(db: Db, { first, last, since }: SlotRange, seconds: number): Promise<SlotCalls[]> {
  const { rows } = await sql<SlotCalls>`
    select l.created_at / ${sql.lit(seconds)} as slot, l.user_id, cast(sum(${calls}) as bigint) as requests,
      cast(sum(case when l.outcome in ('failed', 'interrupted') then ${calls} else 0 end) as bigint) as failed,
      cast(sum(l.prompt_tokens + l.completion_tokens) as bigint) as tokens, cast(sum(l.quota) as bigint) as quota,
      min(l.id) as first_id
    from logs l where l.id between ${first} and ${last} and l.created_at >= ${since} and ${isCall}
    group by 1, 2`.execute(db)
  return rows
}

/** The first byte times of each slot, as a histogram. */
export async function timesBySlot(db: Db, { first, last, since }: SlotRange, seconds: number): Promise<SlotTimes[]> {
  const { rows } = await sql<SlotTimes>`
    select l.created_at / ${sql.lit(seconds)} as slot, ${firstByteStep} as step, count(*) as responses
    from logs l where l.id between ${first} and ${last} and l.created_at >= ${since}
      and l.type = ${sql.lit(logType.consume)} and l.first_byte_time > 0
    group by 1, 2`.execute(db)
  return rows
}
