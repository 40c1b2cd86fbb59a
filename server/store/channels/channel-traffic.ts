import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Db } from '../store.ts'
import { firstByteStep } from '../usage/first-byte-steps.ts'
import { rowsSince } from '../usage/recent-rows.ts'

/** The maximum number of log rows that are read, newest first. */
const mostRead = 20_000
/** The maximum number of rows with failed attempts that are parsed, newest first. */
const mostParsed = 1000

const newest = (since: number) =>
  sql`select l.* from logs l where ${rowsSince(since)} order by l.id desc limit ${sql.lit(mostRead)}`

/** The number of a channel's responses whose time to the first byte falls into one step of the histogram. */
export interface ChannelTimes {
  channel: number
  step: number
  responses: number
}

/**
 * The times to the first byte of each channel's responses since a time (epoch seconds), from the newest rows of the
 * log.
 */
export async function channelTimes(db: Db, since: number): Promise<ChannelTimes[]> {
  const { rows } = await sql<ChannelTimes>`
    select l.channel_id as channel, ${firstByteStep} as step, count(*) as responses from (${newest(since)}) l
    where l.type = ${sql.lit(logType.consume)} and l.first_byte_time > 0 group by 1, 2`.execute(db)
  return rows
}

/** A log row that may contain failed attempts. */
export interface AttemptsRow {
  created_at: number
  attempts: string
}

/** The newest rows of calls with failed attempts since a time (epoch seconds), newest first. */
export async function rowsWithAttempts(db: Db, since: number): Promise<AttemptsRow[]> {
  const { rows } = await sql<AttemptsRow>`
    select l.created_at, l.attempts from (${newest(since)}) l where l.attempts <> ''
    order by l.id desc limit ${sql.lit(mostParsed)}`.execute(db)
  return rows
}
