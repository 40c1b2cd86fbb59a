import type { Population } from './seed.ts'

/** One HTTP request, made by root or by a user who reads their own log. */
export interface LogCase {
  name: string
  path: string
  as: 'root' | 'busy'
}

const daySeconds = 86_400

/**
 * Requests to the endpoints for the log, its statistics and usage: one with each filter, and ones with the combinations
 * of filters that are used in practice.
 */
export function logCases(of: Population): LogCase[] {
  const model = (name: string) => `model_name=${name}`
  const user = (name: string) => `username=${name}`
  const token = (name: string) => `token_name=${name}`
  const time = (from: number, to: number) => `start_timestamp=${of.end - from}&end_timestamp=${of.end - to}`
  const last = (days: number) => `start_timestamp=${of.end - days * daySeconds}&end_timestamp=${of.end + 3600}`
  const filters: [string, string][] = [
    ['no filter', ''],
    ['type 2', 'type=2'],
    ['type 3', 'type=3'],
    ['type 5 (none)', 'type=5'],
    ['busy user', user(of.busyUser)],
    ['quiet user', user(of.quietUser)],
    ['busy token', token(of.busyToken)],
    ['quiet token', token(of.quietToken)],
    ['busy model', model(of.busyModel)],
    ['quiet model', model(of.quietModel)],
    ['model that is not there', model('none')],
    ['channel', `channel=${of.channel}`],
    ['one hour, 60 days ago', time(60 * daySeconds + 1800, 60 * daySeconds - 1800)],
    ['30 days to the second', time(40 * daySeconds + 17, 10 * daySeconds + 5)],
    ['user and model', `${user(of.busyUser)}&${model(of.quietModel)}`],
    ['channel and model', `channel=1&${model(of.busyModel)}`],
    ['all together', `${user(of.busyUser)}&${token(of.busyToken)}&${model(of.busyModel)}&channel=1&type=2&${last(30)}`],
  ]
  const root = (name: string, path: string): LogCase => ({ name, path, as: 'root' })
  const own = (name: string, path: string): LogCase => ({ name, path, as: 'busy' })
  const usage = (name: string, query: string) => root(`usage: ${name}`, `/api/usage/?${query}`)
  return [
    ...filters.map(([name, query]) => root(`list: ${name}`, `/api/log/?${query}`)),
    root('list: page 50,000', '/api/log/?p=49999'),
    root('list: page 5,000 of a model', `/api/log/?p=4999&${model(of.busyModel)}`),
    root('list: 100 rows, the oldest first', '/api/log/?size=100&sort=id&order=asc'),
    root('list: most quota first', '/api/log/?sort=quota'),
    own('own list', '/api/log/self'),
    own('own list: page 500', '/api/log/self?p=499'),
    own('own list: quiet model', `/api/log/self?${model(of.quietModel)}`),
    own('own list: longest first', '/api/log/self?sort=elapsed_time'),
    ...filters.map(([name, query]) => root(`stat: ${name}`, `/api/log/stat?${query}`)),
    own('own stat', '/api/log/self/stat'),
    own(
      'own stat: model, 30 days to the second',
      `/api/log/self/stat?${model(of.busyModel)}&${time(40 * daySeconds + 17, 5)}`,
    ),
    root('histogram: all', '/api/log/histogram'),
    root('histogram: model, 7 days', `/api/log/histogram?${model(of.busyModel)}&${last(7)}&utc_offset=480`),
    root('histogram: two hours by the minute', `/api/log/histogram?${time(7200, 0)}&buckets=120`),
    root('search', '/api/log/search?keyword=quota%20set'),
    root('search: id of a request', `/api/log/search?keyword=${of.requestId}`),
    root('search: id of no request', `/api/log/search?keyword=${of.missingId}`),
    usage('all time by day', ''),
    usage('all time by day and model', 'group_by=model'),
    usage('all time by day and token', 'group_by=token'),
    usage('all time by day and user, compared', `group_by=user&compare=previous&${last(45)}`),
    usage('all time by day and channel, durations', 'group_by=channel&metric=duration'),
    usage('40 days by hour and model', `group_by=model&rollup=hour&${last(40)}`),
    usage('40 days by hour and user', `group_by=user&rollup=hour&${last(40)}`),
    usage('all time by week and token, UTC+8', 'group_by=token&rollup=week&utc_offset=480'),
    usage('all time by month and model, UTC−5', 'group_by=model&rollup=month&utc_offset=-300'),
    usage('of a model by user', `group_by=user&${model(of.busyModel)}`),
    usage('of a model by user, UTC+8', `group_by=user&utc_offset=480&${model(of.busyModel)}`),
    usage('of a channel by model', `group_by=model&channel=${of.channel}`),
    usage('of a user by model, UTC+8', `group_by=model&utc_offset=480&${user(of.busyUser)}`),
    usage('of a token by hour, 7 days', `rollup=hour&${token(of.busyToken)}&${last(7)}`),
    usage('top 50 tokens', 'group_by=token&top=50&metric=requests'),
    own('own usage by model', '/api/usage/?group_by=model'),
    own('own usage by token and hour, 30 days', `/api/usage/?group_by=token&rollup=hour&${last(30)}`),
    own('own dashboard', '/api/user/dashboard'),
  ]
}
