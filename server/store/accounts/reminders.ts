import { sql } from 'kysely'
import { userStatus } from '../../../contract/statuses.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'
import { leasedOfUser } from './leased.ts'

/** An account whose balance has crossed the threshold since it was last checked. */
export interface Crossing {
  id: number
  username: string
  email: string
  /** The balance, including the holds of open calls. */
  quota: number
}

/**
 * Checks the accounts with ids in (after, upTo]. An account becomes armed when its balance rises above the threshold.
 * An armed account gets one reminder when its balance falls below it. `risen` contains the accounts above the threshold
 * that are not armed yet. `fallen` contains the armed accounts below it. One range of ids is read at a time, so that no
 * read takes long.
 */
export async function quotaCrossings(
  db: Db,
  range: { after: number; upTo: number },
  threshold: number,
): Promise<{ risen: number[]; fallen: Crossing[] }> {
  const held = sql<number>`coalesce((select sum(amount) from holds where holds.user_id = users.id), 0)`
  const rows = await db
    .selectFrom('users')
    .select([
      'id',
      'username',
      'email',
      'quota_armed',
      sql<number>`quota + ${held} + ${leasedOfUser('users.id')}`.as('balance'),
    ])
    .where('id', '>', range.after)
    .where('id', '<=', range.upTo)
    .where('status', '=', userStatus.enabled)
    .where((eb) =>
      eb.or([
        eb.and([eb('quota_armed', '=', false), eb('quota', '>=', threshold)]),
        eb.and([eb('quota_armed', '=', true), eb('quota', '<', threshold)]),
      ]),
    )
    .execute()
  const risen: number[] = []
  const fallen: Crossing[] = []
  for (const { id, username, email, quota_armed, balance } of rows) {
    const quota = Number(balance)
    if (!quota_armed) risen.push(id)
    else if (quota < threshold) fallen.push({ id, username, email, quota })
  }
  return { risen, fallen }
}

/**
 * Arms accounts (true), or disarms them before the reminder is sent (false). Returns the ids of the accounts that this
 * call changed, so that only one node sends the reminder.
 */
export async function armQuota(trx: Trx, ids: readonly number[], armed: boolean): Promise<number[]> {
  if (ids.length === 0) return []
  // The rows are locked in id order first, as in the ledger. A plain UPDATE would lock them in physical order.
  const rows = await trx
    .selectFrom('users')
    .select('id')
    .where('id', 'in', [...ids])
    .where('quota_armed', '=', !armed)
    .orderBy('id')
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .execute()
  const changed = rows.map(({ id }) => id)
  if (changed.length > 0)
    await trx.updateTable('users').set({ quota_armed: armed }).where('id', 'in', changed).execute()
  return changed
}

export async function lastUserId(db: Db): Promise<number> {
  const row = await db.selectFrom('users').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row?.id ?? 0
}
