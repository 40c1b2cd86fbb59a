import type { Selectable } from 'kysely'
import type { Db } from './store.ts'
import type { ChannelsTable } from './tables.ts'

export type ChannelRow = Selectable<ChannelsTable>

/** All channels and the abilities that are switched on: what the routing table is made of. */
export async function routingRows(db: Db): Promise<{
  channels: ChannelRow[]
  abilities: { group: string; model: string; channel_id: number; priority: number }[]
  deadKeys: { channel_id: number; key_hash: string }[]
}> {
  const channels = await db.selectFrom('channels').selectAll().execute()
  const abilities = await db
    .selectFrom('abilities')
    .select(['group', 'model', 'channel_id', 'priority'])
    .where('enabled', '=', true)
    .execute()
  const deadKeys = await db.selectFrom('channel_dead_keys').select(['channel_id', 'key_hash']).execute()
  return { channels, abilities, deadKeys }
}
