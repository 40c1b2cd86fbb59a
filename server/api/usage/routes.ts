import { api } from '../../../contract/api/index.ts'
import type { Usage, UsageFiguresView, UsageGroup, UsageMetric } from '../../../contract/api/usage.ts'
import { costMetrics, maxUsageBuckets } from '../../../contract/api/usage.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { Person } from '../../http/app-env.ts'
import { type ApiRouter, type PersonCall, serve } from '../../http/serve-endpoint.ts'
import { type Clock, epochSeconds } from '../../lib/clock.ts'
import { fixedZone, type TimeZone, timeZone } from '../../lib/time-zone.ts'
import type { UsageFigures } from '../../store/schema/usage-tables.ts'
import type { Db } from '../../store/store.ts'
import { failedAttempts } from '../../store/usage/channel-failures.ts'
import {
  type BucketFigures,
  firstUsageHour,
  type GroupFigures,
  rankUsage,
  usageNames,
} from '../../store/usage/usage-query.ts'
import type { Grouping, HourRange, RowFilter } from '../../store/usage/usage-series.ts'
import type { ApiDeps } from '../deps.ts'
import { mountBudgets } from './budget-routes.ts'
import { mountStatementEmails } from './statement-emails-routes.ts'
import { mountStatement } from './statement-route.ts'
import { mountUsageTable } from './table-routes.ts'
import { type BucketPart, type BucketPlan, planBuckets } from './usage-buckets.ts'
import { usageInParts } from './usage-in-parts.ts'
import { mountUsageValues } from './values-route.ts'

type Query = PersonCall<typeof api.usage.read>['query']

const groupColumns = {
  none: undefined,
  model: 'model_name',
  token: 'token_id',
  project: 'project',
  user: 'user_id',
  channel: 'channel_id',
} as const satisfies Record<UsageGroup, Grouping | undefined>

/** The usage endpoints. Admins see everybody's usage, other people see only their own. */
export function mountUsage(router: ApiRouter, deps: Pick<ApiDeps, 'store' | 'clock' | 'settings'>): void {
  const { store, clock } = deps
  serve(router, api.usage.read, async ({ query, person }) => {
    const filter = filterFor(query, person)
    const range = await rangeOf(store.read, clock, query, filter)
    return readUsage(store.read, query, filter, range, person.role >= roles.admin ? adminView : viewOf)
  })
  mountUsageTable(router, deps)
  mountStatement(router, deps)
  mountUsageValues(router, deps)
  mountStatementEmails(router, deps)
  mountBudgets(router, deps)
}

/** The filter for the rows. People who are not admins see only their own calls, and nothing about channels. */
function filterFor(query: Query, person: Person): RowFilter {
  const { token_name, not_token_name, model_name, not_model_name, project, not_project } = query
  const own = { token_name, not_token_name, model_name, not_model_name, project, not_project }
  if (person.role >= roles.admin) {
    const { username, not_username, channel, not_channel, group, not_group } = query
    return { ...own, username, not_username, channel, not_channel, group, not_group }
  }
  if (costMetrics.includes(query.metric)) throw new ApiFailure('Only admins can see costs and margins.')
  if (query.group_by === 'channel') throw new ApiFailure('Only admins can see usage by channel.')
  return { ...own, userId: person.id }
}

/** The range in whole hours. Without a start, it begins with the first call. */
async function rangeOf(db: Db, clock: Clock, query: Query, filter: RowFilter): Promise<HourRange> {
  const { start_timestamp: start, end_timestamp: end } = query
  const now = epochSeconds(clock)
  const to = Math.floor((end === 0 ? now : Math.min(end, now)) / 3600) + 1
  const from = start === 0 ? ((await firstUsageHour(db, filter)) ?? to - 1) : Math.floor(start / 3600)
  return { from: Math.min(from, to), to }
}

async function readUsage(
  db: Db,
  query: Query,
  filter: RowFilter,
  range: HourRange,
  view: typeof viewOf,
): Promise<Usage> {
  const { metric, top: limit } = query
  const plan = planBuckets(range, query.rollup, zoneOf(query))
  if (plan.starts.length > maxUsageBuckets) {
    throw new ApiFailure(
      `A response has at most ${maxUsageBuckets} buckets. Choose a shorter range or a longer interval.`,
    )
  }
  const group = groupColumns[query.group_by]
  // Without a start, usage is read from hour 0. Because no usage exists before the first call, the query can then use
  // the daily sums instead of the hourly sums of the first call's day.
  const read = query.start_timestamp === 0 ? { ...range, from: 0 } : range
  const ask = { filter, group, metric }
  const ranking = await rankUsage(db, { ...ask, range: read, limit })
  const keys = ranking.top.map(({ g }) => g)
  const earlier = { from: Math.max(0, 2 * range.from - range.to), to: range.from }
  const isCompared = query.compare !== undefined && query.start_timestamp !== 0
  // These queries are independent of each other, so on PostgreSQL they run in parallel.
  const [before, buckets, names, attempts, attemptsBefore] = await Promise.all([
    isCompared ? rankUsage(db, { ...ask, range: earlier, limit, only: keys }) : undefined,
    usageInParts(db, { ...ask, only: keys }, partsFrom(read.from, plan.parts)),
    namesOf(db, query.group_by, keys),
    failedAttempts(db, { filter, group, range: read }),
    isCompared ? failedAttempts(db, { filter, group, range: earlier }) : undefined,
  ])
  const attemptsOfTop = keys.reduce<number>((sum, key) => sum + attempts.of(key), 0)
  const curves = curvesOf(buckets, plan)
  const others = ranking.count - ranking.top.length
  const total = curves.get(null)
  return {
    start: range.from * 3600,
    end: range.to * 3600,
    buckets: plan.starts,
    total: view(ranking.total, attempts.total),
    previous: before ? view(before.total, attemptsBefore?.total) : null,
    values: valuesOf(total, metric, plan),
    groups: ranking.top.map((each) => ({
      key: String(each.g),
      name: names.get(each.g) ?? String(each.g),
      total: view(each, attempts.of(each.g)),
      previous: before ? view(before.top.find(({ g }) => g === each.g) ?? noFigures, attemptsBefore?.of(each.g)) : null,
      values: valuesOf(curves.get(each.g), metric, plan),
    })),
    other:
      others > 0
        ? {
            groups: others,
            total: view(without(ranking.total, ranking.top), attempts.total - attemptsOfTop),
            values: valuesOf(
              rest(
                total,
                keys.map((key) => curves.get(key)),
              ),
              metric,
              plan,
            ),
          }
        : null,
  }
}

