import { maxReason } from '../../../contract/api/channel-operations.ts'
import type { AuditAction } from '../../../contract/audit-actions.ts'
import { logType } from '../../../contract/log-types.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { recordAudit } from '../installation/audit.ts'
import { emptyLogRow } from '../logs/logs.ts'
import type { Db, Trx } from '../store.ts'

/**
 * Moves a channel and its abilities from one status to another; false if the channel no longer had the first status.
 */
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

/** An automatic change of a channel by the gateway. */
export interface ChannelEvent {
  /** Epoch seconds. */
  at: number
  channelId: number
  action: AuditAction
  /** The text for the log. It names the channel and what was done. */
  content: string
  /** The reason; '' if there is no reason to show. */
  reason: string
}

/** Writes a log row, an audit event and the reason shown for the channel, in the transaction of the change. */
export async function addChannelEvent(
  trx: Trx,
  { at, channelId, action, content, reason }: ChannelEvent,
): Promise<void> {
  const detail = cleaned(reason.slice(0, maxReason))
  const result = await trx
    .updateTable('channels')
    .set({ status_reason: detail === '' ? content : detail, status_time: at })
    .where('id', '=', channelId)
    .executeTakeFirst()
  // If the channel was deleted in the meantime, nothing is recorded.
  if (result.numUpdatedRows === 0n) return
  await trx
    .insertInto('logs')
    .values({
      ...emptyLogRow,
      user_id: 0,
      username: '',
      created_at: at,
      type: logType.system,
      content: detail === '' ? content : `${content}: ${detail}`,
      channel_id: channelId,
    })
    .execute()
  await recordAudit(trx, {
    created_at: at,
    actor_id: 0,
    actor_name: '',
    action,
    target: `channel ${channelId}`,
    detail,
    ip: '',
  })
}

/** An upstream's message in a form that PostgreSQL can store. */
function cleaned(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

/** Channels to test: the enabled and the automatically disabled channels, or only the latter. */
export function channelsToTest(db: Db, scope: 'all' | 'disabled'): Promise<{ id: number; status: number }[]> {
  const statuses = scope === 'all' ? [channelStatus.enabled, channelStatus.autoDisabled] : [channelStatus.autoDisabled]
  return db.selectFrom('channels').select(['id', 'status']).where('status', 'in', statuses).orderBy('id').execute()
}

/** Adds the log row of one channel test. `at` is in epoch seconds, `elapsedMs` in milliseconds. */
export async function addTestLog(
  trx: Trx,
  test: { at: number; channelId: number; model: string; elapsedMs: number; content: string },
): Promise<void> {
  await trx
    .insertInto('logs')
    .values({
      ...emptyLogRow,
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
