import { type Selectable, sql } from 'kysely'
import type { SessionsTable } from '../schema/session-tables.ts'
import type { Listed, Page } from '../statements/page.ts'
import type { Db, Trx } from '../store.ts'

const personColumns = ['users.id', 'users.username', 'users.role', 'users.status', 'users.group'] as const

/** The account of a session, with its current values; undefined if the session has ended. */
export function personBySession(db: Db, idHash: string, nowSeconds: number) {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select([...personColumns, 'sessions.last_seen_time'])
    .where('sessions.id_hash', '=', idHash)
    .where('sessions.expires_time', '>', nowSeconds)
    .executeTakeFirst()
}

/** The account whose access token has this fingerprint. */
export function personByAccessToken(db: Db, tokenHash: string) {
  return db.selectFrom('users').select(personColumns).where('access_token_hash', '=', tokenHash).executeTakeFirst()
}

export interface NewSession {
  id_hash: string
  user_id: number
  created_time: number
  expires_time: number
  /** Where the login came from. */
  seen: SessionPlace
}

/** Where a session was seen: the address, and the User-Agent header; '' = not known. */
export interface SessionPlace {
  address: string
  client: string
}

/** The length to which the User-Agent header is truncated. Those of browsers are shorter. */
const longestClient = 300

const placeColumns = ({ address, client }: SessionPlace) => ({ address, client: client.slice(0, longestClient) })

export async function addSession(trx: Trx, { seen, ...session }: NewSession): Promise<void> {
  await trx
    .insertInto('sessions')
    .values({ ...session, ...placeColumns(seen), last_seen_time: session.created_time })
    .execute()
}

/** Records that a session was used now, and from where. */
export async function touchSession(trx: Trx, idHash: string, nowSeconds: number, seen: SessionPlace): Promise<void> {
  await trx
    .updateTable('sessions')
    .set({ last_seen_time: nowSeconds, ...placeColumns(seen) })
    .where('id_hash', '=', idHash)
    .execute()
}

/** The part of a session's hash by which administrators identify the session. The cookie cannot be computed from it. */
const handle = sql<string>`substr(id_hash, 1, 16)`

const listedColumns = ['id_hash', 'created_time', 'last_seen_time', 'expires_time', 'address', 'client'] as const

/** A session as administrators see it. */
export type SessionRow = Pick<Selectable<SessionsTable>, (typeof listedColumns)[number]> & { handle: string }

/** The sessions of a user that have not ended. */
export async function listSessions(
  db: Db,
  userId: number,
  now: number,
  { offset, limit, sort, descending }: Page<'created_time' | 'last_seen_time'>,
): Promise<Listed<SessionRow>> {
  const valid = db.selectFrom('sessions').where('user_id', '=', userId).where('expires_time', '>', now)
  const direction = descending ? 'desc' : 'asc'
  const rows = await valid
    .select(listedColumns)
    .select(handle.as('handle'))
    .orderBy(sort, direction)
    .orderBy('id_hash', direction)
    .offset(offset)
    .limit(limit)
    .execute()
  const { total } = await valid.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { rows, total: Number(total) }
}

/** Ends one session of a user, and resolves with when and with what it began; undefined if none has this handle. */
export function endSessionOf(
  trx: Trx,
  userId: number,
  named: string,
): Promise<Pick<SessionRow, 'created_time' | 'client'> | undefined> {
  return trx
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where(handle, '=', named)
    .returning(['created_time', 'client'])
    .executeTakeFirst()
}

/** Ends all sessions of a user, except the one with this hash; resolves with their number. */
export async function endOtherSessionsOf(trx: Trx, userId: number, exceptHash: string | undefined): Promise<number> {
  const ended = await trx
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .$if(exceptHash !== undefined, (query) => query.where('id_hash', '<>', exceptHash ?? ''))
    .returning('id_hash')
    .execute()
  return ended.length
}

export async function endSession(trx: Trx, idHash: string): Promise<void> {
  await trx.deleteFrom('sessions').where('id_hash', '=', idHash).execute()
}

/** Logs a user out everywhere. */
export async function endSessionsOf(trx: Trx, userId: number): Promise<void> {
  await trx.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

/** Deletes sessions that can no longer be used. A daily job calls this. */
export async function deleteExpiredSessions(trx: Trx, nowSeconds: number): Promise<void> {
  await trx.deleteFrom('sessions').where('expires_time', '<=', nowSeconds).execute()
}
