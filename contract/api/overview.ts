import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { utcOffset } from './log-filter.ts'

/** The number of points in the figures of the last hour, each of five minutes. */
export const overviewPoints = 12
/** The number of people in the list of top spenders. */
export const topSpenders = 5
/** Days in the chart of a user's own spending, including today. */
export const ownDays = 14

const count = (description: string) => z.int().check(z.describe(description))
const time = count('Epoch seconds.')

/** A figure over the last hour and the hour before. */
const sumFigure = (description: string) =>
  z
    .object({
      now: count('Total of the last hour.'),
      before: count('Total of the preceding hour.'),
      points: z.array(z.int()).check(z.describe('Totals of the twelve five-minute intervals of the last hour.')),
    })
    .check(z.describe(description))

const timeFigure = (description: string) =>
  z
    .object({
      now: z.nullable(z.int()).check(z.describe('Milliseconds in the last hour; null if there were no responses.')),
      before: z
        .nullable(z.int())
        .check(z.describe('Milliseconds in the preceding hour; null if there were no responses.')),
      points: z
        .array(z.nullable(z.int()))
        .check(
          z.describe('Milliseconds in each five-minute interval of the last hour; null if there were no responses.'),
        ),
    })
    .check(z.describe(description))

/** The kinds of items that need attention, in the order in which the list shows them. */
export const attentionKinds = [
  'channel_off',
  'channel_failing',
  'channel_cooling',
  'model_no_route',
  'model_no_price',
  'backup_failed',
  'backup_old',
  'log_copy_failed',
  'balance_low',
  'price_held',
  'price_feed_failed',
  'channel_loss',
  'person_no_quota',
  'spend_jump',
  'backup_none',
] as const

export type AttentionKind = (typeof attentionKinds)[number]

export const attentionActs = [
  'test_and_enable',
  'open_channel',
  'add_channel',
  'set_price',
  'give_quota',
  'open_usage',
  'open_backups',
  'open_log_copy',
] as const

export const attentionSchema = z.object({
  kind: z.enum(attentionKinds),
  target: z.object({
    type: z.enum(['channel', 'model', 'user', 'backup', 'log_copy']),
    id: count('Id of the channel, user or backup; 0 for a model and for the copy of the log.'),
    name: z.string(),
  }),
  since: time,
  act: z.enum(attentionActs).check(z.describe('The action that resolves the item.')),
  reason: z
    .string()
    .check(
      z.describe(
        'Depends on `kind`: why the gateway disabled or skips the channel; the group for which no channel serves the model; or why the backup or the check of the price list failed.',
      ),
    ),
  count: count(
    'Depends on `kind`: the number of attempts at the channel, of refused calls, or of prices that wait for a decision.',
  ),
  failed: count('How many of the attempts failed.'),
  amount: z
    .number()
    .check(
      z.describe(
        'Depends on `kind`: the quota that the user spent today or has left, the balance that the upstream reported, or what the channel lost in 24 hours.',
      ),
    ),
  limit: z
    .number()
    .check(
      z.describe(
        'What `amount` is compared with: what the user spends on a median day (of 14), what the channel spent in 7 days, or what was charged for the requests of the channel.',
      ),
    ),
})

export type AttentionItem = z.output<typeof attentionSchema>

