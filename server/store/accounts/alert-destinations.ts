import type { Insertable, Selectable, Updateable } from 'kysely'
import type { AlertDestinationsTable } from '../schema/alert-tables.ts'
import type { Db, Trx } from '../store.ts'

/** A destination as stored: `address` is encrypted. */
export type AlertDestinationRow = Selectable<AlertDestinationsTable>

/** The owner id of the rules and destinations that belong to the installation and not to a user. */
export const installationOwner = 0

/** All destinations of a user, or of the installation, oldest first. */
export function alertDestinations(db: Db, ownerId: number): Promise<AlertDestinationRow[]> {
  return db.selectFrom('alert_destinations').selectAll().where('owner_id', '=', ownerId).orderBy('id').execute()
}

/** The destination with this id; undefined if there is none, or if it belongs to another owner. */
export function alertDestination(db: Db, ownerId: number, id: number): Promise<AlertDestinationRow | undefined> {
  return db
    .selectFrom('alert_destinations')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .executeTakeFirst()
}

export function addAlertDestination(
  trx: Trx,
  values: Insertable<AlertDestinationsTable>,
): Promise<AlertDestinationRow> {
  return trx.insertInto('alert_destinations').values(values).returningAll().executeTakeFirstOrThrow()
}

export async function updateAlertDestination(
  trx: Trx,
  id: number,
  fields: Updateable<AlertDestinationsTable>,
): Promise<void> {
  if (Object.keys(fields).length === 0) return
  await trx.updateTable('alert_destinations').set(fields).where('id', '=', id).execute()
}

/**
 * Deletes a destination of the given owner, and marks its unsent messages as failed. Returns the name of the
 * destination.
 */
export async function deleteAlertDestination(
  trx: Trx,
  ownerId: number,
  id: number,
): Promise<{ name: string } | undefined> {
  const deleted = await trx
    .deleteFrom('alert_destinations')
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .returning('name')
    .executeTakeFirst()
  if (deleted) {
    await trx
      .updateTable('alert_deliveries')
      .set({ status: 'failed', error: 'The destination was deleted.' })
      .where('destination_id', '=', id)
      .where('status', 'in', ['waiting', 'held'])
      .execute()
  }
  return deleted
}
