import * as z from 'zod/mini'
import { endpoint, mediaEndpoint } from './endpoint.ts'
import { listQuery, numberFilter, wordFilter } from './list-query.ts'

/** The owner of the limit. */
export const budgetOwners = ['user', 'token'] as const

/** What a limit applies to: the whole remaining balance, the current UTC day, or the current UTC month. */
export const budgetPeriods = ['total', 'day', 'month'] as const

/** Which limits to list: nearly used up, almost completely used up, or running out within seven days. */
export const budgetLevels = ['near', 'critical', 'runs_out'] as const

/** The columns by which budgets can be sorted. */
export const budgetSorts = ['share', 'runs_out', 'limit', 'used', 'left', 'pace', 'name'] as const

/** A limit is near or critical once at least this share of it is used. */
export const budgetShares = { near: 0.8, critical: 0.95 } as const

/** The pace is the average spend over this many days. */
export const paceDays = 7

/** The maximum number of rows in one exported file. */
export const maxBudgetExport = 200_000

const sum = (description: string) => z.int().check(z.describe(description))

export const budgetSchema = z.object({
  owner: z.enum(budgetOwners).check(z.describe('Whether the limit is that of a user or of a token.')),
  period: z
    .enum(budgetPeriods)
    .check(z.describe('total: the balance of a user or the quota of a token. day, month: a budget (UTC).')),
  user_id: z.int(),
  username: z.string(),
  token_id: sum('Id of the token; 0 for a limit of a user.'),
  token_name: z.string(),
  from_group: z
    .string()
    .check(
      z.describe(
        'Name of the group that sets this limit for its users; empty if the limit was set for the user or token itself.',
      ),
    ),
  limit: sum('The limit in quota units. For a balance: the sum of what is left and what was spent this month.'),
  used: sum('Quota units used in the current period. For a balance: in the current month (UTC).'),
  left: sum('Quota units left. May be negative.'),
  share: z.number().check(z.describe('used ÷ limit; 1 if the limit is 0.')),
  pace: sum(
    'Quota units per day: the average of the last seven days, or of the time since the account or token was created, if that is shorter.',
  ),
  forecast: z
    .nullable(z.int())
    .check(
      z.describe(
        'Quota units that will be used by the end of the period at the rate of `pace`; null if `period` is total.',
      ),
    ),
  runs_out: z
    .nullable(z.int())
    .check(
      z.describe(
        'When the limit will be reached at the rate of `pace`, in epoch seconds. If it has already been reached: the time of the response. Null if it will not be reached before the period ends, or not at all.',
      ),
    ),
  resets: sum('When the period ends, in epoch seconds; 0 if `period` is total.'),
})

export type Budget = z.output<typeof budgetSchema>

const shape = {
  keyword: wordFilter(100, 'Only limits of users or tokens whose names contain this text.'),
  user_id: numberFilter(Number.MAX_SAFE_INTEGER, 'Only limits of this user and their tokens; for admins. 0 means all.'),
  owner: z.optional(z.enum(budgetOwners).check(z.describe('Only limits of users, or only those of tokens.'))),
  period: z.optional(z.enum(budgetPeriods).check(z.describe('Only limits of this kind.'))),
  level: z.optional(
    z
      .enum(budgetLevels)
      .check(
        z.describe(
          'near: at least 80% of the limit is used. critical: at least 95%. runs_out: the limit will be reached within seven days at the rate of `pace`.',
        ),
      ),
  ),
}

const rows = z.extend(listQuery(budgetSorts), shape)
const { sort, order } = rows.shape

export const budgetApi = {
  budgets: endpoint({
    method: 'GET',
    path: '/api/budget/',
    access: 'user',
    query: rows,
    data: z.array(budgetSchema),
    summary: 'List limits on spending: whose they are, how much is used, and when they run out',
    description:
      'Lists the balances of enabled users, the quotas of enabled tokens, and the daily and monthly budgets of both, including budgets that a group sets for its users. The list is sorted by share, highest first, unless `sort` and `order` say otherwise. The header `X-Total-Count` contains the number of rows. Quota that open calls hold counts as used in the quotas of tokens, but not in other limits. Admins get the limits of all users, other people only their own.',
  }),
  budgetsExport: mediaEndpoint({
    method: 'GET',
    path: '/api/budget/export',
    access: 'user',
    query: z.object({ ...shape, sort, order }),
    media: 'text/csv',
    changesState: 'record',
    summary: 'Export all limits on spending as CSV, in dollars and quota units',
    description:
      'The file has the same rows as the list, up to 200,000. Dollars are computed from quota units with the option `QuotaPerUnit` and have six decimals. Times are UTC. The file is CSV as in RFC 4180, in UTF-8 with a byte order mark. Text that a spreadsheet would treat as a formula is prefixed with an apostrophe.',
  }),
}
