import { sql } from 'kysely'
import { carryColumns } from '../schema/carry-columns.ts'
import type { Trx } from '../store.ts'
import { rebuildAbilities } from './channels.ts'

const copied = [
  'type',
  'key',
  'key_mode',
  'key_count',
  'capped',
  'status',
  'weight',
  'base_url',
  'other',
  'models',
  'group',
  'model_mapping',
  'priority',
  'config',
  'system_prompt',
  ...carryColumns,
  'costs',
  'price_feed',
] as const

/**
 * Creates a copy of a channel with its limits and the health of its keys, but without its statistics. The encrypted key
 * stays in the database. Returns the new id, or undefined if there is no such channel.
 */
export async function copyChannel(
  trx: Trx,
  id: number,
  copy: { name: string; now: number },
): Promise<number | undefined> {
  const row = await trx
    .insertInto('channels')
    .columns([...copied, 'name', 'created_time', ...zeros])
    .expression((eb) =>
      eb
        .selectFrom('channels')
        .select([...copied, eb.val(copy.name).as('name'), eb.lit(copy.now).as('created_time')])
        .select(zeros.map((name) => eb.lit(0).as(name)))
        .where('id', '=', id),
    )
    .returning('id')
    .executeTakeFirst()
  if (!row) return undefined
  await sql`insert into channel_dead_keys (channel_id, key_hash, reason, since)
    select ${sql.lit(row.id)}, key_hash, reason, since from channel_dead_keys where channel_id = ${id}`.execute(trx)
  await sql`insert into caps (owner, owner_id, metric, period, models, pattern, zone, most, raise_by, raise_until, first_log)
    select owner, ${sql.lit(row.id)}, metric, period, models, pattern, zone, most, raise_by, raise_until,
    coalesce((select max(id) from logs), 0) from caps where owner in ('channel', 'key') and owner_id = ${id}`.execute(
    trx,
  )
  await rebuildAbilities(trx, row.id)
  return row.id
}

const zeros = ['test_time', 'response_time', 'balance', 'balance_updated_time', 'used_quota', 'unlogged_quota'] as const
