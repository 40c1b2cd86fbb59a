import * as z from 'zod/mini'
import { endpoint, keywordQuery, mediaEndpoint } from './endpoint.ts'
import { listQuery, numberFilter } from './list-query.ts'
import { allLogFilter, ownLogFilter, utcOffset } from './log-filter.ts'

/**
 * A log row. Fields from `token_id` on are added by Tollgate; `channel`, `attempts` and `upstream_message` are empty
 * for users who are not admins.
 */
export const logSchema = z.object({
  id: z.int(),
  user_id: z.int(),
  created_at: z.int().check(z.describe('Epoch seconds.')),
  type: z
    .int()
    .check(
      z.describe(
        '1 top-up, 2 call, 3 management, 4 system, 5 channel test, 6 error: a call that failed and cost nothing.',
      ),
    ),
  content: z.string(),
  username: z.string(),
  token_name: z.string(),
  model_name: z.string(),
  quota: z.int().check(z.describe('Quota units charged.')),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  channel: z.int().check(z.describe('Id of the channel that served it; admins only.')),
  request_id: z.string().check(z.describe('As in the header X-Oneapi-Request-Id of the answer.')),
  elapsed_time: z.int().check(z.describe('Milliseconds.')),
  is_stream: z.boolean(),
  system_prompt_reset: z.boolean(),
  token_id: z.int().check(z.describe('0 = no token.')),
  first_byte_time: z.int().check(z.describe('Milliseconds to the first byte of the answer.')),
  cached_tokens: z.int(),
  reasoning_tokens: z.int(),
  estimated: z.boolean().check(z.describe('Counted by the gateway, the upstream having sent no usable figures.')),
  outcome: z.string().check(z.describe('complete, aborted by the caller, interrupted, or failed before it began.')),
  attempts: z.string().check(z.describe('The channels tried, in at most 4 KB; admins only.')),
  asked_model: z.string().check(z.describe('The model that the caller named, where another one ran; else empty.')),
  endpoint: z.string().check(z.describe('Of a failed call: the path that was called.')),
  status: z.int().check(z.describe('Of a failed call: the HTTP status of the answer.')),
  code: z.string().check(z.describe('Of a failed call: the error code.')),
  upstream_message: z.string().check(z.describe('Of a failed call: what the upstream said; admins only.')),
  left_out: z
    .int()
    .check(z.describe('Of a failed call: how many others of the same token and code have no row of their own.')),
  left_out_since: z.int().check(z.describe('Epoch seconds at which the first of these began; 0 = there are none.')),
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

/** Selects one row by the ID given in a URL; the other filters are then ignored. */
const oneRow = {
  id: numberFilter(Number.MAX_SAFE_INTEGER, 'The row with this number alone, wherever it stands; 0 = all.'),
}

const list = z.extend(listQuery(logSortColumns), oneRow)
const stat = z.object({ quota: z.int(), token: z.int() })

const histogramShape = {
  buckets: z._default(
    z.coerce.number<string>().check(z.int(), z.gte(1), z.lte(400), z.describe('At most so many.')),
    60,
  ),
  utc_offset: utcOffset,
}

/** How many rows there are in each part of a time range, by type. */
export const histogramSchema = z.object({
  step: z.int().check(z.describe('Seconds of a bucket.')),
  starts: z.array(z.int()).check(z.describe('Epoch seconds at which each bucket begins.')),
  types: z.array(
    z.object({
      type: z.int(),
      counts: z.array(z.int()).check(z.describe('Rows of the type in each bucket.')),
    }),
  ),
})

/** What one model cost the caller on one day (UTC); the field names are one-api's. */
export const dashboardRowSchema = z.object({
  /** yyyy-mm-dd. */
  Day: z.string(),
  ModelName: z.string(),
  RequestCount: z.int(),
  Quota: z.int(),
  PromptTokens: z.int(),
  CompletionTokens: z.int(),
})

/** Number of days that the dashboard shows, including today. */
export const dashboardDays = 7

const csvDescription =
  'UTF-8 with a byte order mark, RFC 4180. Text that a spreadsheet would take for a formula has an apostrophe before it. A transfer that breaks off was not complete.'

const { start_timestamp: _start, end_timestamp: _end, ...ownTailFilter } = ownLogFilter
const allTailFilter = { ...ownTailFilter, username: allLogFilter.username, channel: allLogFilter.channel }

const tailDescription =
  'Each event has a log row as JSON in `data` and its number in `id`; with that number in the header `Last-Event-ID` the newest 500 rows since then come first. Ends with the event `end` when the caller may not read on. Each person may have 4 at a time from one node.'

const leftOutDescription =
  'A failed call may have been left out of the log, when very many failed like it: of its id those rows are returned which stand for the calls of its time. They have another `request_id`, and tell in `left_out` how many calls have no row.'

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
    cutWhenSorted: true,
    query: z.extend(list, allLogFilter),
    data: z.array(logSchema),
    summary: 'Logs of everybody, newest first',
    description:
      'The header `X-Total-Count` has the number of rows that the list goes through, exactly. Sorted by anything but `id` or `created_at` the list covers the newest rows: hours with at most 5,000 that match, among 25,000 of the log; `X-Matching-Count` is then sent, too, with the number of all that match.',
  }),
  self: endpoint({
    method: 'GET',
    path: '/api/log/self',
    access: 'user',
    cutWhenSorted: true,
    query: z.extend(list, ownLogFilter),
    data: z.array(logSchema),
    summary: 'Own logs, newest first',
    description:
      'The header `X-Total-Count` has the number of rows that the list goes through, exactly. Sorted by anything but `id` or `created_at` the list covers the newest rows: hours with at most 5,000 that match; `X-Matching-Count` is then sent, too, with the number of all that match.',
  }),
  stat: endpoint({
    method: 'GET',
    path: '/api/log/stat',
    access: 'admin',
    query: z.object(allLogFilter),
    data: stat,
    summary: 'Quota and tokens consumed by the filtered calls',
    description:
      'Calls whose log rows were deleted since count too, but for a part of an hour at either end of the range.',
  }),
  selfStat: endpoint({
    method: 'GET',
    path: '/api/log/self/stat',
    access: 'user',
    query: z.object(ownLogFilter),
    data: stat,
    summary: 'Quota and tokens consumed by the own filtered calls',
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/log/search',
    access: 'admin',
    query: keywordQuery,
    data: z.array(logSchema),
    summary:
      'The logs of the request with that id, or the newest 100 of that type number or whose content begins with the keyword',
    description: leftOutDescription,
  }),
  selfSearch: endpoint({
    method: 'GET',
    path: '/api/log/self/search',
    access: 'user',
    query: keywordQuery,
    data: z.array(logSchema),
    summary:
      'The own logs of the request with that id, or the newest 100 of that type number or whose content begins with the keyword',
    description: leftOutDescription,
  }),
  histogram: endpoint({
    method: 'GET',
    path: '/api/log/histogram',
    access: 'admin',
    query: z.object({ ...allLogFilter, ...histogramShape }),
    data: histogramSchema,
    summary: 'Number of logs over time, by type',
  }),
  selfHistogram: endpoint({
    method: 'GET',
    path: '/api/log/self/histogram',
    access: 'user',
    query: z.object({ ...ownLogFilter, ...histogramShape }),
    data: histogramSchema,
    summary: 'Number of own logs over time, by type',
  }),
  export: mediaEndpoint({
    method: 'GET',
    path: '/api/log/export',
    access: 'admin',
    query: z.object(allLogFilter),
    media: 'text/csv',
    // The export is recorded in the audit trail.
    changesState: 'record',
    summary: 'Logs of everybody as CSV, newest first, as a stream of any length',
    description: csvDescription,
  }),
  selfExport: mediaEndpoint({
    method: 'GET',
    path: '/api/log/self/export',
    access: 'user',
    query: z.object(ownLogFilter),
    media: 'text/csv',
    summary: 'Own logs as CSV, newest first, as a stream of any length',
    description: csvDescription,
  }),
  stream: mediaEndpoint({
    method: 'GET',
    path: '/api/log/stream',
    access: 'admin',
    query: z.object(allTailFilter),
    media: 'text/event-stream',
    summary: 'New logs of everybody as they are written, as server-sent events',
    description: tailDescription,
  }),
  selfStream: mediaEndpoint({
    method: 'GET',
    path: '/api/log/self/stream',
    access: 'user',
    query: z.object(ownTailFilter),
    media: 'text/event-stream',
    summary: 'New own logs as they are written, as server-sent events',
    description: tailDescription,
  }),
  purge: endpoint({
    method: 'DELETE',
    path: '/api/log/',
    access: 'admin',
    query: z.object({ target_timestamp: z.coerce.number<string>().check(z.int(), z.positive()) }),
    data: z.int(),
    summary: 'Delete the logs older than target_timestamp; data = how many',
  }),
}
