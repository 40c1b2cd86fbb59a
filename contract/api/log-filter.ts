import * as z from 'zod/mini'
import { logOutcomes, mostSlowSeconds, ownOutcomes, usualSlowSeconds } from '../log-outcomes.ts'
import { looseNumberFilter, wordFilter } from './list-query.ts'

const number = (description: string) => looseNumberFilter(Number.MAX_SAFE_INTEGER, description)
const word = (description: string) => wordFilter(200, description)

/** Filters for a user's own log rows; 0 and '' mean any, and names must match exactly. */
export const ownLogFilter = {
  type: number('1 top-up, 2 call, 3 management, 4 system, 5 channel test, 6 error; 0 means all.'),
  token_name: word('Name of the token; must match exactly.'),
  model_name: word('Name of the model as it was sent upstream; must match exactly.'),
  start_timestamp: number('Epoch seconds, inclusive. 0 means no limit.'),
  end_timestamp: number('Epoch seconds, inclusive. 0 means no limit.'),
  outcome: z._default(
    z
      .enum(['', ...ownOutcomes])
      .check(
        z.describe(
          'failed: calls that failed or were interrupted; slow: calls that took at least slow_seconds; estimated: calls whose tokens the gateway counted. Empty means all rows.',
        ),
      ),
    '',
  ),
  slow_seconds: z._default(
    z.coerce
      .number<string>()
      .check(
        z.int(),
        z.gte(1),
        z.lte(mostSlowSeconds),
        z.describe('The least duration in seconds of the calls that outcome=slow selects.'),
      ),
    usualSlowSeconds,
  ),
}

/** Filters for log rows that admins may use. */
export const allLogFilter = {
  ...ownLogFilter,
  username: word('Name of the user; must match exactly.'),
  channel: number('Id of the channel.'),
  outcome: z._default(
    z
      .enum(['', ...logOutcomes])
      .check(
        z.describe(
          'failed: calls that failed or were interrupted; slow: calls that took at least slow_seconds; estimated: calls whose tokens the gateway counted; retried: calls that were sent upstream more than once. Empty means all rows.',
        ),
      ),
    '',
  ),
}

/** The time zone offset that decides where days begin, for queries by day. */
export const utcOffset = z._default(
  z.coerce
    .number<string>()
    .check(z.int(), z.gte(-840), z.lte(840), z.describe("The reader's time zone, in minutes east of UTC.")),
  0,
)
