import { sql } from 'kysely'
import { type Limits, limitsOf } from '../../../contract/limits.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'
import { leasedOfToken, leasedOfUser } from './leased.ts'

/** The values of a token and its owner that the relay needs. */
export interface CallerRow {
  tokenId: number
  userId: number
  tokenName: string
  tokenStatus: number
  expiredTime: number
  remainQuota: number
  unlimited: boolean
  models: string | null
  subnet: string | null
  username: string
  userStatus: number
  role: number
  /** The group that determines channels and ratio: the token's group or, if it has none, the owner's group. */
  group: string
  /** The owner's group, whose limits apply. */
  userGroup: string
  /** Undefined if the token has no limits. */
  tokenLimits: Limits | undefined
  /** The user's own limits; the group's limits are in an option. */
  userLimits: Limits | undefined
}

/** Looks up a token by one or more hashes of its key. If the user row is gone, the owner's columns are empty. */
export async function findCaller(db: Db, ...keyHashes: readonly string[]): Promise<CallerRow | undefined> {
  const row = await callerRows(db).where('tokens.key_hash', 'in', keyHashes).executeTakeFirst()
  return row && callerOf(row)
}

/**
 * Looks up a token by a hash of its previous key if that key is still valid. The result contains the time at which the
 * previous key expires.
 */
export async function findByOldKey(
  db: Db,
  keyHashes: readonly string[],
  nowSeconds: number,
): Promise<{ row: CallerRow; untilSeconds: number } | undefined> {
  const row = await callerRows(db)
    .select('tokens.old_key_until')
    .where('tokens.old_key_hash', 'in', keyHashes)
    .where('tokens.old_key_until', '>', nowSeconds)
    .executeTakeFirst()
  return row && { row: callerOf(row), untilSeconds: row.old_key_until }
}

/** Looks up a token by its id. */
export async function callerById(db: Db, tokenId: number): Promise<CallerRow | undefined> {
  const row = await callerRows(db).where('tokens.id', '=', tokenId).executeTakeFirst()
  return row && callerOf(row)
}

function callerRows(db: Db) {
  return db
    .selectFrom('tokens')
    .leftJoin('users', 'users.id', 'tokens.user_id')
    .select([
      'tokens.id as tokenId',
      'tokens.user_id as userId',
      'tokens.name as tokenName',
      'tokens.status as tokenStatus',
      'tokens.expired_time as expiredTime',
      'tokens.remain_quota as remainQuota',
      'tokens.unlimited_quota as unlimited',
      'tokens.models',
      'tokens.subnet',
      'users.username',
      'users.status as userStatus',
      'users.role',
      'tokens.group as tokenGroup',
      'users.group as userGroup',
      'tokens.rpm_limit',
      'tokens.tpm_limit',
      'tokens.concurrency_limit',
      'tokens.daily_budget',
      'tokens.monthly_budget',
      'users.rpm_limit as userRpm',
      'users.tpm_limit as userTpm',
      'users.concurrency_limit as userConcurrency',
      'users.daily_budget as userDaily',
      'users.monthly_budget as userMonthly',
    ])
}

type Row = NonNullable<Awaited<ReturnType<ReturnType<typeof callerRows>['executeTakeFirst']>>>

function callerOf(row: Row): CallerRow {
  const { tokenId, userId, tokenName, expiredTime, remainQuota, models, subnet } = row
  return {
    tokenId,
    userId,
    tokenName,
    tokenStatus: row.tokenStatus,
    expiredTime,
    remainQuota,
    unlimited: Boolean(row.unlimited),
    models,
    subnet,
    username: row.username ?? '',
    userStatus: row.userStatus ?? 0,
    role: row.role ?? 0,
    group: row.tokenGroup || (row.userGroup ?? 'default'),
    userGroup: row.userGroup ?? 'default',
    tokenLimits: limitsOf(row),
    userLimits: limitsOf({
      rpm_limit: row.userRpm,
      tpm_limit: row.userTpm,
      concurrency_limit: row.userConcurrency,
      daily_budget: row.userDaily,
      monthly_budget: row.userMonthly,
    }),
  }
}

/** Marks a token as expired, unless its status was changed in the meantime. Returns true if the token was marked. */
export async function markExpired(trx: Trx, tokenId: number): Promise<boolean> {
  const result = await trx
    .updateTable('tokens')
    .set({ status: tokenStatus.expired })
    .where('id', '=', tokenId)
    .where('status', '=', tokenStatus.enabled)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/**
 * Marks a token as exhausted if it has no quota left and no open calls, which could return a part of their holds.
 * Returns true if the token was marked.
 */
export async function markExhausted(trx: Trx, tokenId: number): Promise<boolean> {
  // The ledger locks this row, too, so no hold can begin or end between this read and the update below.
  const token = await trx
    .selectFrom('tokens')
    .select('status')
    .where('id', '=', tokenId)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
  if (!token || token.status !== tokenStatus.enabled || (await tokenHasQuota(trx, tokenId))) return false
  await trx.updateTable('tokens').set({ status: tokenStatus.exhausted }).where('id', '=', tokenId).execute()
  return true
}

/** The quota figures of a token and its owner, for the billing endpoints. */
export async function quotaFigures(db: Db, tokenId: number, userId: number) {
  const token = await db
    .selectFrom('tokens')
    .select(['used_quota', 'unlimited_quota', 'expired_time'])
    .select(sql<number>`remain_quota + ${leasedOfToken('tokens.id')}`.as('remain_quota'))
    .where('id', '=', tokenId)
    .executeTakeFirst()
  const user = await db
    .selectFrom('users')
    .select(['used_quota', sql<number>`quota + ${leasedOfUser('users.id')}`.as('quota')])
    .where('id', '=', userId)
    .executeTakeFirst()
  return { token, user }
}

/** True while the token has quota left or open calls. */
export async function tokenHasQuota(db: Db, tokenId: number): Promise<boolean> {
  const token = await db
    .selectFrom('tokens')
    .select(['unlimited_quota', sql<number>`remain_quota + ${leasedOfToken('tokens.id')}`.as('remain_quota')])
    .where('id', '=', tokenId)
    .executeTakeFirst()
  if (!token) return false
  if (token.unlimited_quota || token.remain_quota > 0) return true
  const open = await db.selectFrom('holds').select('id').where('token_id', '=', tokenId).limit(1).executeTakeFirst()
  return open !== undefined
}

/** True while the account has quota left or open calls. */
export async function userHasQuota(db: Db, userId: number): Promise<boolean> {
  const user = await db
    .selectFrom('users')
    .select(sql<number>`quota + ${leasedOfUser('users.id')}`.as('quota'))
    .where('id', '=', userId)
    .executeTakeFirst()
  if (!user || user.quota > 0) return user !== undefined
  const open = await db.selectFrom('holds').select('id').where('user_id', '=', userId).limit(1).executeTakeFirst()
  return open !== undefined
}
