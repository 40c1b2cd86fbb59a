import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { UsageFigures } from '../schema/usage-tables.ts'

/** Columns that log rows and series have in common. */
export const dimensions = ['type', 'user_id', 'token_id', 'channel_id', 'model_name', 'username', 'token_name'] as const

export type Dimension = (typeof dimensions)[number]

/** What usage can be grouped by: a dimension, or the current project of the row's token. */
export type Grouping = Dimension | 'project'

/**
 * The dimensions that each kind of series distinguishes. Kinds with fewer series come first. Every log row is counted
 * in one series of each kind, so that, for example, a query about models does not have to add up the figures of single
 * tokens.
 */
export const seriesKinds = {
  all: ['type'],
  route: ['type', 'model_name', 'channel_id'],
  user: ['type', 'user_id', 'username'],
  user_model: ['type', 'user_id', 'username', 'model_name'],
  token: ['type', 'user_id', 'username', 'token_id', 'token_name'],
  call: dimensions,
} as const satisfies Record<string, readonly Dimension[]>

export type SeriesKind = keyof typeof seriesKinds

/** The figures, in the order of the tables' columns. */
export const figureColumns = [
  'requests',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'failed',
  'elapsed_time',
  'first_byte_time',
  'first_byte_count',
  'cost',
  'margin',
] as const satisfies readonly (keyof UsageFigures)[]

/** The SQL expression for the amount that a log row adds to each figure. */
export const figureOfRow: Readonly<Record<keyof UsageFigures, string>> = {
  requests: '1',
  quota: 'l.quota',
  prompt_tokens: 'l.prompt_tokens',
  completion_tokens: 'l.completion_tokens',
  cached_tokens: 'l.cached_tokens',
  failed: "case when l.outcome in ('failed', 'interrupted') then 1 else 0 end",
  elapsed_time: 'l.elapsed_time',
  first_byte_time: 'l.first_byte_time',
  first_byte_count: 'case when l.first_byte_time > 0 then 1 else 0 end',
  cost: 'coalesce(l.cost, 0)',
  margin: 'case when l.cost is null then 0 else l.quota - l.cost end',
}

/**
 * A filter for log rows. Fields that are absent, 0, '' or an empty list are ignored. If a field has several values, a
 * row must have one of them. A row must have none of the values of a `not_` field.
 */
export interface RowFilter {
  userId?: number
  type?: number
  username?: Values<string>
  not_username?: Values<string>
  token_name?: Values<string>
  not_token_name?: Values<string>
  /** The current project of the row's token; see `projectOf`. */
  project?: Values<string>
  not_project?: Values<string>
  model_name?: Values<string>
  not_model_name?: Values<string>
  channel?: Values<number>
  not_channel?: Values<number>
  /** The current group of the row's token or user; see `groupOf`. */
  group?: Values<string>
  not_group?: Values<string>
}

type Values<T> = T | readonly T[]

const filtered = [
  ['user_id', 'userId', undefined],
  ['type', 'type', undefined],
  ['username', 'username', 'not_username'],
  ['token_name', 'token_name', 'not_token_name'],
  ['model_name', 'model_name', 'not_model_name'],
  ['channel_id', 'channel', 'not_channel'],
] as const satisfies readonly (readonly [Dimension, keyof RowFilter, keyof RowFilter | undefined])[]

function listOf(values: Values<string | number> | undefined): readonly (string | number)[] {
  return [values ?? []].flat().filter((value) => value !== 0 && value !== '')
}

/** The values that a filter requires and excludes, by column. Columns without such values are omitted. */
function conditionsOf(filter: RowFilter) {
  return filtered.flatMap(([column, key, notKey]) => {
    const wanted = listOf(filter[key])
    const excluded = notKey === undefined ? [] : listOf(filter[notKey])
    return wanted.length + excluded.length === 0 ? [] : [{ column, wanted, excluded }]
  })
}

/** The columns that a filter restricts. */
export function filteredColumns(filter: RowFilter): Dimension[] {
  const own = conditionsOf(filter).map(({ column }) => column)
  if (hasGroups(filter)) return [...own, 'user_id', 'token_id']
  return hasProjects(filter) ? [...own, 'token_id'] : own
}

/** True if a filter requires or excludes groups of users or tokens. */
function hasGroups({ group, not_group }: RowFilter): boolean {
  return listOf(group).length + listOf(not_group).length > 0
}

/** True if a filter requires or excludes projects of tokens. */
function hasProjects({ project, not_project }: RowFilter): boolean {
  return listOf(project).length + listOf(not_project).length > 0
}

/** The part of a filter that only the database can check, because rows have neither groups nor projects. */
export function lookedUp(filter: RowFilter): RowFilter | undefined {
  if (!hasGroups(filter) && !hasProjects(filter)) return undefined
  const { group = [], not_group = [], project = [], not_project = [] } = filter
  return { group, not_group, project, not_project }
}

/**
 * The current group of a row with the columns `user_id` and `token_id`: the token's own group or, if it has none, the
 * user's group. Empty for rows whose user no longer exists.
 */
