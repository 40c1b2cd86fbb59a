import type { Db } from '../store.ts'
import type { ChannelRow } from './channels.ts'

/** The fields of a channel that an overview needs. */
export type WatchedChannel = Pick<
  ChannelRow,
  | 'id'
  | 'name'
  | 'type'
  | 'group'
  | 'status'
  | 'status_reason'
  | 'status_time'
  | 'balance'
  | 'balance_updated_time'
  | 'test_time'
  | 'response_time'
>

/** All channels, in order of their ids. */
export function watchedChannels(db: Db): Promise<WatchedChannel[]> {
  return db
    .selectFrom('channels')
    .select([
      'id',
      'name',
      'type',
      'group',
      'status',
      'status_reason',
      'status_time',
      'balance',
      'balance_updated_time',
      'test_time',
      'response_time',
    ])
    .orderBy('id')
    .execute()
}

/** A cool-down, which is a pause of a channel. */
export interface CoolDownEvent {
  channelId: number
  at: number
  reason: string
}

/** The latest cool-down of each channel since a time (epoch seconds). */
export async function coolDownsSince(db: Db, since: number): Promise<CoolDownEvent[]> {
  const rows = await db
    .selectFrom('audit_events')
    .select(['target', 'created_at', 'detail'])
    .where('created_at', '>=', since)
    .where('action', '=', 'channel.cool-down')
    .orderBy('id')
    .execute()
  const latest = new Map<number, CoolDownEvent>()
  for (const { target, created_at, detail } of rows) {
    const channelId = Number(target.split(' ')[1])
    latest.set(channelId, { channelId, at: created_at, reason: detail })
  }
  return [...latest.values()]
}
