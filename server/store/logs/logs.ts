import { sql } from 'kysely'
import { idOf, startsWith } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'
import type { LogRow } from './log-pages.ts'

/** The maximum number of rows that a search returns. */
const searchLimit = 100

/**
 * The number of newest rows that a search reads from each of three sets: all rows, rows other than charged calls, and
 * rows other than calls.
 */
const searchDepth = 20_000

/** The newest log rows whose type is the number in the keyword, or whose content begins with the keyword. */
export async function searchLogs(db: Db, keyword: string, userId?: number): Promise<LogRow[]> {
  const newest = db
    .selectFrom('logs')
    .selectAll()
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
    .orderBy('id', 'desc')
    .limit(searchDepth)
  const isNoCall = newest.where('type', '<>', sql<number>`2`)
  const candidates = [newest, isNoCall, isNoCall.where('type', '<>', sql<number>`6`)]
  const rowLists = await Promise.all(
    candidates.map((rows) =>
      db
        .selectFrom(rows.as('l'))
        .selectAll()
        .$if(keyword !== '', (query) =>
          query.where((eb) => eb.or([eb('type', '=', idOf(keyword)), startsWith(eb.ref('content'), keyword)])),
        )
        .orderBy('id', 'desc')
        .limit(searchLimit)
        .execute(),
    ),
  )
  const byId = new Map(rowLists.flat().map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => b.id - a.id).slice(0, searchLimit)
}

/** The row with this id; empty if there is none. If a user is given, the row must belong to that user. */
export function logById(db: Db, id: number, userId?: number): Promise<LogRow[]> {
  return db
    .selectFrom('logs')
    .selectAll()
    .where('id', '=', id)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
    .execute()
}

/** Default values of the columns that are used only in rows of calls. */
export const emptyLogRow = {
  token_name: '',
  model_name: '',
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  channel_id: 0,
  request_id: '',
  elapsed_time: 0,
  is_stream: false,
  system_prompt_reset: false,
  token_id: 0,
  first_byte_time: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  estimated: false,
  outcome: '',
  attempts: '',
  kept_place: null,
} as const

/**
 * An event other than a relayed call that concerns a user's quota, such as a top-up. Its content is written for people
 * to read.
 */
export interface AccountLog {
  user_id: number
  username: string
  created_at: number
  type: number
  content: string
  /** The quota of a top-up; other rows have none. */
  quota?: number
}

export async function addAccountLog(trx: Trx, log: AccountLog): Promise<void> {
  await trx
    .insertInto('logs')
    .values({ ...emptyLogRow, ...log })
    .execute()
}
