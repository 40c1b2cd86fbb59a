import { sealedFields } from '../../api/channel/stored-carries.ts'
import { rebuildAbilities } from '../../store/channels/channels.ts'
import { bookChange } from '../../store/imports/books.ts'
import { type BulkColumns, bulkInsert } from '../../store/imports/bulk-insert.ts'
import { recordFigures, recordRows } from '../../store/imports/journal.ts'
import { reserveIds, takenIds } from '../../store/imports/target.ts'
import { carryColumns } from '../../store/schema/carry-columns.ts'
import type { Trx } from '../../store/store.ts'
import { counted, isDeleted } from '../fields.ts'
import { type ChannelDraft, readChannel } from '../rows/channel-row.ts'
import { pages } from '../sources/source-database.ts'
import { assignIds, type IdMap, type Work } from './work.ts'

const columns: BulkColumns = [
  ['id', 'integer'],
  ['type', 'integer'],
  ['key', 'text'],
  ['status', 'integer'],
  ['name', 'text'],
  ['weight', 'integer'],
  ['created_time', 'integer'],
  ['test_time', 'integer'],
  ['response_time', 'integer'],
  ['base_url', 'text'],
  ['other', 'text'],
  ['balance', 'real'],
  ['balance_updated_time', 'integer'],
  ['models', 'text'],
  ['group', 'text'],
  ['used_quota', 'integer'],
  ['model_mapping', 'text'],
  ['priority', 'integer'],
  ['config', 'text'],
  ['system_prompt', 'text'],
  ['unlogged_quota', 'integer'],
  ['key_mode', 'text'],
  ['key_count', 'integer'],
  ...carryColumns.map((name) => [name, 'text'] as const),
]

/** The channels of a source, with their ids in this installation. */
export interface CopiedChannels {
  ids: IdMap
  drafts: ChannelDraft[]
  added: number
}

/**
 * Copies the channels that earlier runs did not copy. All channels are kept in memory, because there are only a few.
 */
export async function copyChannels(work: Work): Promise<CopiedChannels> {
  const { source, trx, journal, corrections } = work
  const known = await journal('channel')
  const drafts: ChannelDraft[] = []
  for await (const rows of pages(source, 'channels'))
    for (const row of rows) {
      const draft = readChannel(row, work.program, work.findings)
      if (isDeleted(row) || !draft) continue
      corrections.channelUsed += draft.used - counted(row, 'used_quota')
      drafts.push(draft)
    }
  const fresh = drafts.filter(({ id }) => !known.has(String(id)))
  const most = fresh.reduce((high, { id }) => Math.max(high, id), 0)
  if (trx && work.keepsIds) await reserveIds(trx, 'channels', most)
  const ids = await assignIds(
    work,
    'channels',
    fresh.map(({ id }) => id),
    await takenIds(work.db, 'channels'),
  )
  for (const [id, row] of known) ids.set(Number(id), row.target_id)
  if (trx) {
    await write(work, trx, fresh, ids)
    for (const draft of drafts) {
      const before = known.get(String(draft.id))
      if (!before || before.used === draft.used) continue
      await bookChange(trx, 'channels', before.target_id, { quota: 0, used: draft.used - before.used, requests: 0 })
      await recordFigures(trx, { ...before, used: draft.used })
    }
  }
  return { ids, drafts, added: fresh.length }
}

async function write(work: Work, trx: Trx, fresh: readonly ChannelDraft[], ids: IdMap): Promise<void> {
  const { secrets, now } = work
  await bulkInsert(
    trx,
    'channels',
    columns,
    fresh.map((draft) => valuesOf(work, draft, ids.get(draft.id) ?? 0)),
  )
  const dead: { channel_id: number; key_hash: string; reason: string; since: number }[] = []
  for (const draft of fresh) {
    const id = ids.get(draft.id) ?? 0
    await rebuildAbilities(trx, id)
    for (const { index, reason } of draft.dead) {
      const key = draft.keys[index]
      if (key !== undefined)
        dead.push({ channel_id: id, key_hash: secrets.fingerprint(key, 'channel-key'), reason, since: now })
    }
  }
  if (dead.length > 0)
    await trx
      .insertInto('channel_dead_keys')
      .values(dead)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  await recordRows(
    trx,
    fresh.map((draft) => ({
      import_id: work.importId,
      kind: 'channel',
      source_id: String(draft.id),
      target_id: ids.get(draft.id) ?? 0,
      mark: `${draft.createdTime} ${draft.fields.name ?? ''}`,
      quota: 0,
      used: draft.used,
      requests: 0,
    })),
  )
}

function valuesOf({ secrets }: Work, draft: ChannelDraft, id: number): unknown[] {
  const { fields } = draft
  const sealed = sealedFields(
    Object.fromEntries(carryColumns.map((name) => [name, fields[name] ?? ''])),
    undefined,
    secrets,
  )
  return [
    id,
    draft.type,
    secrets.seal(draft.keys.join('\n'), 'channel'),
    draft.status,
    fields.name ?? '',
    fields.weight ?? 0,
    draft.createdTime,
    draft.testTime,
    draft.responseTime,
    fields.base_url ?? '',
    fields.other ?? '',
    draft.balance,
    draft.balanceTime,
    fields.models ?? '',
    fields.group ?? 'default',
    draft.used,
    fields.model_mapping ?? '{}',
    fields.priority ?? 0,
    fields.config ?? '',
    fields.system_prompt ?? '',
    draft.used,
    fields.key_mode ?? 'single',
    fields.key_count ?? 1,
    ...carryColumns.map((name) => sealed[name] ?? ''),
  ]
}
