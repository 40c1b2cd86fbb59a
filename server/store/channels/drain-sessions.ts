import type { Db, Trx } from '../store.ts'

/**
 * Records since when a channel has been drained (epoch seconds); 0 = it is not drained. A drained channel gets no new
 * sessions.
 */
export async function noteDrain(trx: Trx, id: number, since: number): Promise<void> {
  await trx.updateTable('channels').set({ drained_at: since }).where('id', '=', id).execute()
  await trx.deleteFrom('drain_sessions').where('channel_id', '=', id).execute()
}

/**
 * Records a session (calls that should stay on one channel) that began while the channel was drained. The drained
 * channel does not get such a session.
 */
export async function addDrainSession(trx: Trx, id: number, session: number, now: number): Promise<void> {
  await trx
    .insertInto('drain_sessions')
    .columns(['channel_id', 'session', 'created_at'])
    .expression((eb) =>
      // The channel may have been deleted in the meantime.
      eb
        .selectFrom('channels')
        .select(['id', eb.lit(session).as('session'), eb.lit(now).as('created_at')])
        .where('id', '=', id),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** True if the session began while the channel was drained. */
export async function hasDrainSession(db: Db, id: number, session: number): Promise<boolean> {
  const row = await db
    .selectFrom('drain_sessions')
    .select('session')
    .where('channel_id', '=', id)
    .where('session', '=', session)
    .executeTakeFirst()
  return row !== undefined
}
