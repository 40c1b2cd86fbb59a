import { type RawBuilder, sql } from 'kysely'
import type { LimitOwner, Minute, Minutes, OpLimits } from '../schema/ledger-types.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Store, Trx } from '../store.ts'

/**
 * A call counts for this many seconds from the start of the second in which it began. With 61, a call counts for at
 * least 60 seconds, whenever in that second it began.
 */
export const windowSeconds = 61

/**
 * The current time in epoch seconds. On PostgreSQL it is the database's time, which all nodes share. On SQLite it is
 * the given time.
 */
function nowOf({ dialect }: Store, seconds: number): RawBuilder<number> {
  return dialect === 'postgres' ? sql<number>`floor(extract(epoch from clock_timestamp()))::bigint` : sql`${seconds}`
}

/**
 * The current per-minute counts of the token and the user, for those of them that have limits. Reading the counts does
 * not count a call.
 */
export async function currentMinutes(
  store: Store,
  ids: { tokenId: number; userId: number },
  limits: OpLimits,
): Promise<Minutes> {
  const minutes: Minutes = {}
  const owners: [LimitOwner, number][] = [
    ['token', ids.tokenId],
    ['user', ids.userId],
  ]
  for (const [owner, id] of owners) {
    const { rpm_limit = 0, tpm_limit = 0 } = limits[owner] ?? {}
    if (rpm_limit > 0 || tpm_limit > 0) minutes[owner] = await minuteOf(store, owner, id, limits.at)
  }
  return minutes
}

async function minuteOf(store: Store, owner: LimitOwner, id: number, seconds: number): Promise<Minute> {
  const now = nowOf(store, seconds)
  const leaves = (when: 'calls' | 'tokens') =>
    sql<number>`coalesce(max(case when ${sql.ref(when)} > 0 then second + ${windowSeconds} - ${now} end), 0)`
  const row = await store.read
    .selectFrom('limit_windows')
    .select((eb) => [
      eb.fn.coalesce(eb.fn.sum<number>('calls'), sql<number>`0`).as('calls'),
      eb.fn.coalesce(eb.fn.sum<number>('tokens'), sql<number>`0`).as('tokens'),
      leaves('calls').as('callsReset'),
      leaves('tokens').as('tokensReset'),
    ])
    .where('owner', '=', owner)
    .where('owner_id', '=', id)
    .where('second', '>', sql<number>`${now} - ${windowSeconds}`)
    .executeTakeFirstOrThrow()
  return {
    calls: Number(row.calls),
    tokens: Number(row.tokens),
    callsReset: Number(row.callsReset),
    tokensReset: Number(row.tokensReset),
  }
}

/**
 * Counts the open calls of a token or user that has just got its first limit. Calls that began without a limit were not
 * counted. From now on, they count as concurrent calls, and their held quota counts in the budgets.
 */
export async function countOpenCalls(trx: Trx, of: { tokenId?: number; userId?: number } = {}): Promise<void> {
  const { tokenId, userId } = of
  const uncounted = trx
    .selectFrom('holds')
    .select('id')
    .where('counted', '=', 0)
    .$if(tokenId !== undefined, (query) => query.where('token_id', '=', tokenId ?? 0))
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
    // Holds that the ledger has locked are skipped, because waiting for them could cause a deadlock. Their calls are
    // ending or extending their holds at this moment.
    .$if(needsRowLocks(trx), (query) => query.forUpdate().skipLocked())
  await trx.updateTable('holds').set({ counted: 1 }).where('id', 'in', uncounted).execute()
}

/** Deletes the counts of seconds that are too old for any limit. The ledger no longer changes such rows. */
export async function forgetMinutes(store: Store, seconds: number): Promise<void> {
  const before = sql<number>`${nowOf(store, seconds)} - ${2 * windowSeconds}`
  await store.write((trx) => trx.deleteFrom('limit_windows').where('second', '<', before).execute())
}
