import * as z from 'zod/mini'
import { endpoint, mediaEndpoint } from './endpoint.ts'
import { text } from './fields.ts'
import { listQuery, wordFilter } from './list-query.ts'
import { allLogFilter } from './log-filter.ts'

/** What a row of a usage table can represent. */
export const usageDimensions = ['user', 'token', 'project', 'model', 'channel', 'day'] as const

export type UsageDimension = (typeof usageDimensions)[number]

/** The columns by which a usage table can be sorted. */
export const usageTableSorts = [
  'quota',
  'requests',
  'tokens',
  'prompt_tokens',
  'completion_tokens',
  'cached',
  'failed',
  'failure_rate',
  'mean',
  'change',
  'cost',
  'margin',
  'name',
  'second',
] as const

/** The maximum number of points in the curve of a row. */
export const maxUsagePoints = 30

/** The maximum number of rows in one exported file. */
export const maxUsageExport = 200_000

/** The reader's time zone by name. */
export const timeZoneField = z._default(
  text(64).check(z.describe('IANA name of the time zone in which days and months begin, such as Europe/Berlin.')),
  'UTC',
)

const sum = (description: string) => z.int().check(z.describe(description))
const key = z
  .string()
  .check(z.describe('The id of the user, token or channel, the name of the model or project, or the day (YYYY-MM-DD).'))
const name = z
  .string()
  .check(
    z.describe(
      'The current name or, if the row was deleted, the last known name. Empty for calls whose token has no project or was deleted.',
    ),
  )
const owner = z.string().check(z.describe('For a token: the name of its user.'))

export const usageRowSchema = z.object({
  key,
  name,
  owner,
  second_key: z
    .string()
    .check(z.describe('Like `key`, for the second dimension; empty if there is no second dimension.')),
  second_name: z.string().check(z.describe('Like `name`, for the second dimension.')),
  second_owner: z.string().check(z.describe('For a token in the second dimension: the name of its user.')),
  quota: sum('Quota units charged.'),
  share: z.number().check(z.describe('Share of this row in the quota of all rows, from 0 to 1.')),
  requests: sum('Calls that were charged.'),
  prompt_tokens: sum('Prompt tokens, including cached ones.'),
  completion_tokens: sum('Completion tokens, including reasoning.'),
  cached_tokens: sum("Prompt tokens that were read from the upstream's cache."),
  failed: sum(
    'Calls that failed, charged or not. For channels: calls that broke off, and attempts that failed at the channel.',
  ),
  calls: sum('All calls, including those that failed and cost nothing; for channels, all attempts.'),
  previous_quota: z
    .nullable(z.int())
    .check(z.describe('Quota in the preceding period of the same length; null unless it was requested.')),
  cost: z.optional(
    sum('For admins: what the operator paid for the calls whose cost is known. Absent if no cost is known.'),
  ),
  margin: z.optional(
    sum('For admins: what was charged for the calls whose cost is known, less their cost; may be negative.'),
  ),
  values: z
    .array(z.number())
    .check(z.describe('Quota over time, in at most 30 steps; empty for two dimensions and for days.')),
})

export type UsageRow = z.output<typeof usageRowSchema>

// Usage is read from stored sums, which do not record how calls ended. The filters for type and outcome therefore do
// not apply.
const { type: _type, outcome: _outcome, not_outcome: _not, slow_seconds: _slow, ...filter } = allLogFilter

const shape = {
  ...filter,
  by: z._default(z.enum(usageDimensions).check(z.describe('What each row represents.')), 'user'),
  and: z.optional(
    z.enum(usageDimensions).check(z.describe('A second dimension. There is then a row for each pair of values.')),
  ),
  keyword: wordFilter(100, 'Only rows whose names contain this text.'),
  time_zone: timeZoneField,
  compare: z.optional(z.enum(['previous']).check(z.describe('Also returns the quota of the preceding period.'))),
}

const rows = z.extend(listQuery(usageTableSorts), shape)
const { sort, order } = rows.shape

export const usageTableApi = {
  table: endpoint({
    method: 'GET',
    path: '/api/usage/table',
    access: 'user',
    query: rows,
    data: z.array(usageRowSchema),
    summary: 'List the usage of every user, token, project, model, channel or day, or of each pair of two of them',
    description:
      'The rows are sorted by quota, highest first, unless `sort` and `order` say otherwise. The header `X-Total-Count` contains the number of rows. The time range is exact to the second, and the figures are the sums of all log rows in it. In a partial hour at either end, only rows that still exist are included. The project of a call is the current project of its token; projects of several users with the same name are one row. Admins get the calls of all users, other people only their own; `username`, `channel`, rows by channel, and costs and margins are for admins.',
  }),
  export: mediaEndpoint({
    method: 'GET',
    path: '/api/usage/export',
    access: 'user',
    query: z.object({ ...shape, sort, order }),
    media: 'text/csv',
    // The export of everybody's usage is recorded in the audit log.
    changesState: 'record',
    summary: 'Export all rows of a usage table as CSV, with dollars, a line of totals, the range and the time zone',
    description:
      'The file has the same rows as the table, up to 200,000. Dollars are computed from quota units with the option `QuotaPerUnit` and have six decimals. The file is CSV as in RFC 4180, in UTF-8 with a byte order mark. Text that a spreadsheet would treat as a formula is prefixed with an apostrophe. If the transfer breaks off, the file is incomplete and has no line of totals.',
  }),
}
