import type { Log } from '../../contract/api/log.ts'
import type { Usage, UsageFiguresView, UsageMetric } from '../../contract/api/usage.ts'
import type { UsageQuery } from './known-usage.ts'

function figuresOf(rows: readonly Log[]): UsageFiguresView {
  const total = (of: (row: Log) => number | undefined) => rows.reduce((sum, row) => sum + (of(row) ?? 0), 0)
  const answered = rows.filter((row) => row.first_byte_time > 0)
  const mean = (sum: number, count: number) => (count > 0 ? sum / count : 0)
  return {
    requests: rows.length,
    quota: total((row) => row.quota),
    prompt_tokens: total((row) => row.prompt_tokens),
    completion_tokens: total((row) => row.completion_tokens),
    tokens: total((row) => row.prompt_tokens + row.completion_tokens),
    cached_tokens: total((row) => row.cached_tokens),
    cached_share: mean(
      total((row) => row.cached_tokens),
      total((row) => row.prompt_tokens),
    ),
    failed: rows.filter((row) => row.outcome === 'interrupted' || row.outcome === 'failed').length,
    duration: mean(
      total((row) => row.elapsed_time),
      rows.length,
    ),
    first_byte: mean(
      answered.reduce((sum, row) => sum + row.first_byte_time, 0),
      answered.length,
    ),
  }
}

const seconds = { hour: 3600, day: 86_400, week: 7 * 86_400 } as const
/** Seconds from the epoch to the first Monday after it, which was the fifth day of January 1970. */
const mondayShift = 4 * 86_400

/**
 * The start of the bucket that contains a moment, and the start of the next bucket. `offset` is in seconds. Without it,
 * the browser's time zone applies, including its daylight saving time.
 */
function bucketOf(at: number, rollup: 'hour' | 'day' | 'week' | 'month', offset: number | undefined): [number, number] {
  if (offset === undefined) return rollup === 'hour' ? bucketOf(at, rollup, 0) : localBucketOf(at, rollup)
  const local = at + offset
  if (rollup === 'month') {
    const date = new Date(local * 1000)
    const month = (ahead: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead) / 1000 - offset
    return [month(0), month(1)]
  }
  const size = seconds[rollup]
  const shift = rollup === 'week' ? mondayShift : 0
  const start = Math.floor((local - shift) / size) * size + shift - offset
  return [start, start + size]
}

function localBucketOf(at: number, rollup: 'day' | 'week' | 'month'): [number, number] {
  const date = new Date(at * 1000)
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  const start = (monthIndex: number, dayOfMonth: number) => new Date(year, monthIndex, dayOfMonth).getTime() / 1000
  if (rollup === 'month') return [start(month, 1), start(month + 1, 1)]
  const first = rollup === 'week' ? day - ((date.getDay() + 6) % 7) : day
  return [start(month, first), start(month, first + (rollup === 'week' ? 7 : 1))]
}

/** Sums log rows in the same way as the server. */
export function usageOf(all: readonly Log[], query: UsageQuery): Usage {
  const now = Math.floor(Date.now() / 1000)
  const end = Number(query.end_timestamp ?? now) + 1
  const oldest = all.reduce((first, row) => Math.min(first, row.created_at), now)
  const start = Number(query.start_timestamp ?? oldest)
  const narrowed = (['token_name', 'model_name', 'username'] as const).filter((name) => query[name])
  const channel = Number(query.channel ?? 0)
  const rows = all.filter(
    (row) =>
      row.created_at >= start &&
      row.created_at < end &&
      narrowed.every((name) => row[name] === query[name]) &&
      (channel === 0 || row.channel === channel),
  )
  const rollup = (query.rollup ?? 'day') as 'hour' | 'day' | 'week' | 'month'
  const offset = query.time_zone ? undefined : Number(query.utc_offset ?? 0) * 60
  const buckets: number[] = []
  for (let [at, next] = bucketOf(start, rollup, offset); at < end; [at, next] = bucketOf(next, rollup, offset))
    buckets.push(at)
  const metric = (query.metric ?? 'quota') as UsageMetric
  const valuesOf = (some: readonly Log[]) => {
    const parts = new Map<number, Log[]>()
    for (const row of some) {
      const [at] = bucketOf(row.created_at, rollup, offset)
      parts.set(at, [...(parts.get(at) ?? []), row])
    }
    return buckets.map((at) => figuresOf(parts.get(at) ?? [])[metric] ?? 0)
  }
  const ranked = groupsOf(rows, String(query.group_by ?? 'none'))
    .map(({ key, name, rows: own }) => ({ key, name, total: figuresOf(own), previous: null, rows: own }))
    .sort((a, b) => (b.total[metric] ?? 0) - (a.total[metric] ?? 0))
  const top = Number(query.top ?? 6)
  const rest = ranked.slice(top)
  const others = rest.flatMap((group) => group.rows)
  return {
    start,
    end,
    buckets,
    total: figuresOf(rows),
    // There is no comparison with the previous range, because the loaded rows may not go back far enough.
    previous: null,
    values: valuesOf(rows),
    groups: ranked.slice(0, top).map(({ rows: own, ...group }) => ({ ...group, values: valuesOf(own) })),
    other: rest.length > 0 ? { groups: rest.length, total: figuresOf(others), values: valuesOf(others) } : null,
  }
}

function groupsOf(rows: readonly Log[], by: string): { key: string; name: string; rows: Log[] }[] {
  const names: Record<string, (row: Log) => string> = {
    model: (row) => row.model_name,
    token: (row) => row.token_name,
    user: (row) => row.username,
    channel: (row) => String(row.channel ?? ''),
  }
  const nameOf = names[by]
  if (!nameOf) return []
  const groups = new Map<string, Log[]>()
  for (const row of rows) groups.set(nameOf(row), [...(groups.get(nameOf(row)) ?? []), row])
  return [...groups].map(([name, own]) => ({ key: name, name, rows: own }))
}
