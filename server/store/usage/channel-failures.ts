import { type RawBuilder, sql } from 'kysely'
import type { ChannelFailuresTable } from '../schema/tables.ts'
import type { Db, Trx } from '../store.ts'
import {
  type Dimension,
  filteredColumns,
  type Grouping,
  type HourRange,
  matches,
  type RowFilter,
} from './usage-series.ts'

/** Failed attempts at one channel for one model in one hour. */
export type FailuresOfHour = ChannelFailuresTable

/** Adds the counts to the failures of their hours. Counts of channels that no longer exist are ignored. */
export async function addChannelFailures(trx: Trx, counts: readonly FailuresOfHour[]): Promise<void> {
  // All nodes use the same order, so that two nodes cannot deadlock.
  const ordered = [...counts].sort(
    (a, b) => a.slot - b.slot || a.channel_id - b.channel_id || (a.model_name < b.model_name ? -1 : 1),
  )
  for (const { channel_id, model_name, slot, attempts } of ordered) {
    await sql`
      insert into channel_failures (channel_id, model_name, slot, attempts)
      select id, ${model_name}, ${slot}, ${attempts} from channels where id = ${channel_id}
      on conflict (channel_id, model_name, slot) do update set
        attempts = channel_failures.attempts + excluded.attempts`.execute(trx)
  }
}

/**
 * The FROM and WHERE clauses for the hourly failures `f` that a query about channels includes. Undefined for other
 * queries. Also undefined if the query filters or groups by user, token or project, because failures are not recorded by
 * these.
 */
export function failuresFor(
  { type: _type, ...filter }: RowFilter,
  group: Grouping | undefined,
  { from, to }: HourRange,
): RawBuilder<unknown> | undefined {
  const columns = filteredColumns(filter)
  const isOfChannels = columns.includes('channel_id') || group === 'channel_id'
  const isOfOthers = [...columns, ...(group === undefined ? [] : [group])].some((column) => !(column in ownColumns))
  if (!isOfChannels || isOfOthers) return undefined
  return sql`channel_failures f where f.slot >= ${from} and f.slot < ${to}
    and ${matches('f', filter)}`
}

/** The dimensions by which hourly failures are recorded. */
export const ownColumns: Partial<Record<Dimension, true>> = { channel_id: true, model_name: true }

/** The failed attempts for a query about channels, for each group and in total. */
export interface FailedAttempts {
  total: number
  of(group: string | number): number
}

/** The failed attempts to include in the figure `failed` of a query about channels; none for other queries. */
export async function failedAttempts(
  db: Db,
  ask: { filter: RowFilter; group: Grouping | undefined; range: HourRange },
): Promise<FailedAttempts> {
  const failures = failuresFor(ask.filter, ask.group, ask.range)
  if (!failures) return { total: 0, of: () => 0 }
  const group = ask.group === undefined ? sql`0` : sql.ref(`f.${ask.group}`)
  const { rows } = await sql<{ g: string | number; attempts: number }>`
    select ${group} as g, cast(sum(f.attempts) as bigint) as attempts from ${failures} group by 1`.execute(db)
  const byGroup = new Map(rows.map((row) => [row.g, row.attempts]))
  return {
    total: rows.reduce((sum, row) => sum + row.attempts, 0),
    of: (key) => byGroup.get(key) ?? 0,
  }
}
