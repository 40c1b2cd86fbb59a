import type { Selectable } from 'kysely'
import type { ChannelDeadKeysTable, ChannelsTable } from '../schema/tables.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

export type DeadKey = Selectable<ChannelDeadKeysTable>

/** The sealed key text of a channel and how to read it. */
export type SealedKeys = Pick<Selectable<ChannelsTable>, 'key' | 'key_mode' | 'key_count'>

/** The keys of a channel; its row is locked when a transaction asks. */
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
 * Sets a key aside. `added` is false when it was already, or is all that its channel has, which is what the status of the
 * channel is for; `left` says how many keys of the channel are in use. Undefined when the channel is gone, or the key is
 * none of its keys any more.
 */
export async function addDeadKey(
  trx: Trx,
  dead: DeadKey,
  isAmong: (keys: SealedKeys) => boolean,
): Promise<{ added: boolean; left: number; mode: SealedKeys['key_mode'] } | undefined> {
  // Locked first: of two nodes that set different keys aside, the second sees that none is left.
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

/** Uses keys again: those with the given hashes, or all of the channel. Returns how many. */
export async function forgetDeadKeys(trx: Trx, channelId: number, hashes?: readonly string[]): Promise<number> {
  const result = await trx
    .deleteFrom('channel_dead_keys')
    .where('channel_id', '=', channelId)
    .$if(hashes !== undefined, (query) => query.where('key_hash', 'in', [...(hashes ?? [])]))
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
