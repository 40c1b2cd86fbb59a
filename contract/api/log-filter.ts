import * as z from 'zod/mini'
import { logOutcomes, mostSlowSeconds, ownOutcomes, usualSlowSeconds } from '../log-outcomes.ts'
import { choicesFilter, looseNumberFilter, numbersFilter, wordsFilter } from './list-query.ts'

const number = (description: string) => looseNumberFilter(Number.MAX_SAFE_INTEGER, description)
const words = (what: string) =>
  wordsFilter(200, `${what}; must match exactly. Repeat the parameter for up to 20 values; one of them must match.`)
const notWords = (what: string) =>
  wordsFilter(200, `${what} that is excluded. Repeat the parameter for up to 20 values.`)

const ownMeanings =
  'failed: calls that failed or were interrupted; slow: calls that took at least slow_seconds; estimated: calls whose tokens the gateway counted.'

/**
 * Filters for a user's own log rows; 0 and '' mean any, and names must match exactly. Filters by name can have several
 * values, and `not_` filters exclude rows with one of their values.
 */
export const ownLogFilter = {
  type: number('1 top-up, 2 call, 3 management, 4 system, 5 channel test, 6 error; 0 means all.'),
  token_name: words('Name of the token'),
  not_token_name: notWords('Name of a token'),
  project: words('Current project of the token'),
  not_project: notWords('Project'),
  model_name: words('Name of the model as it was sent upstream'),
  not_model_name: notWords('Name of a model'),
  start_timestamp: number('Epoch seconds, inclusive. 0 means no limit.'),
  end_timestamp: number('Epoch seconds, inclusive. 0 means no limit.'),
  outcome: choicesFilter(
    ownOutcomes,
    `How calls ended. ${ownMeanings} Empty means all rows. Repeat the parameter for several outcomes; one of them must match.`,
  ),
  not_outcome: choicesFilter(
    ownOutcomes,
    'Outcomes that are excluded. Rows that are not calls are not excluded. Repeat the parameter for several outcomes.',
  ),
  slow_seconds: z._default(
    z.coerce
      .number<string>()
      .check(
        z.int(),
        z.gte(1),
        z.lte(mostSlowSeconds),
        z.describe('Minimum duration, in seconds, of calls that count as slow.'),
      ),
    usualSlowSeconds,
  ),
}

/** Filters for log rows that admins may use. */
export const allLogFilter = {
  ...ownLogFilter,
  username: words('Name of the user'),
  not_username: notWords('Name of a user'),
  channel: numbersFilter(Number.MAX_SAFE_INTEGER, 'Id of the channel. Repeat the parameter for up to 20 channels.'),
  not_channel: numbersFilter(Number.MAX_SAFE_INTEGER, 'Id of a channel that is excluded.'),
  group: words('Current group of the token or, if the token has none, current group of the user'),
  not_group: notWords('Group'),
  outcome: choicesFilter(
    logOutcomes,
    `How calls ended. ${ownMeanings} Also retried: calls that were sent upstream more than once; rescued: streams that broke off and were completed by another attempt. Empty means all rows. Repeat the parameter for several outcomes; one of them must match.`,
  ),
  not_outcome: choicesFilter(
    logOutcomes,
    'Outcomes that are excluded. Rows that are not calls are not excluded. Repeat the parameter for several outcomes.',
  ),
}

/** The time zone offset that decides where days begin, for queries by day. */
export const utcOffset = z._default(
  z.coerce
    .number<string>()
    .check(z.int(), z.gte(-840), z.lte(840), z.describe("The reader's time zone, in minutes east of UTC.")),
  0,
)
