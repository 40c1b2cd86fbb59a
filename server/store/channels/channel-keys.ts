import type { Selectable } from 'kysely'
import type { ChannelDeadKeysTable, ChannelsTable } from '../schema/channel-tables.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

export type DeadKey = Selectable<ChannelDeadKeysTable>

/** The encrypted key text of a channel, and the values needed to read it. */
export type SealedKeys = Pick<Selectable<ChannelsTable>, 'key' | 'key_mode' | 'key_count'>

/** The keys of a channel. If this is called in a transaction, the channel's row is locked. */
export function sealedKeys(db: Db, id: number): Promise<SealedKeys | undefined> {
  return db
    .selectFrom('channels')
    .select(['key', 'key_mode', 'key_count'])
    .where('id', '=', id)
    .$if(db.isTransaction && needsRowLocks(db), (query) => query.forUpdate())
    .executeTakeFirst()
}

export function deadKeysOf(db: Db, channelId: number): Promise<DeadKey[]> {
  return db.selectFrom('channel_dead_keys').selectAll().where('channel_id', '=', channelId).execute()
}

/**
 * Pauses a key. `added` is false if the key was already paused. It is also false if the channel is in single-key mode,
 * where the channel's status is used instead. `left` is the number of the channel's keys that are still in use.
 * Undefined if the channel is gone or no longer has that key.
 */
export async function addDeadKey(
  trx: Trx,
  dead: DeadKey,
  isAmong: (keys: SealedKeys) => boolean,
): Promise<{ added: boolean; left: number; mode: SealedKeys['key_mode'] } | undefined> {
  // The channel is locked first. If two nodes pause the last two keys at the same time, the second node then finds that
  // no key is left.
  const channel = await sealedKeys(trx, dead.channel_id)
  if (!channel || !isAmong(channel)) return undefined
  if (channel.key_mode === 'single') return { added: false, left: 0, mode: 'single' }
  const result = await trx
    .insertInto('channel_dead_keys')
    .values(dead)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  const known = await deadKeysOf(trx, dead.channel_id)
  return {
    added: (result.numInsertedOrUpdatedRows ?? 0n) > 0n,
    left: Math.max(0, channel.key_count - known.length),
    mode: 'multi',
  }
}

/** Puts paused keys back into use: the keys with the given hashes, or all keys of the channel. Returns their number. */
export async function forgetDeadKeys(trx: Trx, channelId: number, hashes?: readonly string[]): Promise<number> {
  const result = await trx
    .deleteFrom('channel_dead_keys')
    .where('channel_id', '=', channelId)
    .$if(hashes !== undefined, (query) => query.where('key_hash', 'in', [...(hashes ?? [])]))
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
