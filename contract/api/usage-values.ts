import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { looseNumberFilter, wordFilter } from './list-query.ts'

/** What log rows and usage can be filtered by. */
export const valueDimensions = ['model', 'token', 'user', 'channel', 'group'] as const

export type ValueDimension = (typeof valueDimensions)[number]

/** The maximum number of values in one response. */
export const maxValues = 20

export const usageValueSchema = z.object({
  value: z
    .string()
    .check(z.describe('What to filter by: the name of the model, token, user or group, or the id of the channel.')),
  name: z.string().check(z.describe('The same, or the name of the channel; empty if the channel was deleted.')),
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
      of: z.enum(valueDimensions).check(z.describe('What to list. Users, channels and groups are for admins.')),
      keyword: wordFilter(100, 'Only values whose name begins with this text, in upper or lower case.'),
      start_timestamp: moment('Epoch seconds. 0 means no limit.'),
      end_timestamp: moment('Epoch seconds. 0 means no limit.'),
      mine: z.optional(z.enum(['1']).check(z.describe('With 1, admins also get only the values of their own rows.'))),
    }),
    data: z.array(usageValueSchema),
    summary: 'List the models, tokens, users, channels or groups that occur in the log, most used first',
    description:
      'At most 20. The range is widened to whole hours (UTC), and rows that have since been deleted count. Admins get the values of everybody, other people those of their own rows.',
  }),
}
