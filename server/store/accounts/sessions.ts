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
}

export async function addSession(trx: Trx, session: NewSession): Promise<void> {
  await trx
    .insertInto('sessions')
    .values({ ...session, last_seen_time: session.created_time })
    .execute()
}

export async function touchSession(trx: Trx, idHash: string, nowSeconds: number): Promise<void> {
  await trx.updateTable('sessions').set({ last_seen_time: nowSeconds }).where('id_hash', '=', idHash).execute()
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
