import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { allLogFilter, utcOffset } from './log-filter.ts'

/** The figures that can be shown; `duration` and `first_byte` are means in milliseconds, all others are sums. */
export const usageMetrics = [
  'quota',
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'tokens',
  'cached_tokens',
  'failed',
  'duration',
  'first_byte',
] as const

export type UsageMetric = (typeof usageMetrics)[number]

export const usageGroups = ['none', 'model', 'token', 'user', 'channel'] as const

export type UsageGroup = (typeof usageGroups)[number]

export const usageRollups = ['hour', 'day', 'week', 'month'] as const

export type UsageRollup = (typeof usageRollups)[number]

/** The maximum number of buckets in one response: forty days of hourly buckets. */
export const maxUsageBuckets = 1000

const { type: _type, ...filter } = allLogFilter

const sum = (description: string) => z.int().check(z.describe(description))
const mean = (description: string) => z.number().check(z.describe(description))

/** All figures for a group of calls. */
export const usageFiguresSchema = z.object({
  requests: sum('Calls that have, or had, a log row.'),
  quota: sum('Quota units charged.'),
  prompt_tokens: sum('Cached ones included.'),
  completion_tokens: sum('Reasoning included.'),
  tokens: sum('Prompt and completion tokens.'),
  cached_tokens: sum('Prompt tokens that the upstream had in its cache.'),
  failed: sum(
    'Calls that broke off, other than by the caller; of channels also attempts that failed there, whether or not another channel rescued the call.',
  ),
  failed_attempts: z.optional(
    sum('Of channels: how many of `failed` are attempts that failed there and are none of its `requests`; absent = 0.'),
  ),
  duration: mean('Mean milliseconds from request to the end of the answer.'),
  first_byte: mean('Mean milliseconds to the first byte, of the answers that had one.'),
})

export type UsageFiguresView = z.output<typeof usageFiguresSchema>

const values = z.array(z.number()).check(z.describe('The metric in each bucket; 0 where there was no call.'))

export const usageSchema = z.object({
  start: sum('Epoch seconds: the range is widened to whole hours (UTC).'),
  end: sum('Epoch seconds, not included.'),
  buckets: z
    .array(z.int())
    .check(z.describe('Epoch seconds at which each bucket begins; the first may begin before the range.')),
  total: usageFiguresSchema,
  previous: z
    .nullable(usageFiguresSchema)
    .check(z.describe('The range of the same length before this one, if it was asked for and there is a start.')),
  values,
  groups: z
    .array(
      z.object({
        key: z.string().check(z.describe('The model name, or the id of token, user or channel.')),
        name: z.string().check(z.describe('As it is called now, or was called last.')),
        total: usageFiguresSchema,
        previous: z.nullable(usageFiguresSchema),
        values,
      }),
    )
    .check(z.describe('Those with the most of the metric, most first.')),
  other: z
    .nullable(z.object({ groups: sum('How many.'), total: usageFiguresSchema, values }))
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
      top: z._default(
        z.coerce.number<string>().check(z.int(), z.gte(1), z.lte(50), z.describe('Groups that are named.')),
        6,
      ),
      compare: z.optional(z.enum(['previous']).check(z.describe('Also sum up the time before.'))),
    }),
    data: usageSchema,
    summary: 'What calls used: a metric over time, by model, token, user or channel',
    description:
      "For admins everybody's calls, else the own ones; `username`, `channel` and grouping by channel are for admins. Exact: the sum of all log rows of the range, those deleted since included. Days, weeks (from Monday) and months begin by `utc_offset`; where that is no whole number of hours, an hour belongs to the day in which it begins.",
  }),
}
