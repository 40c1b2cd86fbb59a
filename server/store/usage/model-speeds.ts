import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Db } from '../store.ts'
import { firstByteStep } from './first-byte-steps.ts'
import { rowsSince } from './recent-rows.ts'

/** The maximum number of log rows that are read, newest first. */
const mostRead = 20_000

/** The streamed responses of a model whose first byte times are in one step of the histogram. */
export interface ModelSpeed {
  model: string
  step: number
  responses: number
  /** The output tokens of these responses, and the milliseconds from their first byte to their end. */
  tokens: number
  ms: number
}

/** The speed of each model since a time (epoch seconds), from the newest rows of the log. */
export async function modelSpeeds(db: Db, since: number): Promise<ModelSpeed[]> {
  const { rows } = await sql<ModelSpeed>`
    select l.model_name as model, ${firstByteStep} as step, count(*) as responses,
      cast(sum(l.completion_tokens) as bigint) as tokens, cast(sum(l.elapsed_time - l.first_byte_time) as bigint) as ms
    from (select * from logs l where ${rowsSince(since)} order by l.id desc limit ${sql.lit(mostRead)}) l
    where l.type = ${sql.lit(logType.consume)} and l.is_stream and l.first_byte_time > 0
      and l.elapsed_time >= l.first_byte_time
    group by 1, 2`.execute(db)
  return rows
}
