import { setImmediate } from 'node:timers/promises'
import type { UsageDimension, UsageRow } from '../../../contract/api/usage-table.ts'
import { byteOrderMark, csvLine } from '../../lib/csv.ts'
import { dayOf, startOfDay, type TimeZone } from '../../lib/time-zone.ts'
import type { TableRow } from '../../store/usage/usage-table.ts'
import type { TablePlan } from './table-query.ts'
import { hasCost, rowView } from './table-rows.ts'

const rowsPerStep = 500
const usdDecimals = 6

/** The contents of the CSV file. */
interface Contents {
  plan: TablePlan
  rows: readonly TableRow[]
  quotaPerUnit: number
}

/** The lines of the CSV file: the column names, one line per row, and the totals. */
export async function* usageCsv({ plan, rows, quotaPerUnit }: Contents): AsyncGenerator<string> {
  const { by, range, zone } = plan
  const withCosts = plan.withCosts && rows.some(hasCost)
  const dollars = (quota: number) => ({ value: quota / quotaPerUnit, decimals: usdDecimals })
  // Each line contains its time range, so that files can be combined.
  const period = [momentText(range.start, zone), momentText(range.end + 1, zone), zone.name]
  const costs = ({ cost = 0, margin = 0 }: Pick<UsageRow, 'cost' | 'margin'>) =>
    withCosts ? [dollars(cost), dollars(margin)] : []
  const line = (names: string[], row: Pick<UsageRow, Figure | 'cost' | 'margin'>) =>
    csvLine([...names, dollars(row.quota), ...figures.map((name) => row[name]), ...costs(row), ...period])
  const costHeadings = withCosts ? ['cost_usd', 'margin_usd'] : []
  yield byteOrderMark +
    csvLine([...by.flatMap(headings), 'usd', ...figures, ...costHeadings, 'from', 'until', 'time_zone'])
  const total = {
    cost: 0,
    margin: 0,
    quota: 0,
    calls: 0,
    failed: 0,
    prompt_tokens: 0,
    cached_tokens: 0,
    completion_tokens: 0,
  }
  for (let at = 0; at < rows.length; at += rowsPerStep) {
    const views = rows.slice(at, at + rowsPerStep).map((row) => rowView(plan, row))
    for (const view of views) {
      for (const name of figures) total[name] += view[name]
      total.cost += view.cost ?? 0
      total.margin += view.margin ?? 0
    }
    yield views
      .map((view) =>
        line(
          by.flatMap((each, index) => cells(each, view, index)),
          view,
        ),
      )
      .join('')
    // Gives relayed requests a turn on the event loop.
    await setImmediate()
  }
  yield line(
    by.flatMap((each, index) => headings(each).map((_, place) => (index + place === 0 ? 'Total' : ''))),
    total,
  )
}

const figures = ['quota', 'calls', 'failed', 'prompt_tokens', 'cached_tokens', 'completion_tokens'] as const

type Figure = (typeof figures)[number]

/** Whether the key of a row is its name, so that one column is enough. */
const isName = (by: UsageDimension) => by === 'day' || by === 'model' || by === 'project'

function headings(by: UsageDimension): string[] {
  if (isName(by)) return [by]
  return by === 'token' ? ['token_id', 'token', 'token_owner'] : [`${by}_id`, by]
}

function cells(by: UsageDimension, row: UsageRow, index: number): string[] {
  const [key, name, owner] =
    index === 0 ? [row.key, row.name, row.owner] : [row.second_key, row.second_name, row.second_owner]
  if (isName(by)) return [name]
  return by === 'token' ? [key, name, owner] : [key, name]
}

/** A time in the zone, as YYYY-MM-DD HH:MM. */
function momentText(seconds: number, { offsetAt }: TimeZone): string {
  return new Date((seconds + offsetAt(seconds) * 60) * 1000).toISOString().slice(0, 16).replace('T', ' ')
}

/**
 * A name such as usage-by-user-model-2026-10.csv. If the range is not a month, the name contains its first and last
 * day.
 */
export function usageFileName({ by, range, zone }: TablePlan): string {
  const [first, last] = [dayOf(zone, range.start), dayOf(zone, range.end)]
  const [year = 0, month = 0] = first.split('-').map(Number)
  const isMonth =
    range.start === startOfDay(zone, year, month, 1) && range.end === startOfDay(zone, year, month + 1, 1) - 1
  const time = isMonth ? first.slice(0, 7) : first === last ? first : `${first}-to-${last}`
  return `usage-by-${by.join('-')}-${time}.csv`
}