export const overviewSchema = z.object({
  time,
  hour: z
    .object({
      seconds: count(
        'Length of the last hour in seconds. It ends now and begins at the start of a five-minute interval, so it is not exactly 3600.',
      ),
      starts: z.array(z.int()).check(z.describe('Start of each five-minute interval in epoch seconds.')),
      requests: sumFigure('Calls, including those that failed.'),
      failed: sumFigure('Calls that got an error response or were interrupted.'),
      tokens: sumFigure('Prompt and completion tokens.'),
      quota: sumFigure('Quota units charged.'),
      people: sumFigure('Users who made calls.'),
      first_byte_p50: timeFigure('Median time to the first byte.'),
      first_byte_p95: timeFigure('95th percentile of the time to the first byte.'),
    })
    .check(z.describe('The last hour in five-minute intervals, and the hour before.')),
  day: z
    .object({
      starts: z.array(z.int()).check(z.describe('Start of each of the last 24 hours in epoch seconds.')),
      succeeded: z.array(z.int()).check(z.describe('Calls that were charged and not interrupted.')),
      interrupted: z.array(z.int()).check(z.describe('Calls whose response broke off, other than by the caller.')),
      failed: z.array(z.int()).check(z.describe('Log rows of calls that failed and cost nothing.')),
    })
    .check(z.describe('Calls of the last 24 hours by hour and outcome.')),
  costs: z
    .nullable(
      z.object({
        quota: count('Quota units charged.'),
        cost: count('What the operator paid for the requests whose cost is known.'),
        margin: count('What was charged for these requests, less their cost; may be negative.'),
      }),
    )
    .check(z.describe('Charges and costs of the last 24 hours; null if no cost is known.')),
  spenders: z
    .array(
      z.object({
        id: z.int(),
        name: z.string(),
        quota: count('Quota units charged in the last 7 days.'),
        before: count('Quota units charged in the 7 days before.'),
      }),
    )
    .check(z.describe('The people who spent most in the last 7 days.')),
  attention: z.array(attentionSchema).check(z.describe('What an administrator should look at, most urgent first.')),
})

export type Overview = z.output<typeof overviewSchema>

export const ownOverviewSchema = z.object({
  balance: count('Quota units left.'),
  used: count('Quota units used so far.'),
  starts: z.array(z.int()).check(z.describe('Start of each of the last 14 days in epoch seconds; the last is today.')),
  quota: z.array(z.int()).check(z.describe('Quota units charged on each day.')),
  requests: z.array(z.int()).check(z.describe('Calls on each day.')),
  days_left: z
    .nullable(z.number())
    .check(
      z.describe(
        'Days until the balance is used up at the rate of the last 7 days; null if nothing was spent in them.',
      ),
    ),
  errors: z
    .array(
      z.object({
        code: z.string().check(z.describe('The error code.')),
        message: z.string().check(z.describe('The error message of the newest call with this code.')),
        count: count('How many calls failed with this code in the last 24 hours.'),
        last: time,
      }),
    )
    .check(z.describe("The user's calls that failed in the last 24 hours, by error code, most frequent first.")),
  tokens: z
    .array(
      z.object({
        id: z.int(),
        name: z.string(),
        status: count('The status that applies now: 1 enabled, 2 disabled, 3 expired, 4 exhausted.'),
        remain_quota: z.int(),
        unlimited_quota: z.boolean(),
        used_quota: count('Quota units used so far.'),
        accessed_time: time,
        expired_time: count('Epoch seconds; -1 means never.'),
      }),
    )
    .check(z.describe('The tokens that were used last.')),
  token_count: count('Number of all tokens of the user.'),
})

export type OwnOverview = z.output<typeof ownOverviewSchema>

export const overviewApi = {
  read: endpoint({
    method: 'GET',
    path: '/api/overview/',
    access: 'admin',
    data: overviewSchema,
    summary: 'Get an overview of the installation: the last hour, the last day, top spenders, and what needs attention',
    description:
      'The times to the first byte are percentiles of a histogram, accurate to about 15 %. `failed` counts every call that got an error response or was interrupted. A day begins at midnight UTC. The response may be five seconds old.',
  }),
  self: endpoint({
    method: 'GET',
    path: '/api/overview/self',
    access: 'user',
    query: z.object({ utc_offset: utcOffset }),
    data: ownOverviewSchema,
    summary: "Get an overview of the caller's own account: balance, spending, failed calls, tokens",
    description: 'Failed calls are counted among the newest 5,000 log rows of the user.',
  }),
}
