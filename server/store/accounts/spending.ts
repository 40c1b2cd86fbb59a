import { sql } from 'kysely'
import type { LimitOwner } from '../schema/ledger-types.ts'
import type { Db } from '../store.ts'
import { leasedOfToken, leasedOfUser } from './leased.ts'

interface Ids {
  tokenId: number
  userId: number
}

/** The amount that an account may spend now, and the amounts that it has spent. */
export interface Spending {
  /** The quota that is left. For a token, this is the token's own quota. */
  quota: number
  today: number
  month: number
  /** The total of the holds of its open calls. */
  held: number
}

/** The number of open calls of a token and of its user. */
export async function openCallsOf(db: Db, ids: Ids): Promise<Record<LimitOwner, number>> {
  const count = async (column: 'token_id' | 'user_id', id: number) => {
    const { calls } = await db
      .selectFrom('holds')
      .select((eb) => eb.fn.countAll<number>().as('calls'))
      .where(column, '=', id)
      .executeTakeFirstOrThrow()
    return Number(calls)
  }
  return { token: await count('token_id', ids.tokenId), user: await count('user_id', ids.userId) }
}

/**
 * The amounts that a token and its user have spent in a day and a month, and the amounts that are left. The day and the
 * month begin at the given times (epoch seconds).
 */
export async function spendingOf(
  db: Db,
  { tokenId, userId }: Ids,
  { dayStart, monthStart }: { dayStart: number; monthStart: number },
): Promise<Record<LimitOwner, Spending>> {
  const held = async (column: 'token_id' | 'user_id', id: number) => {
    const { units } = await db
      .selectFrom('holds')
      .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('amount'), eb.lit(0)).as('units'))
      .where(column, '=', id)
      .executeTakeFirstOrThrow()
    return Number(units)
  }
  const columns = ['spent_today', 'spent_month', 'spent_at'] as const
  const token = await db
    .selectFrom('tokens')
    .select([...columns, sql<number>`remain_quota + ${leasedOfToken('tokens.id')}`.as('quota')])
    .where('id', '=', tokenId)
    .executeTakeFirst()
  const user = await db
    .selectFrom('users')
    .select([...columns, sql<number>`quota + ${leasedOfUser('users.id')}`.as('quota')])
    .where('id', '=', userId)
    .executeTakeFirst()
  const spent = (row: typeof user, open: number): Spending => ({
    quota: Number(row?.quota ?? 0),
    today: row && row.spent_at >= dayStart ? Number(row.spent_today) : 0,
    month: row && row.spent_at >= monthStart ? Number(row.spent_month) : 0,
    held: open,
  })
  return {
    token: spent(token, await held('token_id', tokenId)),
    user: spent(user, await held('user_id', userId)),
  }
}
