import { type Insertable, type Selectable, sql } from 'kysely'
import type { CaptureTarget } from '../../../contract/capture-targets.ts'
import { userStatus } from '../../../contract/statuses.ts'
import type { CaptureRulesTable, CapturesTable } from '../schema/capture-tables.ts'
import { contains, idOf, needsRowLocks } from '../statements/conditions.ts'
import type { Db, Store, Trx } from '../store.ts'

/** A rule that determines whose requests are recorded. */
export type CaptureRuleRow = Omit<Selectable<CaptureRulesTable>, 'redactions'> & { redactions: readonly string[] }
/** A recorded request. */
export type CaptureRow = Omit<Selectable<CapturesTable>, 'deleted'>

const listedRules = 100

/** The newest rules. For each one, `captured` is the number of its recorded requests that are still kept. */
export async function listCaptureRules(db: Db): Promise<(CaptureRuleRow & { captured: number })[]> {
  const rows = await db
    .selectFrom('capture_rules')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('captures')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .whereRef('captures.rule_id', '=', 'capture_rules.id')
        .where('captures.deleted', '=', sql<boolean>`false`)
        .as('captured'),
    )
    .orderBy('id', 'desc')
    .limit(listedRules)
    .execute()
  return rows.map((row) => ({ ...parsed(row), captured: Number(row.captured ?? 0) }))
}

/** The rules that have not ended at `now` (epoch seconds). */
export async function runningCaptureRules(db: Db, now: number): Promise<CaptureRuleRow[]> {
  return (await db.selectFrom('capture_rules').selectAll().where('until', '>', now).orderBy('id').execute()).map(parsed)
}

function parsed<Row extends { redactions: string }>(row: Row): Omit<Row, 'redactions'> & { redactions: string[] } {
  return { ...row, redactions: JSON.parse(row.redactions) as string[] }
}

