import { maxUsagePoints, type UsageDimension, type UsageRow } from '../../../contract/api/usage-table.ts'
import type { Db } from '../../store/store.ts'
import type { TableRow } from '../../store/usage/usage-table.ts'
import type { TablePlan } from './table-query.ts'
import { planBuckets } from './usage-buckets.ts'
import { usageInParts } from './usage-in-parts.ts'

/** A row in the form of the API. `values` is the row's quota over time. */
export function rowView({ by, ask, withCosts }: TablePlan, row: TableRow, values: number[] = []): UsageRow {
  const [first, second] = by
  return {
    key: keyText(first, row.g),
    name: nameText(first, row.g, row.name),
    owner: row.owner,
    second_key: keyText(second, row.h),
    second_name: nameText(second, row.h, row.name_h),
    second_owner: row.owner_h,
    quota: row.quota,
    share: row.whole > 0 ? row.quota / row.whole : 0,
    requests: row.requests,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    cached_tokens: row.cached_tokens,
    failed: row.failed + row.refused,
    calls: row.requests + row.refused,
    previous_quota: ask.before ? row.before : null,
    ...(withCosts && hasCost(row) && { cost: row.cost, margin: row.margin }),
    values,
  }
}

/** True if a call of the row has a known cost. */
export function hasCost({ cost, margin }: Pick<TableRow, 'cost' | 'margin'>): boolean {
  return cost !== 0 || margin !== 0
}

/** A day, counted from 1970, as YYYY-MM-DD. */
const dayText = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)

function keyText(dimension: UsageDimension | undefined, key: string | number): string {
  if (dimension === undefined) return ''
  return dimension === 'day' ? dayText(Number(key)) : String(key)
}

function nameText(dimension: UsageDimension | undefined, key: string | number, name: string): string {
  return dimension === 'day' ? dayText(Number(key)) : name
}

/** Ranges shorter than this are divided into hours, longer ranges into days. */
const hourlySeconds = 8 * 86_400

/**
 * Returns the quota over time of each row of a page, by the row's key. Curves cover whole hours. Empty for tables with
 * two dimensions and for tables by day.
 */
export async function curvesOf(db: Db, plan: TablePlan, rows: readonly TableRow[]): Promise<Map<unknown, number[]>> {
  const [group, second] = plan.ask.by
  if (rows.length === 0 || group === undefined || group === 'day' || second !== undefined) return new Map()
  const { start, end } = plan.range
  const hours = { from: Math.floor(start / 3600), to: Math.floor(end / 3600) + 1 }
  const buckets = planBuckets(hours, end - start < hourlySeconds ? 'hour' : 'day', plan.zone)
  const only = rows.map(({ g }) => g)
  const { filter } = plan.ask
  const found = await usageInParts(db, { filter, group, only, metric: 'quota' }, buckets.parts)
  const step = Math.ceil(buckets.starts.length / maxUsagePoints)
  const curves = new Map<unknown, number[]>(
    only.map((key) => [key, Array.from({ length: Math.ceil(buckets.starts.length / step) }, () => 0)]),
  )
  for (const { g, bucket, over } of found) {
    const curve = curves.get(g)
    const index = Math.floor(buckets.indexOf(bucket) / step)
    if (curve?.[index] !== undefined) curve[index] += over
  }
  return curves
}
