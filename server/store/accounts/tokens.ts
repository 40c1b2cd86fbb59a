import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { TokenProject } from '../../../contract/api/token.ts'
import type { LimitField } from '../../../contract/limits.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { forgetRecordings } from '../installation/captures.ts'
import type { TokensTable } from '../schema/tables.ts'
import { needsRowLocks, startsWith } from '../statements/conditions.ts'
import { type Listed, listPage, type Page } from '../statements/page.ts'
import type { Db, Trx } from '../store.ts'
import { afterDelta, leasedOfToken, withLeasesOfTokens } from './leased.ts'

/** A token as stored: `key` is encrypted. */
export type TokenRow = Selectable<TokensTable>

/** Columns by which lists can be sorted. */
export type TokenSort =
  | 'id'
  | 'name'
  | 'status'
  | 'project'
  | 'used_quota'
  | 'remain_quota'
  | 'created_time'
  | 'accessed_time'
  | 'expired_time'

/** Which tokens to list; 0, '' and absent fields mean any. */
interface TokenFilter {
  status: number
  /** The current time, in epoch seconds, which determines the status of a token. */
  now: number
  project?: string
  keyword?: string
}

/** Tokens of one user. */
export async function listTokens(
  db: Db,
  userId: number,
  page: Page<TokenSort>,
  { status, now, project = '', keyword = '' }: TokenFilter = { status: 0, now: 0 },
): Promise<Listed<TokenRow>> {
  const matching = db
    .selectFrom('tokens')
    .where('user_id', '=', userId)
    .$if(status !== 0, (query) => query.where(sql<number>`${statusAt(now)}`, '=', status))
    .$if(project !== '', (query) => query.where('project', '=', project))
    .$if(keyword !== '', (query) => query.where((eb) => startsWith(eb.ref('name'), keyword)))
  const direction = page.descending ? 'desc' : 'asc'
  const listed = await listPage(
    db,
    matching,
    // A token with unlimited quota counts as having more left than any other token.
    (query) =>
      query.selectAll().$if(page.sort === 'remain_quota', (sorted) => sorted.orderBy('unlimited_quota', direction)),
    page,
  )
  return { ...listed, rows: await withLeasesOfTokens(db, listed.rows) }
}

/**
 * The projects of a user's tokens by name, with their totals and up to `mostNames` different names of tokens. At most
 * `most` projects are returned: those whose tokens have used the most quota.
 */
export async function projectsOf(
  db: Db,
  userId: number,
  { most, mostNames }: { most: number; mostNames: number },
): Promise<TokenProject[]> {
  const own = db.selectFrom('tokens').where('user_id', '=', userId)
  const totals = await own
    .select((eb) => [
      'project',
      eb.fn.countAll<number>().as('tokens'),
      // The sum is computed in floating point, which is exact up to 2^53 and, unlike integers, cannot overflow.
      sql<number>`sum(cast(used_quota as double precision))`.as('used_quota'),
    ])
    .groupBy('project')
    .orderBy('used_quota', 'desc')
    .orderBy('project')
    .limit(most)
    .execute()
  const numbered = own
    .select(['project', 'name', sql<number>`row_number() over (partition by project order by name)`.as('number')])
    .where('name', '<>', '')
    .groupBy(['project', 'name'])
  const names = await db
    .selectFrom(numbered.as('named'))
    .select(['project', 'name'])
    .where('number', '<=', mostNames)
    .orderBy('name')
    .execute()
  const byProject = Map.groupBy(names, ({ project }) => project)
  const byName = totals.toSorted((one, other) => (one.project < other.project ? -1 : 1))
  return byName.map(({ project, tokens, used_quota }) => ({
    project,
    tokens: Number(tokens),
    used_quota: Number(used_quota),
    token_names: (byProject.get(project) ?? []).map(({ name }) => name),
  }))
}

/**
 * The status that a call at the time `now` would find. It may differ from the stored status, because a token is marked
 * as expired or exhausted only when it is used.
 */
const statusAt = (now: number) => sql<number>`case
  when status <> ${tokenStatus.enabled} then status
  when expired_time <> -1 and expired_time < ${now} then ${sql.lit(tokenStatus.expired)}
  when not unlimited_quota and remain_quota + ${leasedOfToken('tokens.id')} <= 0 then ${sql.lit(tokenStatus.exhausted)}
  else status end`

/**
 * The token with this id; undefined if there is none, or if it belongs to another user. The quota includes the part
 * that processes have leased.
 */
export async function tokenOf(db: Db, userId: number, id: number): Promise<TokenRow | undefined> {
  const rows = await db.selectFrom('tokens').selectAll().where('id', '=', id).where('user_id', '=', userId).execute()
  return (await withLeasesOfTokens(db, rows))[0]
}

/**
 * The token whose key has one of these hashes, and the name of its owner. An old key counts while it is still valid.
 */
export function findOwnedToken(db: Db, keyHashes: readonly string[], now: number) {
  return db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select(['tokens.id', 'tokens.name', 'tokens.status', 'tokens.expired_time', 'tokens.user_id', 'users.username'])
    .where((eb) =>
      eb.or([
        eb('tokens.key_hash', 'in', keyHashes),
        eb.and([eb('tokens.old_key_hash', 'in', keyHashes), eb('tokens.old_key_until', '>', now)]),
      ]),
    )
    .executeTakeFirst()
}

