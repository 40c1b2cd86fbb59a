import { type Selectable, sql, type Updateable } from 'kysely'
import { redemptionExpired, redemptionStatus } from '../../../contract/statuses.ts'
import type { RedemptionsTable } from '../schema/tables.ts'
import { idOf, needsRowLocks, startsWith } from '../statements/conditions.ts'
import { type Listed, listPage, type Page } from '../statements/page.ts'
import type { Db, Trx } from '../store.ts'

export type RedemptionRow = Selectable<RedemptionsTable>

/** Filters the listed codes; 0 and '' mean any. */
export interface RedemptionFilter {
  keyword?: string
  /** Exact name. */
  batch?: string
  status: number
  /** The current time, in epoch seconds. Codes that expire earlier count as expired. */
  now: number
}

/** The status of a code. Unused codes that have expired have a status of their own. */
export const statusAt = (now: number) => sql<number>`case
  when status = ${sql.lit(redemptionStatus.unused)} and expired_time <> 0 and expired_time < ${now}
  then ${sql.lit(redemptionExpired)} else status end`

export function listRedemptions(
  db: Db,
  page: Page<Exclude<keyof RedemptionRow, 'key'>>,
  { keyword = '', batch = '', status, now }: RedemptionFilter,
): Promise<Listed<RedemptionRow>> {
  const matching = db
    .selectFrom('redemptions')
    .$if(keyword !== '', (query) =>
      query.where((eb) => eb.or([eb('id', '=', idOf(keyword)), startsWith(eb.ref('name'), keyword)])),
    )
    .$if(batch !== '', (query) => query.where('name', '=', batch))
    .$if(status !== 0, (query) => query.where(sql<number>`${statusAt(now)}`, '=', status))
  return listPage(db, matching, (query) => query.selectAll(), page)
}

export function redemptionById(db: Db, id: number): Promise<RedemptionRow | undefined> {
  return db.selectFrom('redemptions').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Reads a code in order to change it. Nobody else can change or redeem it until the transaction ends. */
export function lockRedemption(trx: Trx, id: number): Promise<RedemptionRow | undefined> {
  return trx
    .selectFrom('redemptions')
    .selectAll()
    .where('id', '=', id)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
}

export type NewRedemption = Pick<RedemptionRow, 'user_id' | 'key' | 'name' | 'quota' | 'created_time' | 'expired_time'>

/** Creates unused codes and returns their ids. */
export async function addRedemptions(trx: Trx, codes: readonly NewRedemption[]): Promise<number[]> {
  const rows = await trx
    .insertInto('redemptions')
    .values(codes.map((code) => ({ ...code, status: redemptionStatus.unused, redeemed_time: 0, redeemed_user_id: 0 })))
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

export async function updateRedemption(
  trx: Trx,
  id: number,
  fields: Pick<Updateable<RedemptionsTable>, 'name' | 'quota' | 'status' | 'expired_time'>,
): Promise<void> {
  if (Object.keys(fields).length === 0) return
  await trx.updateTable('redemptions').set(fields).where('id', '=', id).execute()
}

/** Deletes a code and returns it; undefined if there is no such code. */
export function deleteRedemption(
  trx: Trx,
  id: number,
): Promise<Pick<RedemptionRow, 'name' | 'quota' | 'status'> | undefined> {
  return trx.deleteFrom('redemptions').where('id', '=', id).returning(['name', 'quota', 'status']).executeTakeFirst()
}

/**
 * If the code is unused and has not expired, marks it as used and returns its quota; otherwise undefined. This is one
 * conditional statement, so that only one person gets the row, even if several try at the same time on different nodes.
 */
export function takeRedemption(
  trx: Trx,
  key: string,
  by: { userId: number; now: number },
): Promise<Pick<RedemptionRow, 'id' | 'quota'> | undefined> {
  return trx
    .updateTable('redemptions')
    .set({ status: redemptionStatus.used, redeemed_time: by.now, redeemed_user_id: by.userId })
    .where('key', '=', key)
    .where(sql<number>`${statusAt(by.now)}`, '=', redemptionStatus.unused)
    .returning(['id', 'quota'])
    .executeTakeFirst()
}

/** The status of a code, or `redemptionExpired`; undefined if there is no such code. */
export async function statusOfKey(db: Db, key: string, now: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('redemptions')
    .select(statusAt(now).as('status'))
    .where('key', '=', key)
    .executeTakeFirst()
  return row && Number(row.status)
}

/** The usernames of users, by id. Deleted users are omitted. */
export async function usernamesOf(db: Db, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map(({ id, username }) => [id, username]))
}
