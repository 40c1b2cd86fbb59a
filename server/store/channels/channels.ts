import { type ExpressionBuilder, type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { channelStatus } from '../../../contract/statuses.ts'
import { splitList } from '../../lib/split-list.ts'
import { carryColumns } from '../schema/carry-columns.ts'
import type { ChannelsTable } from '../schema/channel-tables.ts'
import type { Tables } from '../schema/tables.ts'
import { idOf, isAmong, needsRowLocks, startsWith } from '../statements/conditions.ts'
import { type Listed, listPage, type Page } from '../statements/page.ts'
import type { Db, Trx } from '../store.ts'

const columns = [
  'id',
  'type',
  'status',
  'name',
  'weight',
  'created_time',
  'test_time',
  'response_time',
  'base_url',
  'other',
  'balance',
  'balance_updated_time',
  'models',
  'group',
  'used_quota',
  'model_mapping',
  'priority',
  'config',
  'system_prompt',
  'key_mode',
  'key_count',
  ...carryColumns,
  'costs',
  'status_reason',
  'status_time',
  'draining',
] as const

/** A channel without its key, which the management API never reads. */
export type ChannelRow = Pick<Selectable<ChannelsTable>, (typeof columns)[number]>

/**
 * A channel as shown in lists. `keys_dead` is the number of paused keys, and `test_error` is the error of the last test
 * ('' = none).
 */
export type ListedChannel = ChannelRow & { keys_dead: number; test_error: string }

function deadKeyCount(eb: ExpressionBuilder<Tables, 'channels'>) {
  return eb
    .selectFrom('channel_dead_keys')
    .select((dead) => dead.fn.countAll<number>().as('count'))
    .whereRef('channel_dead_keys.channel_id', '=', 'channels.id')
    .as('keys_dead')
}

function lastTestError(eb: ExpressionBuilder<Tables, 'channels'>) {
  return eb
    .selectFrom('channel_tests')
    .select(sql<string>`case when ok then '' else message end`.as('error'))
    .whereRef('channel_tests.channel_id', '=', 'channels.id')
    .orderBy('channel_tests.id', 'desc')
    .limit(1)
    .as('test_error')
}

type CountedRow = ChannelRow & { keys_dead: number | null; test_error: string | null }

function counted(row: CountedRow): ListedChannel {
  return { ...row, keys_dead: Number(row.keys_dead ?? 0), test_error: row.test_error ?? '' }
}

/** Filters the listed channels; 0 and '' mean any. */
export interface ChannelFilter {
  keyword?: string
  /** Ids of channels whose key matches the keyword. */
  withKey?: readonly number[]
  type: number
  status: number
  group: string
  tag?: string
}

export async function listChannels(
  db: Db,
  page: Page<keyof ChannelRow>,
  { keyword = '', withKey = [], type, status, group, tag = '' }: ChannelFilter,
): Promise<Listed<ListedChannel>> {
  const matching = db
    .selectFrom('channels')
    .$if(keyword !== '', (query) =>
      query.where((eb) =>
        eb.or([
          eb('id', '=', idOf(keyword)),
          startsWith(eb.ref('name'), keyword),
          ...(withKey.length > 0 ? [eb('id', 'in', [...withKey])] : []),
        ]),
      ),
    )
    .$if(type !== 0, (query) => query.where('type', '=', type))
    .$if(status !== 0, (query) => query.where('status', '=', status))
    .$if(group !== '', (query) => query.where((eb) => isAmong(eb.ref('group'), group)))
    .$if(tag !== '', (query) => query.where((eb) => isAmong(eb.ref('tags'), tag)))
  const { rows, total } = await listPage(
    db,
    matching,
    (query) => query.select(columns).select([deadKeyCount, lastTestError]),
    page,
  )
  return { rows: rows.map(counted), total }
}

/** The encrypted keys of all channels. */
export function sealedChannelKeys(db: Db): Promise<{ id: number; key: string }[]> {
  return db.selectFrom('channels').select(['id', 'key']).orderBy('id').execute()
}

export async function channelById(db: Db, id: number): Promise<ListedChannel | undefined> {
  const row = await db
    .selectFrom('channels')
    .select(columns)
    .select([deadKeyCount, lastTestError])
    .where('id', '=', id)
    .executeTakeFirst()
  return row && counted(row)
}

/** All channels in the order of their ids. */
export function allChannels(db: Db): Promise<ChannelRow[]> {
  return db.selectFrom('channels').select(columns).orderBy('id').execute()
}

/** Reads a channel in order to change it. Nobody else can change the row until the transaction ends. */
export function lockChannel(trx: Trx, id: number): Promise<ChannelRow | undefined> {
  return trx
    .selectFrom('channels')
    .select(columns)
    .where('id', '=', id)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
}

/** The fields of a channel that an admin may write; `key` is encrypted. */
export type ChannelFields = Pick<
  Updateable<ChannelsTable>,
  | 'type'
  | 'key'
  | 'status'
  | 'name'
  | 'weight'
  | 'base_url'
  | 'other'
  | 'models'
  | 'group'
  | 'model_mapping'
  | 'priority'
  | 'config'
  | 'system_prompt'
  | 'key_mode'
  | 'key_count'
  | 'draining'
  | 'tags'
  | 'remark'
  | 'test_model'
  | 'organization'
  | 'project'
  | 'headers'
  | 'parameters'
  | 'status_map'
  | 'proxy'
  | 'proxy_login'
  | 'costs'
>

export type NewChannel = Pick<Insertable<ChannelsTable>, 'type' | 'key' | 'created_time'> & ChannelFields

/** Creates a channel with its abilities and returns its id. */
export async function addChannel(trx: Trx, channel: NewChannel): Promise<number> {
  const row = await trx
    .insertInto('channels')
    .values({
      status: channelStatus.enabled,
      name: '',
      weight: 0,
      base_url: '',
      other: '',
      models: '',
      group: 'default',
      model_mapping: '',
      priority: 0,
      config: '',
      system_prompt: '',
      key_mode: 'single',
      key_count: 1,
      ...channel,
      test_time: 0,
      response_time: 0,
      balance: 0,
      balance_updated_time: 0,
      used_quota: 0,
      unlogged_quota: 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await rebuildAbilities(trx, row.id)
  return row.id
}

/** Writes the given fields and updates the abilities accordingly. */
export async function updateChannel(trx: Trx, id: number, fields: ChannelFields): Promise<void> {
  if (Object.keys(fields).length === 0) return
  await trx.updateTable('channels').set(fields).where('id', '=', id).execute()
  await rebuildAbilities(trx, id)
}

/** Enables or disables a channel and its abilities. */
export async function setChannelStatus(trx: Trx, id: number, status: number): Promise<void> {
  await trx.updateTable('channels').set({ status }).where('id', '=', id).execute()
  const enabled = status === channelStatus.enabled
  await trx.updateTable('abilities').set({ enabled }).where('channel_id', '=', id).execute()
}

/** Records how long the channel took in a test and when the test was run. False if the channel is gone. */
export async function recordChannelTest(
  trx: Trx,
  id: number,
  responseTimeMs: number,
  atSeconds: number,
): Promise<boolean> {
  const result = await trx
    .updateTable('channels')
    .set({ response_time: responseTimeMs, test_time: atSeconds })
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Records the balance that the upstream reported, and the time of the report. */
export async function recordBalance(trx: Trx, id: number, balance: number, atSeconds: number): Promise<void> {
  await trx.updateTable('channels').set({ balance, balance_updated_time: atSeconds }).where('id', '=', id).execute()
}

/** Deletes a channel and its abilities and returns its name; undefined if there is no such channel. */
export function deleteChannel(trx: Trx, id: number): Promise<{ name: string } | undefined> {
  return trx.deleteFrom('channels').where('id', '=', id).returning('name').executeTakeFirst()
}

const rowsPerStep = 500

/** Deletes every channel that is not enabled and returns the ids. */
export async function deleteDisabledChannels(trx: Trx): Promise<number[]> {
  // The rows are first locked in id order, which is the order in which all code locks channels. A plain DELETE would
  // lock them in physical order.
  const rows = await trx
    .selectFrom('channels')
    .select('id')
    .where('status', 'in', [channelStatus.disabled, channelStatus.autoDisabled])
    .orderBy('id')
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .execute()
  const ids = rows.map((row) => row.id)
  for (let start = 0; start < ids.length; start += rowsPerStep) {
    await trx
      .deleteFrom('channels')
      .where('id', 'in', ids.slice(start, start + rowsPerStep))
      .execute()
  }
  return ids
}

/** Rebuilds the abilities of a channel from its row: every combination of its groups and models. */
export async function rebuildAbilities(trx: Trx, id: number): Promise<void> {
  await trx.deleteFrom('abilities').where('channel_id', '=', id).execute()
  const channel = await trx
    .selectFrom('channels')
    .select(['models', 'group', 'status', 'priority'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!channel) return
  const enabled = channel.status === channelStatus.enabled
  const rows = splitList(channel.group).flatMap((group) =>
    splitList(channel.models).map((model) => ({ group, model, channel_id: id, enabled, priority: channel.priority })),
  )
  for (let start = 0; start < rows.length; start += rowsPerStep) {
    await trx
      .insertInto('abilities')
      .values(rows.slice(start, start + rowsPerStep))
      .execute()
  }
}

/** The models that at least one enabled channel serves to the group, sorted. */
export async function modelsOfGroup(db: Db, group: string): Promise<string[]> {
  const rows = await db
    .selectFrom('abilities')
    .select('model')
    .distinct()
    .where('group', '=', group)
    .where('enabled', '=', sql<boolean>`true`)
    .orderBy('model')
    .execute()
  return rows.map((row) => row.model)
}

/** The tags of all channels, sorted. */
export async function channelTags(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('channels').select('tags').distinct().where('tags', '<>', '').execute()
  return [...new Set(rows.flatMap(({ tags }) => splitList(tags)))].sort()
}
