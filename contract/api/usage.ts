import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { text } from './fields.ts'
import { allLogFilter, utcOffset } from './log-filter.ts'

/**
 * The figures that can be shown. `duration` and `first_byte` are averages in milliseconds, and `cached_share` is a
 * share from 0 to 1. All others are sums.
 */
export const usageMetrics = [
  'quota',
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'tokens',
  'cached_tokens',
  'cached_share',
  'failed',
  'duration',
  'first_byte',
  'cost',
  'margin',
] as const

/** Metrics that only admins can see. */
export const costMetrics: readonly string[] = ['cost', 'margin']

export type UsageMetric = (typeof usageMetrics)[number]

export const usageGroups = ['none', 'model', 'token', 'project', 'user', 'channel'] as const

export type UsageGroup = (typeof usageGroups)[number]

export const usageRollups = ['hour', 'day', 'week', 'month'] as const

export type UsageRollup = (typeof usageRollups)[number]

/** The maximum number of buckets in one response: forty days of hourly buckets. */
export const maxUsageBuckets = 1000

// Usage is read from stored sums, which do not record how calls ended. The filters for type and outcome therefore do
// not apply.
const { type: _type, outcome: _outcome, not_outcome: _not, slow_seconds: _slow, ...filter } = allLogFilter

const sum = (description: string) => z.int().check(z.describe(description))
const mean = (description: string) => z.number().check(z.describe(description))

/** All figures for a group of calls. */
export const usageFiguresSchema = z.object({
  requests: sum('Number of calls with a log row, including rows that have since been deleted.'),
  quota: sum('Quota units charged.'),
  prompt_tokens: sum('Prompt tokens, including cached ones.'),
  completion_tokens: sum('Completion tokens, including reasoning.'),
  tokens: sum('Prompt and completion tokens.'),
  cached_tokens: sum("Prompt tokens that were read from the upstream's cache."),
  cached_share: mean('The share of the prompt tokens that were read from the cache, from 0 to 1.'),
  failed: sum(
    'Calls that were interrupted, other than by the caller. For channels, also attempts that failed at the channel, whether or not another channel then served the call.',
  ),
  failed_attempts: z.optional(
    sum('For channels: how many of `failed` are failed attempts, which `requests` does not include. Absent means 0.'),
  ),
  duration: mean('Average time from the request to the end of the response, in milliseconds.'),
  first_byte: mean('Average time to the first byte in milliseconds, over the responses that had one.'),
  cost: z.optional(
    sum(
      'For admins: what the operator paid for the calls whose cost is known, in quota units. Absent if no cost is known.',
    ),
  ),
  margin: z.optional(
    sum('For admins: what was charged for the calls whose cost is known, less their cost; may be negative.'),
  ),
})

export type UsageFiguresView = z.output<typeof usageFiguresSchema>

const values = z.array(z.number()).check(z.describe('The metric in each bucket; 0 if there was no call.'))

export const usageSchema = z.object({
  start: sum('Start of the range in epoch seconds. The requested range is widened to whole hours (UTC).'),
  end: sum('End of the range in epoch seconds, exclusive.'),
  buckets: z
    .array(z.int())
    .check(z.describe('Start of each bucket in epoch seconds; the first bucket may begin before the range.')),
  total: usageFiguresSchema,
  previous: z
    .nullable(usageFiguresSchema)
    .check(
      z.describe(
        'Totals of the preceding range of the same length; null unless it was requested and the request has a start.',
      ),
    ),
  values,
  groups: z
    .array(
      z.object({
        key: z.string().check(z.describe('The name of the model or project, or the id of the token, user or channel.')),
        name: z.string().check(z.describe('The current name, or the last known name.')),
        total: usageFiguresSchema,
        previous: z.nullable(usageFiguresSchema),
        values,
      }),
    )
    .check(z.describe('The groups with the highest values of the metric, highest first.')),
  other: z
    .nullable(
      z.object({ groups: sum('Number of groups that are not listed separately.'), total: usageFiguresSchema, values }),
    )
    .check(z.describe('All other groups together.')),
})

export type Usage = z.output<typeof usageSchema>

export const usageApi = {
  read: endpoint({
    method: 'GET',
    path: '/api/usage/',
    access: 'user',
    query: z.object({
      ...filter,
      metric: z._default(z.enum(usageMetrics), 'quota'),
      group_by: z._default(z.enum(usageGroups), 'none'),
      rollup: z._default(z.enum(usageRollups), 'day'),
      utc_offset: utcOffset,
      time_zone: z._default(
        text(64).check(
          z.describe(
            'IANA name of the time zone in which days, weeks and months begin, such as Europe/Berlin. Empty means that `utc_offset` applies to the whole range.',
          ),
        ),
        '',
      ),
      top: z._default(
        z.coerce
          .number<string>()
          .check(z.int(), z.gte(1), z.lte(50), z.describe('Number of groups that are listed separately.')),
        6,
      ),
      compare: z.optional(z.enum(['previous']).check(z.describe('Also returns the totals of the preceding period.'))),
    }),
    data: usageSchema,
    summary: 'Get usage: one metric over time, by model, token, project, user or channel',
    description:
      'Admins get the calls of all users, other people only their own; `username`, `channel`, grouping by channel and the metrics `cost` and `margin` are for admins. The figures are exact: they are the sums of all log rows of the range, including rows that have since been deleted. The project of a call is the current project of its token. Days, weeks (from Monday) and months begin according to `time_zone`, or to `utc_offset` if there is none. If the offset is not a whole number of hours, an hour belongs to the day in which it begins.',
  }),
}