/** The reader's time zone by name or, without a name, a zone with a constant offset. */
function zoneOf({ time_zone, utc_offset }: Query): TimeZone {
  if (time_zone === '') return fixedZone(utc_offset)
  const zone = timeZone(time_zone)
  if (!zone) throw new ApiFailure('time_zone must be the name of a time zone, such as Europe/Berlin.')
  return zone
}

/** Makes the first part begin at `start` if that is earlier. There is no usage in the added hours. */
function partsFrom(start: number, parts: readonly BucketPart[]): BucketPart[] {
  return parts.map((part, index) => (index === 0 ? { ...part, from: Math.min(start, part.from) } : part))
}

/** A metric over time. The value in each bucket is `over` divided by `under`, or only `over` if the metric is a sum. */
interface Curve {
  over: number[]
  under: number[]
}

function curvesOf(rows: readonly BucketFigures[], plan: BucketPlan): Map<BucketFigures['g'], Curve> {
  const curves = new Map<BucketFigures['g'], Curve>()
  const zeros = () => plan.starts.map(() => 0)
  for (const { g, bucket, over, under } of rows) {
    const curve = curves.get(g) ?? { over: zeros(), under: zeros() }
    curves.set(g, curve)
    const index = plan.indexOf(bucket)
    curve.over[index] = (curve.over[index] ?? 0) + over
    curve.under[index] = (curve.under[index] ?? 0) + under
  }
  return curves
}

function valuesOf(curve: Curve | undefined, metric: UsageMetric, plan: BucketPlan): number[] {
  if (!curve) return plan.starts.map(() => 0)
  const quotient = quotientOf[metric]
  return quotient ? curve.over.map((value, index) => quotient(value, curve.under[index] ?? 0)) : curve.over
}

/** Subtracts the curves of `parts` from the curve of `whole`. */
function rest(whole: Curve | undefined, parts: readonly (Curve | undefined)[]): Curve | undefined {
  if (!whole) return undefined
  const minus = (side: keyof Curve) =>
    whole[side].map((value, index) => parts.reduce((left, part) => left - (part?.[side][index] ?? 0), value))
  return { over: minus('over'), under: minus('under') }
}

const mean = (sum: number, count: number) => (count === 0 ? 0 : Math.round(sum / count))
const share = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000)

/** How to compute the metrics that are not sums. */
const quotientOf: Partial<Record<UsageMetric, (over: number, under: number) => number>> = {
  duration: mean,
  first_byte: mean,
  cached_share: share,
}

function viewOf(figures: UsageFigures, failedAttempts = 0): UsageFiguresView {
  const { requests, quota, prompt_tokens, completion_tokens, cached_tokens, failed } = figures
  return {
    requests,
    quota,
    prompt_tokens,
    completion_tokens,
    tokens: prompt_tokens + completion_tokens,
    cached_tokens,
    cached_share: share(cached_tokens, prompt_tokens),
    failed,
    ...(failedAttempts > 0 && { failed_attempts: failedAttempts }),
    duration: mean(figures.elapsed_time, requests),
    first_byte: mean(figures.first_byte_time, figures.first_byte_count),
  }
}

/** The figures for admins. They include cost and margin if the cost of any call is known. */
function adminView(figures: UsageFigures, failedAttempts = 0): UsageFiguresView {
  const { cost, margin } = figures
  return { ...viewOf(figures, failedAttempts), ...((cost !== 0 || margin !== 0) && { cost, margin }) }
}

const noFigures: UsageFigures = {
  requests: 0,
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  failed: 0,
  elapsed_time: 0,
  first_byte_time: 0,
  first_byte_count: 0,
  cost: 0,
  margin: 0,
}

function without(total: UsageFigures, parts: readonly GroupFigures[]): UsageFigures {
  const left = { ...total }
  for (const key of Object.keys(noFigures) as (keyof UsageFigures)[]) {
    for (const part of parts) left[key] -= part[key]
  }
  return left
}

async function namesOf(
  db: Db,
  group: UsageGroup,
  keys: readonly (string | number)[],
): Promise<Map<string | number, string>> {
  if (group === 'none' || group === 'model' || group === 'project') return new Map()
  const ids = keys.filter((key) => typeof key === 'number')
  return usageNames(db, groupColumns[group], ids)
}