export async function addCaptureRule(
  trx: Trx,
  { redactions, ...rule }: Omit<Insertable<CaptureRulesTable>, 'redactions'> & { redactions: readonly string[] },
): Promise<CaptureRuleRow> {
  return parsed(
    await trx
      .insertInto('capture_rules')
      .values({ ...rule, redactions: JSON.stringify(redactions) })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

/** Ends a rule now, unless it has already ended. Returns it; undefined if there is no such rule. */
export async function endCaptureRule(
  trx: Trx,
  id: number,
  now: number,
): Promise<(CaptureRuleRow & { hadEnded: boolean }) | undefined> {
  const row = await trx
    .selectFrom('capture_rules')
    .selectAll()
    .where('id', '=', id)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
  if (!row) return undefined
  const hadEnded = row.until <= now
  const until = Math.min(row.until, now)
  await trx.updateTable('capture_rules').set({ until }).where('id', '=', id).execute()
  return { ...parsed(row), until, hadEnded }
}

/** The name of a rule's target; undefined if the target does not exist. */
export async function captureTargetName(db: Db, target: CaptureTarget, id: number): Promise<string | undefined> {
  if (target === 'user') {
    const user = db.selectFrom('users').select('username as name').where('id', '=', id)
    return (await user.where('status', '<>', userStatus.deleted).executeTakeFirst())?.name
  }
  const table = target === 'token' ? 'tokens' : 'channels'
  return (await db.selectFrom(table).select('name').where('id', '=', id).executeTakeFirst())?.name
}

/** Finds users, tokens or channels by their names. The contract describes the result. */
export async function captureChoices(
  db: Db,
  { target, keyword, id, limit }: { target: CaptureTarget; keyword: string; id: number; limit: number },
): Promise<{ id: number; name: string; detail: string }[]> {
  const all = {
    user: sql`select u.id, u.username as name, u.display_name as detail from users u where u.status <> ${userStatus.deleted}`,
    token: sql`select t.id, t.name, u.username as detail from tokens t join users u on u.id = t.user_id`,
    channel: sql`select c.id, c.name, '' as detail from channels c`,
  }
  const { rows } = await sql<{ id: number; name: string; detail: string }>`
    select c.id, c.name, c.detail from (${all[target]}) c
    where ${id > 0 ? sql`c.id = ${id}` : sql`true`} and (${contains(sql.ref<string>('c.name'), keyword)}
      or ${contains(sql.ref<string>('c.detail'), keyword)} or c.id = ${idOf(keyword)})
    order by case when c.id = ${idOf(keyword)} then 0 else 1 end, lower(c.name), c.id limit ${limit}`.execute(db)
  return rows
}

/** Returns the given token ids that belong to tokens of this user. */
export async function ownTokensAmong(db: Db, userId: number, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const own = db.selectFrom('tokens').select('id').where('user_id', '=', userId).where('id', 'in', ids).orderBy('id')
  return (await own.execute()).map(({ id }) => id)
}

/**
 * Adds the row of a recorded request, unless its user or token has been deleted. Returns true if the row was added. The
 * locks make a simultaneous deletion wait, so that the deletion finds the row.
 */
export async function addCapture(trx: Trx, row: CaptureRow): Promise<boolean> {
  const lock = needsRowLocks(trx)
  const user = await trx
    .selectFrom('users')
    .select('id')
    .where('id', '=', row.user_id)
    .where('status', '<>', userStatus.deleted)
    .$if(lock, (query) => query.forShare())
    .executeTakeFirst()
  const token = await trx
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', row.token_id)
    .$if(lock, (query) => query.forShare())
    .executeTakeFirst()
  if (!user || !token) return false
  await trx
    .insertInto('captures')
    .values({ ...row, deleted: false })
    .execute()
  return true
}

/** The row of a recorded request; undefined if it was not recorded or has been deleted. */
export async function captureOf(db: Db, requestId: string): Promise<CaptureRow | undefined> {
  return db
    .selectFrom('captures')
    .select(['request_id', 'created_at', 'user_id', 'token_id', 'rule_id', 'place'])
    .where('request_id', '=', requestId)
    .where('deleted', '=', sql<boolean>`false`)
    .executeTakeFirst()
}

/** Selects the recorded requests to delete. */
type Forgotten = { user_id: number } | { token_id: number } | { request_id: string }

/**
 * Hides recorded requests from people at once. A file without a row is removed by the next sweep of its node. An object
 * in a shared store needs its row until the object has been removed.
 */
export async function forgetCaptures(trx: Trx, of: Forgotten): Promise<void> {
  const [column, value] = Object.entries(of)[0] as ['user_id', number]
  await trx.deleteFrom('captures').where(column, '=', value).where('place', '<>', 's3').execute()
  await trx.updateTable('captures').set({ deleted: sql<boolean>`true` }).where(column, '=', value).execute()
}

/** Deletes the recorded requests of a deleted user or token, and the rules for it. */
export async function forgetRecordings(trx: Trx, target: 'user' | 'token', id: number): Promise<void> {
  await forgetCaptures(trx, target === 'user' ? { user_id: id } : { token_id: id })
  await trx.deleteFrom('capture_rules').where('target', '=', target).where('target_id', '=', id).execute()
  if (target === 'token') return
  const tokens = trx.selectFrom('tokens').select('id').where('user_id', '=', id)
  await trx.deleteFrom('capture_rules').where('target', '=', 'token').where('target_id', 'in', tokens).execute()
}

const forgottenPerStep = 500

/**
 * Deletes at most a few hundred requests that were recorded before `before` (epoch seconds). Returns true if there are
 * more.
 */
export async function forgetOldCaptures(store: Store, before: number): Promise<boolean> {
  return store.write(async (trx) => {
    const old = await trx
      .selectFrom('captures')
      .select('request_id')
      .where('created_at', '<', before)
      .where('deleted', '=', sql<boolean>`false`)
      .orderBy('created_at')
      .limit(forgottenPerStep)
      .execute()
    const ids = old.map(({ request_id }) => request_id)
    if (ids.length === 0) return false
    await trx.deleteFrom('captures').where('request_id', 'in', ids).where('place', '<>', 's3').execute()
    await trx.updateTable('captures').set({ deleted: sql<boolean>`true` }).where('request_id', 'in', ids).execute()
    return ids.length === forgottenPerStep
  })
}

/** The ids of deleted requests whose objects have not been removed yet. */
export async function deletedCaptures(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('captures')
    .select('request_id')
    .where('deleted', '=', sql<boolean>`true`)
    .orderBy('request_id')
    .limit(forgottenPerStep)
    .execute()
  return rows.map(({ request_id }) => request_id)
}

/** Removes the row of a deleted request whose object is gone. */
export async function dropCapture(store: Store, requestId: string): Promise<void> {
  await store.write((trx) => trx.deleteFrom('captures').where('request_id', '=', requestId).execute())
}

/** Returns the given request ids that have a row whose content is a file. */
export async function captureFilesAmong(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('captures')
    .select('request_id')
    .where('request_id', 'in', ids)
    .where('place', '<>', 's3')
    .execute()
  return new Set(rows.map(({ request_id }) => request_id))
}

const listedIds = 500

/** The ids of recordings in a place that come after `after`, in order. */
export async function captureIdsIn(db: Db, place: CaptureRow['place'], after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('captures')
    .select('request_id')
    .where('place', '=', place)
    .where('request_id', '>', after)
    .orderBy('request_id')
    .limit(listedIds)
    .execute()
  return rows.map(({ request_id }) => request_id)
}
