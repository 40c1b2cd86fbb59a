import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { looseNumberFilter, wordFilter } from './list-query.ts'

/** What log rows and usage can be filtered by. */
export const valueDimensions = ['model', 'token', 'project', 'user', 'channel', 'group'] as const

export type ValueDimension = (typeof valueDimensions)[number]

/** The maximum number of values in one response. */
export const maxValues = 20

export const usageValueSchema = z.object({
  value: z
    .string()
    .check(
      z.describe('What to filter by: the name of the model, token, project, user or group, or the id of the channel.'),
    ),
  name: z
    .string()
    .check(
      z.describe(
        'The name for people: the same as `value` or, for a channel, its name; empty if the channel was deleted.',
      ),
    ),
  rows: z.int().check(z.describe('Number of log rows in the range.')),
})

export type UsageValue = z.output<typeof usageValueSchema>

const moment = (description: string) => looseNumberFilter(Number.MAX_SAFE_INTEGER, description)

export const usageValuesApi = {
  values: endpoint({
    method: 'GET',
    path: '/api/usage/values',
    access: 'user',
    query: z.object({
      of: z.enum(valueDimensions).check(z.describe('What to list. Only admins can list users, channels and groups.')),
      keyword: wordFilter(100, 'Only values whose name begins with this text, in upper or lower case.'),
      start_timestamp: moment('Epoch seconds. 0 means no limit.'),
      end_timestamp: moment('Epoch seconds. 0 means no limit.'),
      mine: z.optional(z.enum(['1']).check(z.describe('With 1, admins also get only the values of their own rows.'))),
    }),
    data: z.array(usageValueSchema),
    summary: 'List the models, tokens, projects, users, channels or groups that occur in the log, most used first',
    description:
      'Returns at most 20 values. The time range is widened to whole hours (UTC). Log rows that have since been deleted are counted, too. Admins get the values of all log rows, other people those of their own rows.',
  }),
}
