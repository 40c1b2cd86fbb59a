import type { Selectable } from 'kysely'
import type { CapMetric } from '../schema/cap-tables.ts'
import type { LogsTable } from '../schema/tables.ts'
import type { Trx } from '../store.ts'

type Row = Pick<
  Selectable<LogsTable>,
  'id' | 'quota' | 'cost' | 'channel_id' | 'model_name' | 'prompt_tokens' | 'completion_tokens'
>

/**
 * Adds log rows that are about to be deleted to `unlogged` of the caps that counted them, so that what the caps counted
 * can still be verified.
 */
export async function unlogCaps(trx: Trx, rows: readonly Row[]): Promise<void> {
  const channels = [...new Set(rows.map((row) => row.channel_id))]
  if (channels.length === 0) return
  const caps = await trx
    .selectFrom('caps')
    .select(['id', 'owner_id', 'metric', 'pattern', 'first_log'])
    .where('owner_id', 'in', channels)
    .where('owner', 'in', ['channel', 'key'])
    .where('metric', '<>', 'calls')
    .orderBy('id')
    .execute()
  for (const { id, owner_id, metric, pattern, first_log } of caps) {
    const models = pattern === null ? undefined : new RegExp(pattern)
    const counted = rows.filter(
      (row) => row.channel_id === owner_id && row.id > first_log && models?.test(row.model_name) !== false,
    )
    const sum = counted.reduce((total, row) => total + amountOf(metric, row), 0)
    if (sum === 0) continue
    await trx
      .updateTable('caps')
      .set((eb) => ({ unlogged: eb('unlogged', '+', sum) }))
      .where('id', '=', id)
      .execute()
  }
}

function amountOf(metric: CapMetric, row: Row): number {
  if (metric === 'requests') return 1
  if (metric === 'tokens') return row.prompt_tokens + row.completion_tokens
  return metric === 'cost' ? (row.cost ?? row.quota) : row.quota
}
