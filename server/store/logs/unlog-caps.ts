import { type Selectable, sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { CapMetric } from '../schema/cap-tables.ts'
import type { LogsTable } from '../schema/tables.ts'
import type { Trx } from '../store.ts'

type Row = Pick<
  Selectable<LogsTable>,
  'id' | 'quota' | 'cost' | 'channel_id' | 'model_name' | 'prompt_tokens' | 'completion_tokens'
>

/**
 * Adds the figures of log rows that are about to be deleted to the `unlogged` sums of the caps that counted them. The
 * counts of the caps can then still be verified.
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

/**
 * Calculates the sums of `unlogCaps` for all calls in a partition of the log. It returns the sums and does not change
 * the caps, because reading the partition takes long and the caps must not be locked in the meantime.
 */
export async function capSumsOf(trx: Trx, partition: string): Promise<CapSum[]> {
  const { rows } = await sql<SummedRow & { id: number; metric: CapMetric; pattern: string | null; model: string }>`
    select c.id, c.metric, c.pattern, l.model_name as model, count(*) as calls, sum(l.quota) as quota,
      sum(coalesce(l.cost, l.quota)) as cost, sum(l.prompt_tokens + l.completion_tokens) as tokens
    from caps c join ${sql.table(partition)} l on l.channel_id = c.owner_id and l.id > c.first_log
    where c.owner in ('channel', 'key') and c.metric <> 'calls' and l.type = ${sql.lit(logType.consume)}
    group by c.id, c.metric, c.pattern, l.model_name`.execute(trx)
  const sums = new Map<number, number>()
  for (const { id, metric, pattern, model, ...sum } of rows) {
    if (pattern !== null && !new RegExp(pattern).test(model)) continue
    const amounts = { requests: sum.calls, tokens: sum.tokens, cost: sum.cost, quota: sum.quota }
    sums.set(id, (sums.get(id) ?? 0) + Number(amounts[metric as keyof typeof amounts] ?? 0))
  }
  return [...sums].map(([id, sum]) => ({ id, sum })).sort((a, b) => a.id - b.id)
}

/** The sum to add to the `unlogged` sum of a cap. */
export interface CapSum {
  id: number
  sum: number
}

interface SummedRow {
  calls: number
  quota: number
  cost: number
  tokens: number
}

export async function addCapSums(trx: Trx, sums: readonly CapSum[]): Promise<void> {
  for (const { id, sum } of sums)
    await trx
      .updateTable('caps')
      .set((eb) => ({ unlogged: eb('unlogged', '+', sum) }))
      .where('id', '=', id)
      .execute()
}

function amountOf(metric: CapMetric, row: Row): number {
  if (metric === 'requests') return 1
  if (metric === 'tokens') return row.prompt_tokens + row.completion_tokens
  return metric === 'cost' ? (row.cost ?? row.quota) : row.quota
}
