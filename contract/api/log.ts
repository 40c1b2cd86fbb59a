import * as z from 'zod/mini'
import { endpoint, keywordQuery } from './endpoint.ts'
import { text } from './fields.ts'
import { listQuery } from './list-query.ts'

/** A log row. Fields from `token_id` on are ours; `channel` and `attempts` are empty for people who are not admins. */
export const logSchema = z.object({
  id: z.number(),
  user_id: z.number(),
  created_at: z.number(),
  type: z.number(),
  content: z.string(),
  username: z.string(),
  token_name: z.string(),
  model_name: z.string(),
  quota: z.number(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  channel: z.number(),
  request_id: z.string(),
  elapsed_time: z.number(),
  is_stream: z.boolean(),
  system_prompt_reset: z.boolean(),
  token_id: z.number(),
  first_byte_time: z.number(),
  cached_tokens: z.number(),
  reasoning_tokens: z.number(),
  estimated: z.boolean(),
  outcome: z.string(),
  attempts: z.string(),
})

export type Log = z.output<typeof logSchema>

export const logSortColumns = [
  'id',
  'created_at',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'elapsed_time',
  'first_byte_time',
] as const

// Filters that cannot be read (a cleared date box sends NaN) count as not set, as in one-api.
const number = z.catch(z.coerce.number<string>().check(z.int(), z.gte(0)), 0)
const word = z.catch(text(200), '')

const ownFilter = {
  type: number,
  token_name: word,
  model_name: word,
  start_timestamp: number,
  end_timestamp: number,
}
const allFilter = { ...ownFilter, username: word, channel: number }

const list = listQuery(logSortColumns)
const stat = z.object({ quota: z.number(), token: z.number() })

/** What one model cost the caller on one day (UTC); the names are one-api's. */
export const dashboardRowSchema = z.object({
  /** yyyy-mm-dd. */
  Day: z.string(),
  ModelName: z.string(),
  RequestCount: z.number(),
  Quota: z.number(),
  PromptTokens: z.number(),
  CompletionTokens: z.number(),
})

/** Days that the dashboard shows, today included. */
export const dashboardDays = 7

export const logApi = {
  dashboard: endpoint({
    method: 'GET',
    path: '/api/user/dashboard',
    access: 'user',
    data: z.array(dashboardRowSchema),
    summary: 'What the caller used in the last 7 days (UTC), by day and model',
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/log/',
    access: 'admin',
    query: z.extend(list, allFilter),
    data: z.array(logSchema),
    summary: 'Logs of everybody, newest first',
  }),
  self: endpoint({
    method: 'GET',
    path: '/api/log/self',
    access: 'user',
    query: z.extend(list, ownFilter),
    data: z.array(logSchema),
    summary: 'Own logs, newest first',
  }),
  stat: endpoint({
    method: 'GET',
    path: '/api/log/stat',
    access: 'admin',
    query: z.object(allFilter),
    data: stat,
    summary: 'Quota and tokens consumed by the filtered calls',
  }),
  selfStat: endpoint({
    method: 'GET',
    path: '/api/log/self/stat',
    access: 'user',
    query: z.object(ownFilter),
    data: stat,
    summary: 'Quota and tokens consumed by the own filtered calls',
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/log/search',
    access: 'admin',
    query: keywordQuery,
    data: z.array(logSchema),
    summary: 'The newest 100 logs of that type number or whose content begins with the keyword',
  }),
  selfSearch: endpoint({
    method: 'GET',
    path: '/api/log/self/search',
    access: 'user',
    query: keywordQuery,
    data: z.array(logSchema),
    summary: 'The newest 100 own logs of that type number or whose content begins with the keyword',
  }),
  purge: endpoint({
    method: 'DELETE',
    path: '/api/log/',
    access: 'admin',
    query: z.object({ target_timestamp: z.coerce.number<string>().check(z.int(), z.positive()) }),
    data: z.number(),
    summary: 'Delete the logs older than target_timestamp; data = how many',
  }),
}