export function groupOf(alias: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return sql<string>`coalesce((select nullif(t."group", '') from tokens t where t.id = ${column('token_id')}),
    (select u."group" from users u where u.id = ${column('user_id')}), '')`
}

/**
 * The current project of a row with the column `token_id`; empty if the token has no project or no longer exists.
 */
function projectOf(alias: string): RawBuilder<string> {
  return sql<string>`coalesce((select t.project from tokens t where t.id = ${sql.ref(`${alias}.token_id`)}), '')`
}

/** What a row is grouped by, as an SQL expression. */
export function groupingOf(alias: string, column: Grouping): RawBuilder<unknown> {
  return column === 'project' ? projectOf(alias) : sql.ref(`${alias}.${column}`)
}

function lookUpConditions(alias: string, filter: RowFilter): RawBuilder<unknown>[] {
  const { group, not_group, project, not_project } = filter
  const among = (found: RawBuilder<string>, wanted: Values<string> = [], excluded: Values<string> = []) => [
    ...(listOf(wanted).length > 0 ? [sql`${found} in (${sql.join(listOf(wanted))})`] : []),
    ...(listOf(excluded).length > 0 ? [sql`${found} not in (${sql.join(listOf(excluded))})`] : []),
  ]
  return [...among(groupOf(alias), group, not_group), ...among(projectOf(alias), project, not_project)]
}

/** The filter as a condition on log rows, series or a channel's failures. `alias` is their name in the query. */
export function matches(alias: 'l' | 's' | 'f', filter: RowFilter): RawBuilder<SqlBool> {
  const own = conditionsOf(filter).flatMap(({ column, wanted, excluded }) => {
    const ref = sql.ref(`${alias}.${column}`)
    return [
      ...(wanted.length === 1 ? [sql`${ref} = ${wanted[0]}`] : []),
      ...(wanted.length > 1 ? [sql`${ref} in (${sql.join(wanted)})`] : []),
      ...(excluded.length > 0 ? [sql`${ref} not in (${sql.join(excluded)})`] : []),
    ]
  })
  // A channel's failures have neither users nor tokens, so they are never queried by group or project.
  const parts = alias === 'f' ? own : [...own, ...lookUpConditions(alias, filter)]
  return parts.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(parts, sql` and `)}`
}

/** True if a row matches the filter. Groups and projects are not checked, because the row does not contain them. */
export function rowMatches(row: Readonly<Record<Dimension, string | number>>, filter: RowFilter): boolean {
  return conditionsOf(filter).every(
    ({ column, wanted, excluded }) =>
      (wanted.length === 0 || wanted.includes(row[column])) && !excluded.includes(row[column]),
  )
}

/** The first kind of series in `seriesKinds` that distinguishes the dimensions of the filter and `columns`. */
export function kindFor(filter: RowFilter, columns: readonly Grouping[] = []): SeriesKind {
  const needed = [...columns.map((column) => (column === 'project' ? 'token_id' : column)), ...filteredColumns(filter)]
  const kinds = Object.entries(seriesKinds) as [SeriesKind, readonly Dimension[]][]
  return kinds.find(([, kindColumns]) => needed.every((column) => kindColumns.includes(column)))?.[0] ?? 'call'
}

const state = (column: string) => sql.raw(`(select ${column} from usage_state)`)

/**
 * The condition for rows that are not counted in hours yet. The second bound is higher than all ids. It makes
 * PostgreSQL's planner expect a small range, which is usually correct.
 */
export const uncounted = sql<SqlBool>`l.id > ${state('folded_to')} and l.id < ${state(`folded_to + ${2 ** 52}`)}`

/** Days before `daysTo` have been summed up, and weeks before `weeksTo`. */
export const daysTo = state('days_to')
export const weeksTo = state('weeks_to')

/**
 * The condition that the range contains all days that have been summed up, and begins no later than the first day that
 * has not been summed up. In this case, the totals of the series can be used instead of the hours before `daysTo`.
 */
export function holdsAllDays({ from, to }: HourRange): RawBuilder<SqlBool> {
  return sql<SqlBool>`(select coalesce(first_slot >= ${from}, true) and days_to >= ${Math.ceil(from / dayHours)}
    and days_to <= ${Math.floor(to / dayHours)} from usage_state)`
}

export const hourSeconds = 3600
export const dayHours = 24
export const weekDays = 7

/** A range of hours since 1970. The end is exclusive. */
export interface HourRange {
  from: number
  to: number
}

/**
 * Joins the series `s`, the days `d` that have hourly sums, and the hourly sums `u`, and begins the WHERE clause. With
 * cross joins, SQLite reads the tables in this order.
 */
export function hoursOf({ from, to }: HourRange): RawBuilder<unknown> {
  return sql`cross join usage_dates d cross join usage_hours u
    where u.day = d.day and u.series_id = s.id and u.slot >= ${from} and u.slot < ${to}
      and d.day >= ${Math.floor(from / dayHours)} and d.day <= ${Math.floor((to - 1) / dayHours)}`
}
