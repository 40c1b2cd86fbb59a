import { logType } from '../../contract/log-types.ts'
import { channelStatus } from '../../contract/statuses.ts'
import { noCall } from './logs.ts'
import type { Db, Trx } from './store.ts'

/** Moves a channel from one status to another, with its abilities; false when it was not in the first any more. */
export async function moveChannelStatus(trx: Trx, id: number, from: number, to: number): Promise<boolean> {
  const result = await trx
    .updateTable('channels')
    .set({ status: to })
    .where('id', '=', id)
    .where('status', '=', from)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) return false
  await trx
    .updateTable('abilities')
    .set({ enabled: to === channelStatus.enabled })
    .where('channel_id', '=', id)
    .execute()
  return true
}

/** Channels to test: the enabled and the automatically disabled ones, or the latter alone. */
export function channelsToTest(db: Db, scope: 'all' | 'disabled'): Promise<{ id: number; status: number }[]> {
  const statuses = scope === 'all' ? [channelStatus.enabled, channelStatus.autoDisabled] : [channelStatus.autoDisabled]
  return db.selectFrom('channels').select(['id', 'status']).where('status', 'in', statuses).orderBy('id').execute()
}

/** The log row of one channel test. Times: epoch seconds, milliseconds. */
export async function addTestLog(
  trx: Trx,
  test: { at: number; channelId: number; model: string; elapsedMs: number; content: string },
): Promise<void> {
  await trx
    .insertInto('logs')
    .values({
      ...noCall,
      user_id: 0,
      username: '',
      created_at: test.at,
      type: logType.test,
      content: test.content,
      model_name: test.model,
      channel_id: test.channelId,
      elapsed_time: test.elapsedMs,
    })
    .execute()
}
