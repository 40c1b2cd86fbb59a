import { setImmediate } from 'node:timers/promises'
import { logType } from '../../../contract/log-types.ts'
import { requestSeconds } from '../../lib/secrets/ids.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db } from '../store.ts'
import { sharedRowsAt } from './failed-calls.ts'
import { type LogHour, logHours } from './log-hours.ts'
import type { LogRow } from './log-pages.ts'

/**
 * The log row of a call is written when the call ends. The search finds the row only if the call lasted at most this
 * long.
 */
const longestCallSeconds = 86_400

/** The clocks of different nodes are assumed to differ by less than this. */
const clockSlackSeconds = 60

/**
 * The number of log rows that are read in the first step, the maximum number per later step, and the maximum in total.
 * Steps on SQLite are smaller, because SQLite blocks the process while it reads.
 */
const firstStep = 2_000
const largestStep = { sqlite: 2_000, postgres: 32_000 }
const mostRows = 2_000_000

/**
 * Finds the rows of a request by the id in its response. If a user is given, only that user's rows are found. There is
 * no index on the request id. The id contains the time at which the request began, so rows are read in batches from
 * that time on.
 */
export async function logsOfRequest(db: Db, requestId: string, userId?: number): Promise<LogRow[]> {
  const startedAt = requestSeconds(requestId)
  if (startedAt === undefined) return []
  const from = startedAt - clockSlackSeconds
  const hours = await logHours(db, { userId, start_timestamp: from, end_timestamp: from + longestCallSeconds })
  let left = mostRows
  let step = firstStep
  const largest = largestStep[needsRowLocks(db) ? 'postgres' : 'sqlite']
  for (const { firstId, lastId } of stretches(hours)) {
    for (let id = firstId; id <= lastId && left > 0; ) {
      const last = Math.min(lastId, id + step - 1)
      left -= step
      const rows = await db
        .selectFrom('logs')
        .selectAll()
        .where('id', '>=', id)
        .where('id', '<=', last)
        .where('created_at', '>=', from)
        .where('created_at', '<=', from + longestCallSeconds)
        .where('request_id', '=', requestId)
        .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
        .orderBy('id')
        .execute()
      if (rows.length > 0) return rows
      id = last + 1
      step = Math.min(largest, step * 2)
      // Queries on SQLite block the process. This pause lets other calls run between the steps.
      await setImmediate()
    }
  }
  return []
}

/**
 * The shared rows that may include a failed call. A call shares a row with others if too many calls with the same error
 * failed in that minute. The shared row contains no request ids. These rows are therefore found by their times, and may
 * not include the call.
 */
export async function rowsForLeftOut(db: Db, requestId: string, userId?: number): Promise<LogRow[]> {
  const beganAt = requestSeconds(requestId)
  if (beganAt === undefined) return []
  const until = beganAt + longestCallSeconds
  const filter = { userId, type: logType.error, start_timestamp: beganAt, end_timestamp: until }
  const hours = await logHours(db, filter)
  if (hours.length === 0) return []
  const firstId = Math.min(...hours.map((hour) => hour.firstId))
  return sharedRowsAt(db, { beganAt, until, firstId, userId })
}

/**
 * The ranges of row ids of these hours, lowest ids first. Rows of adjacent hours may be interleaved, so ranges that
 * overlap are merged.
 */
function stretches(hours: readonly LogHour[]): { firstId: number; lastId: number }[] {
  const ranges: { firstId: number; lastId: number }[] = []
  for (const { firstId, lastId } of [...hours].sort((a, b) => a.firstId - b.firstId)) {
    const last = ranges.at(-1)
    if (last && firstId <= last.lastId + 1) last.lastId = Math.max(last.lastId, lastId)
    else ranges.push({ firstId, lastId })
  }
  return ranges
}
