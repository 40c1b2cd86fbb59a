import { sql } from 'kysely'
import { tokenStatus, userStatus } from '../../../contract/statuses.ts'
import type { Db } from '../store.ts'
import { leasedOfToken, leasedOfUser } from './leased.ts'

/** The number of ids in one query. */
const idsAtOnce = 500

function parts(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / idsAtOnce) }, (_, index) =>
    ids.slice(index * idsAtOnce, (index + 1) * idsAtOnce),
  )
}

/** The balances of accounts, including the quota that open calls hold and processes have leased. */
export async function balancesOf(db: Db, userIds: readonly number[]): Promise<Map<number, number>> {
  const held = sql<number>`coalesce((select sum(amount) from holds where holds.user_id = users.id), 0)`
  const balances = new Map<number, number>()
  for (const ids of parts(userIds)) {
    const rows = await db
      .selectFrom('users')
      .select(['id', sql<number>`quota + ${held} + ${leasedOfUser('users.id')}`.as('balance')])
      .where('id', 'in', ids)
      .execute()
    for (const { id, balance } of rows) balances.set(id, Number(balance))
  }
  return balances
}

/** The values of a token that alert rules check. */
export interface TokenFacts {
  id: number
  user_id: number
  name: string
  remain_quota: number
  unlimited_quota: boolean
  expired_time: number
}

/** The tokens of accounts. Only tokens with the status enabled or exhausted are returned. */
export async function tokenFacts(db: Db, userIds: readonly number[]): Promise<TokenFacts[]> {
  const found: TokenFacts[] = []
  for (const ids of parts(userIds)) {
    const rows = await db
      .selectFrom('tokens')
      .select(['id', 'user_id', 'name', 'unlimited_quota', 'expired_time'])
      .select(sql<number>`remain_quota + ${leasedOfToken('tokens.id')}`.as('remain_quota'))
      .where('user_id', 'in', ids)
      .where('status', 'in', [tokenStatus.enabled, tokenStatus.exhausted])
      .orderBy('id')
      .execute()
    found.push(...rows.map((row) => ({ ...row, unlimited_quota: Boolean(row.unlimited_quota) })))
  }
  return found
}

/** An account or token whose amounts do not add up. */
export interface AmountFault {
  kind: 'user' | 'token'
  id: number
}

const mostFaults = 20

/**
 * Accounts and tokens for which granted is not the sum of left, held, leased and used. The query reads no log rows, so
 * it is cheap enough for a running server, and it is one statement, so it sees one snapshot. The complete check is
 * `balanceFaults`.
 */
export async function amountFaults(db: Db): Promise<AmountFault[]> {
  const { rows } = await sql<AmountFault>`
    select 'user' as kind, u.id from users u
    where u.granted_quota <> u.quota + u.used_quota
      + coalesce((select sum(h.amount) from holds h where h.user_id = u.id), 0)
      + coalesce((select sum(l.amount) from leases l where l.user_id = u.id), 0)
    union all
    select 'token', t.id from tokens t
    where t.granted_quota <> t.remain_quota + t.used_quota
      + coalesce((select sum(h.amount) from holds h where h.token_id = t.id and h.token_limited), 0)
      + coalesce((select sum(l.amount) from leases l where l.token_id = t.id and l.token_limited), 0)
    limit ${sql.lit(mostFaults)}`.execute(db)
  return rows
}

/** The email address of an enabled account; '' if it has none, or if the account is not enabled. */
export async function addressOf(db: Db, userId: number): Promise<string> {
  const row = await db
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .where('status', '=', userStatus.enabled)
    .executeTakeFirst()
  return row?.email ?? ''
}