/**
 * Stores the key of a token of which only a hash was stored, when a caller sends that key. Does nothing if the key is
 * already stored.
 */
export async function learnKey(
  trx: Trx,
  id: number,
  { from, to, sealed }: { from: string; to: string; sealed: string },
): Promise<void> {
  await trx
    .updateTable('tokens')
    .set({ key: sealed, key_hash: to })
    .where('id', '=', id)
    .where('key_hash', '=', from)
    .execute()
}

/** Like `tokenOf`, with the row locked: nobody else can change it until the transaction ends. */
export async function lockToken(trx: Trx, userId: number, id: number): Promise<TokenRow | undefined> {
  const rows = await trx
    .selectFrom('tokens')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .execute()
  return (await withLeasesOfTokens(trx, rows))[0]
}

export type NewToken = Omit<
  Insertable<TokensTable>,
  'id' | 'status' | 'used_quota' | 'granted_quota' | 'unlogged_quota' | 'accessed_time'
>

/** Creates a token; its whole quota counts as granted. */
export async function addToken(trx: Trx, token: NewToken): Promise<TokenRow> {
  return trx
    .insertInto('tokens')
    .values({
      ...token,
      status: 1,
      accessed_time: token.created_time,
      used_quota: 0,
      granted_quota: token.remain_quota,
      unlogged_quota: 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The fields of a token that its owner may write. The quota is changed by separate functions. */
export type TokenFields = Pick<
  Updateable<TokensTable>,
  'name' | 'status' | 'expired_time' | 'unlimited_quota' | 'group' | 'models' | 'subnet' | 'project' | LimitField
>

export async function updateToken(trx: Trx, id: number, fields: TokenFields): Promise<void> {
  if (Object.keys(fields).length === 0) return
  await trx.updateTable('tokens').set(fields).where('id', '=', id).execute()
}

/**
 * Sets the remaining quota to a value. The value includes the part that processes have leased. The granted quota
 * changes by the same amount as the remaining quota. If more than the new quota is leased, the unleased part becomes
 * zero. The row must be locked. Resolves with the remaining quota, including the leased part.
 */
export async function setTokenQuota(trx: Trx, id: number, quota: number): Promise<number> {
  const [{ remain_quota: leased } = { remain_quota: 0 }] = await withLeasesOfTokens(trx, [{ id, remain_quota: 0 }])
  const left = Math.max(Math.min(quota, 0), quota - leased)
  await trx
    .updateTable('tokens')
    .set({ remain_quota: left, granted_quota: sql<number>`granted_quota + (${left} - remain_quota)` })
    .where('id', '=', id)
    .execute()
  return left + leased
}

/**
 * Gives quota, or takes it if `delta` is negative. At most the unleased part is taken, because calls may be spending
 * the leased part. Resolves with the remaining quota, including the leased part.
 */
export async function addTokenQuota(trx: Trx, id: number, delta: number): Promise<number> {
  const after = afterDelta('remain_quota', delta)
  const changed = await trx
    .updateTable('tokens')
    .set({ remain_quota: after, granted_quota: sql<number>`granted_quota + (${after} - remain_quota)` })
    .where('id', '=', id)
    .returning(['id', 'remain_quota'])
    .execute()
  return (await withLeasesOfTokens(trx, changed))[0]?.remain_quota ?? 0
}

/**
 * Gives a token a new key. The previous key stays valid until the given time, or ends at once (0). The row must be
 * locked.
 */
export async function replaceKey(
  trx: Trx,
  token: Pick<TokenRow, 'id' | 'key' | 'key_hash'>,
  { key, key_hash, until }: { key: string; key_hash: string; until: number },
): Promise<void> {
  const old = until === 0 ? noOldKey : { old_key: token.key, old_key_hash: token.key_hash, old_key_until: until }
  await trx
    .updateTable('tokens')
    .set({ key, key_hash, ...old })
    .where('id', '=', token.id)
    .execute()
}

const noOldKey = { old_key: '', old_key_hash: null, old_key_until: 0 }

/** Ends the old key of a token now. */
export async function endOldKey(trx: Trx, id: number): Promise<void> {
  await trx.updateTable('tokens').set(noOldKey).where('id', '=', id).execute()
}

/** Deletes old keys that have ended. Callers cannot use them any more. */
export async function forgetOldKeys(trx: Trx, now: number): Promise<void> {
  await trx
    .updateTable('tokens')
    .set(noOldKey)
    .where('old_key_hash', 'is not', null)
    .where('old_key_until', '<=', now)
    .execute()
}

/**
 * Deletes a token of the given user, together with its recorded requests, and returns its name; undefined if there is
 * no such token.
 */
export async function deleteToken(trx: Trx, userId: number, id: number): Promise<{ name: string } | undefined> {
  const token = await trx
    .deleteFrom('tokens')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning('name')
    .executeTakeFirst()
  if (token) await forgetRecordings(trx, 'token', id)
  return token
}
