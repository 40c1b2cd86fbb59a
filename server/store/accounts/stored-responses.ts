import type { Insertable, Selectable } from 'kysely'
import type { StoredResponsesTable } from '../schema/stored-response-tables.ts'
import type { Db, Trx } from '../store.ts'

export type StoredResponse = Selectable<StoredResponsesTable>

/** Adds responses. If a response is already recorded, its channel is not changed. */
export async function addStoredResponses(trx: Trx, rows: readonly Insertable<StoredResponsesTable>[]): Promise<void> {
  await trx
    .insertInto('stored_responses')
    .values([...rows])
    .onConflict((on) => on.columns(['id', 'user_id']).doNothing())
    .execute()
}

/** The responses with this id, whichever user they belong to. */
export function findStoredResponses(db: Db, id: string): Promise<StoredResponse[]> {
  return db.selectFrom('stored_responses').selectAll().where('id', '=', id).limit(10).execute()
}

/** Removes the record of a response that the upstream service has deleted. */
export async function removeStoredResponse(trx: Trx, id: string, userId: number): Promise<void> {
  await trx.deleteFrom('stored_responses').where('id', '=', id).where('user_id', '=', userId).execute()
}

/** Removes the records of responses that are older than this time. */
export async function purgeStoredResponses(trx: Trx, before: number): Promise<void> {
  await trx.deleteFrom('stored_responses').where('created_at', '<', before).execute()
}
