import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { ChannelsTable } from '../schema/channel-tables.ts'
import type { Db } from '../store.ts'
import { type VirtualModelRow, virtualModelRows } from './virtual-models.ts'

/** The columns on which routing depends. None of them changes with every call. */
export const routingColumns = [
  'id',
  'type',
  'key',
  'status',
  'name',
  'weight',
  'base_url',
  'other',
  'models',
  'group',
  'model_mapping',
  'priority',
  'config',
  'system_prompt',
  'key_mode',
  'capped',
  'draining',
  'drained_at',
  'test_model',
  'organization',
  'project',
  'headers',
  'parameters',
  'status_map',
  'proxy',
  'proxy_login',
  'costs',
] as const

export type ChannelRow = Pick<Selectable<ChannelsTable>, (typeof routingColumns)[number]>

interface ChannelRows {
  channels: ChannelRow[]
  deadKeys: { channel_id: number; key_hash: string }[]
  virtualModels: VirtualModelRow[]
}

/** All channels, the enabled abilities and the virtual models: the input of the routing table. */
export async function routingRows(db: Db): Promise<
  ChannelRows & {
    abilities: { group: string; model: string; channel_id: number; priority: number }[]
    /** The `routingMark` of these rows. */
    mark: string
  }
> {
  const rows = await channelRows(db)
  const abilities = await db
    .selectFrom('abilities')
    .select(['group', 'model', 'channel_id', 'priority'])
    .where('enabled', '=', true)
    .execute()
  return { ...rows, abilities, mark: markOf(rows) }
}

/** A text that changes whenever a channel or a virtual model changes. Abilities are derived from the channels and change with them. */
export async function routingMark(db: Db): Promise<string> {
  return markOf(await channelRows(db))
}

async function channelRows(db: Db): Promise<ChannelRows> {
  const channels = await db.selectFrom('channels').select(routingColumns).orderBy('id').execute()
  const deadKeys = await db
    .selectFrom('channel_dead_keys')
    .select(['channel_id', 'key_hash'])
    .orderBy('channel_id')
    .orderBy('key_hash')
    .execute()
  return { channels, deadKeys, virtualModels: await virtualModelRows(db) }
}

function markOf(rows: ChannelRows): string {
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex')
}
