import * as z from 'zod/mini'
import { endpoint, keywordQuery, mediaEndpoint } from './endpoint.ts'
import { listQuery, numberFilter } from './list-query.ts'
import { allLogFilter, ownLogFilter, utcOffset } from './log-filter.ts'
import { logRequestSchema } from './log-request.ts'

/**
 * A log row. Tollgate added the fields from `token_id` on. For users who are not admins, `channel`, `attempts`,
 * `upstream_message`, `kept_place` and the API format of the upstream are empty.
 */
export const logSchema = z.object({
  id: z.int(),
  user_id: z.int(),
  created_at: z.int().check(z.describe('Epoch seconds.')),
  type: z
    .int()
    .check(
      z.describe(
        '1 top-up, 2 call, 3 management, 4 system, 5 channel test, 6 error (a call that failed and cost nothing).',
      ),
    ),
  content: z.string(),
  username: z.string(),
  token_name: z.string(),
  model_name: z.string(),
  quota: z.int().check(z.describe('Quota units charged.')),
  cost: z.optional(
    z
      .nullable(z.int())
      .check(z.describe('Quota units that the call cost the operator; null if not known. Only for admins.')),
  ),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  channel: z.int().check(z.describe('Id of the channel that served the call; only for admins.')),
  channel_name: z.optional(
    z
      .string()
      .check(z.describe('Name of the channel in `channel`; absent if the channel was deleted. Only for admins.')),
  ),
  request_id: z.string().check(z.describe('Id of the request, as in the X-Oneapi-Request-Id header of the response.')),
  elapsed_time: z.int().check(z.describe('Milliseconds from the request to the end of the response.')),
  is_stream: z.boolean(),
  system_prompt_reset: z.boolean(),
  token_id: z.int().check(z.describe('Id of the token; 0 means no token.')),
  first_byte_time: z.int().check(z.describe('Milliseconds to the first byte of the response.')),
  cached_tokens: z.int(),
  reasoning_tokens: z.int(),
  estimated: z
    .boolean()
    .check(z.describe('True if the gateway counted the tokens because the upstream sent no usable figures.')),
  outcome: z
    .string()
    .check(
      z.describe(
        'How the call ended: complete, rescued (a stream that broke off was completed by another attempt), aborted (by the caller), interrupted, or failed (before the response began).',
      ),
    ),
  attempts: z.string().check(z.describe('The channels that were tried, in at most 4 KB; only for admins.')),
  asked_model: z
    .string()
    .check(z.describe('The model that the caller requested, if another one was used; otherwise empty.')),
  endpoint: z.string().check(z.describe('For a failed call: the path that was called.')),
  status: z.int().check(z.describe('For a failed call: the HTTP status of the response.')),
  code: z.string().check(z.describe('For a failed call: the error code.')),
  upstream_message: z.string().check(z.describe("For a failed call: the upstream's message; only for admins.")),
  left_out: z
    .int()
    .check(
      z.describe(
        'For a failed call: how many other failed calls with the same token and error code this row represents. They have no row of their own.',
      ),
    ),
  left_out_since: z
    .int()
    .check(
      z.describe('When the first of the calls in `left_out` began, in epoch seconds; 0 means that there are none.'),
    ),
  kept_place: z
    .nullable(z.boolean())
    .check(
      z.describe(
        'A session belongs to one channel and key. True if they served this call of the session, false if another channel or key did. Null if the call belongs to no session, or if there was no choice. Only for admins.',
      ),
    ),
  request: z
    .optional(logRequestSchema)
    .check(z.describe('How the call was made, without any content. Only in search results, and only for calls.')),
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

/** Selects one row by the id in a URL. All other filters are then ignored. */
const oneRow = {
  id: numberFilter(
    Number.MAX_SAFE_INTEGER,
    'Returns only the row with this id, whatever page it is on and whatever the other filters are; 0 means all rows.',
  ),
}

const list = z.extend(listQuery(logSortColumns), oneRow)
const stat = z.object({
  quota: z.int(),
  token: z.int(),
  calls: z.int().check(z.describe('Number of matching calls, including those that failed.')),
  failed: z.int().check(z.describe('Number of these calls that failed or were interrupted.')),
})

const histogramShape = {
  buckets: z._default(
    z.coerce.number<string>().check(z.int(), z.gte(1), z.lte(400), z.describe('Maximum number of buckets.')),
    60,
  ),
  utc_offset: utcOffset,
}

/** The outcomes that a histogram distinguishes, in addition to the types. Rows that are not calls are `other`. */
export const histogramOutcomes = ['succeeded', 'failed', 'other'] as const

/** How many rows there are in each part of a time range, by type and by outcome. */
export const histogramSchema = z.object({
  step: z.int().check(z.describe('Length of a bucket in seconds.')),
  starts: z.array(z.int()).check(z.describe('Start of each bucket in epoch seconds.')),
  types: z.array(
    z.object({
      type: z.int(),
      counts: z.array(z.int()).check(z.describe('Number of rows of the type in each bucket.')),
    }),
  ),
  outcomes: z
    .array(
      z.object({
        outcome: z
          .enum(histogramOutcomes)
          .check(
            z.describe(
              'failed: calls that failed or were interrupted; succeeded: other calls, including those that the caller cancelled; other: rows that are not calls.',
            ),
          ),
        counts: z.array(z.int()).check(z.describe('Number of rows with the outcome in each bucket.')),
      }),
    )
    .check(z.describe('The rows counted by outcome instead of by type.')),
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
  'The file is CSV as in RFC 4180, in UTF-8 with a byte order mark. Text that a spreadsheet would treat as a formula is prefixed with an apostrophe. If the transfer breaks off, the file is incomplete.'

const { start_timestamp: _start, end_timestamp: _end, ...ownTailFilter } = ownLogFilter
const allTailFilter = {
  ...ownTailFilter,
  username: allLogFilter.username,
  not_username: allLogFilter.not_username,
  channel: allLogFilter.channel,
  not_channel: allLogFilter.not_channel,
  group: allLogFilter.group,
  not_group: allLogFilter.not_group,
  outcome: allLogFilter.outcome,
  not_outcome: allLogFilter.not_outcome,
}

const tailDescription =
  'Each event contains a log row as JSON in `data` and the id of the row in `id`. If the request header `Last-Event-ID` contains the id of a row, the rows after it (at most the newest 500) are sent first. When the stream ends, for example because the caller is no longer allowed to read, the event `end` gives the reason. Each user can have 4 streams open at a time on one server.'

const leftOutDescription =
  'If very many similar calls fail, some of them have no log row of their own. A search for the id of such a call returns the rows that represent the failed calls of that time. These rows have a different `request_id`, and their `left_out` is the number of calls without a row.'

export const logApi = {
  dashboard: endpoint({
    method: 'GET',
    path: '/api/user/dashboard',
    access: 'user',
    data: z.array(dashboardRowSchema),
    summary: "Get the caller's own usage in the last 7 days (UTC), by day and model",
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/log/',
    access: 'admin',
    cutWhenSorted: true,
    query: z.extend(list, allLogFilter),
    data: z.array(logSchema),
    summary: 'List the logs of all users, newest first',
    description:
      'The header `X-Total-Count` contains the exact number of rows that the list covers. If the list is sorted by a column other than `id` or `created_at`, it covers only the newest whole hours that together have at most 5,000 matching rows and at most 25,000 rows in all. The header `X-Matching-Count` then contains the number of all matching rows. With the filter `outcome` or `not_outcome`, the list also covers only the newest rows. If older rows were not searched, the header `X-Searched-Count` contains the number of rows that were searched.',
  }),
  self: endpoint({
    method: 'GET',
    path: '/api/log/self',
    access: 'user',
    cutWhenSorted: true,
    query: z.extend(list, ownLogFilter),
    data: z.array(logSchema),
    summary: "List the caller's own logs, newest first",
    description:
      'The header `X-Total-Count` contains the exact number of rows that the list covers. If the list is sorted by a column other than `id` or `created_at`, it covers only the newest whole hours that together have at most 5,000 matching rows. The header `X-Matching-Count` then contains the number of all matching rows. With the filter `outcome` or `not_outcome`, the list also covers only the newest rows. If older rows were not searched, the header `X-Searched-Count` contains the number of rows that were searched.',
  }),
  stat: endpoint({
    method: 'GET',
    path: '/api/log/stat',
    access: 'admin',
    query: z.object(allLogFilter),
    data: stat,
    summary: 'Get the quota and tokens used by the matching calls, and how many of them failed',
    description:
      'Calls whose log rows have since been deleted are included, except in a partial hour at either end of the range. With the filter `outcome` or `not_outcome`, the figures are those of the newest rows, which the list of logs with the same filters covers. Failed calls that have no row of their own are not counted.',
  }),
  selfStat: endpoint({
    method: 'GET',
    path: '/api/log/self/stat',
    access: 'user',
    query: z.object(ownLogFilter),
    data: stat,
    summary: "Get the quota and tokens used by the caller's own matching calls, and how many of them failed",
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/log/search',
    access: 'admin',
    query: keywordQuery,
    data: z.array(logSchema),
    summary:
      'Search the logs for the request whose id is the keyword or, if there is none, for the newest 100 rows whose type number is the keyword or whose content begins with it',
    description: leftOutDescription,
  }),
  selfSearch: endpoint({
    method: 'GET',
    path: '/api/log/self/search',
    access: 'user',
    query: keywordQuery,
    data: z.array(logSchema),
    summary:
      "Search the caller's own logs for the request whose id is the keyword or, if there is none, for the newest 100 rows whose type number is the keyword or whose content begins with it",
    description: leftOutDescription,
  }),
  histogram: endpoint({
    method: 'GET',
    path: '/api/log/histogram',
    access: 'admin',
    query: z.object({ ...allLogFilter, ...histogramShape }),
    data: histogramSchema,
    summary: 'Count logs over time, by type and outcome',
  }),
  selfHistogram: endpoint({
    method: 'GET',
    path: '/api/log/self/histogram',
    access: 'user',
    query: z.object({ ...ownLogFilter, ...histogramShape }),
    data: histogramSchema,
    summary: "Count the caller's own logs over time, by type and outcome",
  }),
  export: mediaEndpoint({
    method: 'GET',
    path: '/api/log/export',
    access: 'admin',
    query: z.object(allLogFilter),
    media: 'text/csv',
    // The export is recorded in the audit log.
    changesState: 'record',
    summary: 'Export the logs of all users as CSV, newest first, as a stream of any length',
    description: csvDescription,
  }),
  selfExport: mediaEndpoint({
    method: 'GET',
    path: '/api/log/self/export',
    access: 'user',
    query: z.object(ownLogFilter),
    media: 'text/csv',
    summary: "Export the caller's own logs as CSV, newest first, as a stream of any length",
    description: csvDescription,
  }),
  stream: mediaEndpoint({
    method: 'GET',
    path: '/api/log/stream',
    access: 'admin',
    query: z.object(allTailFilter),
    media: 'text/event-stream',
    summary: 'Stream new logs of all users as they are written, as server-sent events',
    description: tailDescription,
  }),
  selfStream: mediaEndpoint({
    method: 'GET',
    path: '/api/log/self/stream',
    access: 'user',
    query: z.object(ownTailFilter),
    media: 'text/event-stream',
    summary: "Stream the caller's own new logs as they are written, as server-sent events",
    description: tailDescription,
  }),
  purge: endpoint({
    method: 'DELETE',
    path: '/api/log/',
    access: 'admin',
    query: z.object({ target_timestamp: z.coerce.number<string>().check(z.int(), z.positive()) }),
    data: z.int(),
    summary: 'Delete the logs older than target_timestamp; returns how many',
  }),
}
