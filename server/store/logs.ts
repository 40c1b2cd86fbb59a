import { type Selectable, sql } from 'kysely'
import { logType } from '../../contract/log-types.ts'
import type { Listed, Page } from './page.ts'
import { idOf, startsWith } from './search.ts'
import type { Db, Trx } from './store.ts'
import type { LogsTable } from './tables.ts'

export type LogRow = Selectable<LogsTable>

/** Columns that lists can be sorted by. */
export type LogSort =
  | 'id'
  | 'created_at'
  | 'quota'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'elapsed_time'
  | 'first_byte_time'

/** Which logs; 0 and '' mean any. Times are inclusive. */
export interface LogFilter {
  userId?: number
  type: number
  username?: string
  token_name: string
  model_name: string
  start_timestamp: number
  end_timestamp: number
  channel?: number
}

/** Counting stops here: nobody pages further, and counting millions of rows is slow. */
const maxCount = 100_000

/** Most rows of a search. */
const searchLimit = 100

function matching(db: Db, filter: LogFilter) {
  let query = db.selectFrom('logs')
  if (filter.userId) query = query.where('user_id', '=', filter.userId)
  if (filter.type) query = query.where('type', '=', filter.type)
  if (filter.username) query = query.where('username', '=', filter.username)
  if (filter.token_name) query = query.where('token_name', '=', filter.token_name)
  if (filter.model_name) query = query.where('model_name', '=', filter.model_name)
  if (filter.start_timestamp) query = query.where('created_at', '>=', filter.start_timestamp)
  if (filter.end_timestamp) query = query.where('created_at', '<=', filter.end_timestamp)
  if (filter.channel) query = query.where('channel_id', '=', filter.channel)
  return query
}

export async function listLogs(db: Db, filter: LogFilter, page: Page<LogSort>): Promise<Listed<LogRow>> {
  const direction = page.descending ? 'desc' : 'asc'
  const rows = await matching(db, filter)
    .selectAll()
    .$if(page.sort !== 'id', (query) => query.orderBy(page.sort, direction))
    .orderBy('id', direction)
    .offset(page.offset)
    .limit(page.limit)
    .execute()
  const counted = await db
    .selectFrom(matching(db, filter).select('id').limit(maxCount).as('found'))
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { rows, total: Number(counted.total) }
}

/** Newest logs of a type number, or whose content begins with the keyword. */
export function searchLogs(db: Db, keyword: string, userId?: number): Promise<LogRow[]> {
  return db
    .selectFrom('logs')
    .selectAll()
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
    .$if(keyword !== '', (query) =>
      query.where((eb) => eb.or([eb('type', '=', idOf(keyword)), startsWith(eb.ref('content'), keyword)])),
    )
    .orderBy('id', 'desc')
    .limit(searchLimit)
    .execute()
}

/** Quota and tokens of the consume logs among those that match. */
export async function sumLogs(db: Db, filter: LogFilter): Promise<{ quota: number; token: number }> {
  const sums = await matching(db, { ...filter, type: logType.consume })
    .select([
      sql<number>`coalesce(cast(sum(quota) as bigint), 0)`.as('quota'),
      sql<number>`coalesce(cast(sum(prompt_tokens + completion_tokens) as bigint), 0)`.as('token'),
    ])
    .executeTakeFirstOrThrow()
  return { quota: Number(sums.quota), token: Number(sums.token) }
}

/** What one model cost on one day; days are counted from 1970 (UTC). */
export interface UsageRow {
  day: number
  model: string
  requests: number
  quota: number
  promptTokens: number
  completionTokens: number
}

/** What a user's calls cost since then, by day and model. */
export async function usageByDay(db: Db, userId: number, sinceSeconds: number): Promise<UsageRow[]> {
  const sum = (column: 'quota' | 'prompt_tokens' | 'completion_tokens') =>
    sql<number>`cast(sum(${sql.ref(column)}) as bigint)`
  const rows = await db
    .selectFrom('logs')
    .select([
      // Both are whole numbers, so the division is one without a rest on either database.
      sql<number>`created_at / 86400`.as('day'),
      'model_name as model',
      (eb) => eb.fn.countAll<number>().as('requests'),
      sum('quota').as('quota'),
      sum('prompt_tokens').as('promptTokens'),
      sum('completion_tokens').as('completionTokens'),
    ])
    .where('user_id', '=', userId)
    .where('type', '=', logType.consume)
    .where('created_at', '>=', sinceSeconds)
    .groupBy(['day', 'model'])
    .orderBy('day')
    .orderBy('model')
    .execute()
  return rows.map((row) => ({ ...row, requests: Number(row.requests) }))
}

/** Something other than a relayed call that concerns a user's quota, as people read it. */
export interface AccountLog {
  user_id: number
  username: string
  created_at: number
  type: number
  content: string
  /** What a top-up gave; other rows carry none. */
  quota?: number
}

export async function addAccountLog(trx: Trx, log: AccountLog): Promise<void> {
  await trx
    .insertInto('logs')
    .values({
      quota: 0,
      ...log,
      token_name: '',
      model_name: '',
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
    })
    .execute()
}
