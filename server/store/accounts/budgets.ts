import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Limits } from '../../../contract/limits.ts'
import { logType } from '../../../contract/log-types.ts'
import { tokenStatus, userStatus } from '../../../contract/statuses.ts'
import type { Db } from '../store.ts'
import { usageRows } from '../usage/usage-rows.ts'
import { hourSeconds, kindFor } from '../usage/usage-series.ts'
import { leasedOfToken, leasedOfUser } from './leased.ts'

/** A limit on spending, how much of it is used, and how fast it is being used. */
export interface BudgetRow {
  owner: 'user' | 'token'
  period: 'total' | 'day' | 'month'
  user_id: number
  username: string
  token_id: number
  token_name: string
  from_group: string
  most: number
  used: number
  share: number
  /** Quota units per second. */
  rate: number
  /** Seconds until the limit is reached at this rate; null if the period ends earlier or if nothing is being spent. */
  seconds: number | null
  matching: number
}

export interface BudgetAsk {
  /** Only limits of this user; 0 = all. */
  userId: number
  owner?: BudgetRow['owner'] | undefined
  period?: BudgetRow['period'] | undefined
  /** Only limits of which at least this share is used, from 0 to 1. */
  share?: number | undefined
  /** Only limits that will be reached within this time. */
  withinSeconds?: number | undefined
  keyword: string
  groupLimits: ReadonlyMap<string, Limits>
  now: number
  /** The starts and ends of the current UTC day and month, in epoch seconds. */
  periods: { dayStart: number; nextDay: number; monthStart: number; nextMonth: number }
  paceSeconds: number
  sort: BudgetSort
  descending: boolean
  offset: number
  limit: number
}

const sorts = {
  share: 'share',
  runs_out: 'coalesce(seconds, 1e18)',
  limit: 'most',
  used: 'used',
  left: 'most - used',
  pace: 'rate',
  name: 'lower(username)',
} as const

export type BudgetSort = keyof typeof sorts

/** The shortest time over which a rate is computed. A younger account or token is treated as one day old. */
const leastPaceSeconds = 86_400

/** One page of all limits on spending. The rates are computed from the usage sums, in the same snapshot. */
export async function listBudgets(db: Db, ask: BudgetAsk): Promise<BudgetRow[]> {
  const direction = sql.raw(ask.descending ? 'desc' : 'asc')
  const { rows } = await sql<BudgetRow>`
    with user_paces as materialized (${paces(ask, 'user_id')}),
    token_paces as materialized (${paces(ask, 'token_id')}),
    people as (${people(ask)}),
    keys as (${keys(ask)}),
    found as (${sql.join(parts(ask), sql` union all `)}),
    shared as (
      select found.*, cast(case when most <= 0 then 1.0 else 1.0 * used / most end as double precision) as share,
        cast(case when most - used <= 0 then 0.0 when rate = 0 then null else (most - used) / rate end as double precision) as until
      from found
    ),
    dated as (
      select shared.*, case when period = 'day' and until > ${sql.lit(ask.periods.nextDay - ask.now)}
        or period = 'month' and until > ${sql.lit(ask.periods.nextMonth - ask.now)} then null else until end as seconds
      from shared
    )
    select dated.*, cast(count(*) over () as bigint) as matching from dated where ${matching(ask)}
    order by ${sql.raw(sorts[ask.sort])} ${direction}, rate desc, username, token_id, period
    limit ${ask.limit} offset ${ask.offset}`.execute(db)
  return rows
}

/** The spending of each user or token within the last `paceSeconds`. */
function paces({ userId, now, paceSeconds }: BudgetAsk, group: 'user_id' | 'token_id'): RawBuilder<unknown> {
  const filter = { type: logType.consume, ...(userId > 0 && { userId }) }
  const to = Math.floor(now / hourSeconds) + 1
  const range = { from: to - Math.floor(paceSeconds / hourSeconds), to }
  const rows = usageRows({ kind: kindFor(filter, [group]), filter, range, group, figures: ['quota'], callsOnly: true })
  return sql`select g as id, cast(sum(quota) as bigint) as spent from (${rows}) hours group by g`
}

/** The rate of an account or a token, over the last `paceSeconds` or, if it is younger, since its creation. */
function rate({ now, paceSeconds }: BudgetAsk, created: string): RawBuilder<unknown> {
  const age = `${now} - ${created}`
  const seconds = `case when ${age} >= ${paceSeconds} then ${paceSeconds} when ${age} < ${leastPaceSeconds} then ${leastPaceSeconds} else ${age} end`
  return sql.raw(`cast(1.0 * coalesce(p.spent, 0) / (${seconds}) as double precision)`)
}

const spent = ({ periods }: BudgetAsk, alias: string) =>
  sql.raw(
    `case when ${alias}.spent_at >= ${periods.dayStart} then ${alias}.spent_today else 0 end as today,
     case when ${alias}.spent_at >= ${periods.monthStart} then ${alias}.spent_month else 0 end as month`,
  )

/** The limit of a user's group; 0 if it has none. */
function groupLimit({ groupLimits }: BudgetAsk, name: 'daily_budget' | 'monthly_budget'): RawBuilder<unknown> {
  const cases = [...groupLimits].filter(([, limits]) => limits[name] > 0)
  if (cases.length === 0) return sql`0`
  const whens = cases.map(([group, limits]) => sql`when ${group} then cast(${limits[name]} as bigint)`)
  return sql`case u."group" ${sql.join(whens, sql` `)} else 0 end`
}

function people(ask: BudgetAsk): RawBuilder<unknown> {
  return sql`
    select u.id, u.username, u."group", u.quota + ${leasedOfUser('u.id')} as quota, u.granted_quota, u.used_quota, u.daily_budget, u.monthly_budget,
      ${groupLimit(ask, 'daily_budget')} as group_day, ${groupLimit(ask, 'monthly_budget')} as group_month,
      ${spent(ask, 'u')}, ${rate(ask, 'u.created_time')} as rate
    from users u left join user_paces p on p.id = u.id
    where u.status = ${userStatus.enabled} and ${ask.userId > 0 ? sql`u.id = ${ask.userId}` : sql`true`}`
}

function keys(ask: BudgetAsk): RawBuilder<unknown> {
  return sql`
    select t.id, t.name, t.user_id, u.username, t.unlimited_quota, t.granted_quota, t.remain_quota + ${leasedOfToken('t.id')} as remain_quota, t.daily_budget,
      t.monthly_budget, ${spent(ask, 't')}, ${rate(ask, 't.created_time')} as rate
    from tokens t join people u on u.id = t.user_id left join token_paces p on p.id = t.id
    where t.status in (${tokenStatus.enabled}, ${tokenStatus.exhausted})
      and (t.unlimited_quota = false or t.daily_budget > 0 or t.monthly_budget > 0)`
}

/** A query for each kind of limit. */
function parts(ask: BudgetAsk): RawBuilder<unknown>[] {
  const ofUser = (period: BudgetRow['period'], own: string, figures: string) =>
    sql.raw(
      `select 'user' as owner, '${period}' as period, id as user_id, username, 0 as token_id, '' as token_name, ${own} as from_group,
      ${figures}, rate from people where`,
    )
  const ofToken = (period: BudgetRow['period'], figures: string) =>
    sql.raw(
      `select 'token' as owner, '${period}' as period, user_id, username, id as token_id, name as token_name, '' as from_group,
      ${figures}, rate from keys where`,
    )
  const budget = (own: string, group: string, used: string) =>
    `case when ${own} > 0 then ${own} else ${group} end as most, ${used} as used`
  const source = (own: string) => `case when ${own} > 0 then '' else "group" end`
  const all = {
    user: {
      // Accounts that never had a balance are not listed, because no balance can run out.
      total: sql`${ofUser('total', "''", 'quota + month as most, month as used')} granted_quota <> 0 or used_quota <> 0 or quota <> 0`,
      day: sql`${ofUser('day', source('daily_budget'), budget('daily_budget', 'group_day', 'today'))} daily_budget > 0 or group_day > 0`,
      month: sql`${ofUser('month', source('monthly_budget'), budget('monthly_budget', 'group_month', 'month'))} monthly_budget > 0 or group_month > 0`,
    },
    token: {
      total: sql`${ofToken('total', 'granted_quota as most, granted_quota - remain_quota as used')} unlimited_quota = false`,
      day: sql`${ofToken('day', 'daily_budget as most, today as used')} daily_budget > 0`,
      month: sql`${ofToken('month', 'monthly_budget as most, month as used')} monthly_budget > 0`,
    },
  }
  const owners = ask.owner === undefined ? (['user', 'token'] as const) : [ask.owner]
  const periods = ask.period === undefined ? (['total', 'day', 'month'] as const) : [ask.period]
  return owners.flatMap((owner) => periods.map((period) => all[owner][period]))
}

function matching({ keyword, share, withinSeconds }: BudgetAsk): RawBuilder<SqlBool> {
  const conditions: RawBuilder<SqlBool>[] = []
  if (share !== undefined) conditions.push(sql`share >= ${sql.lit(share)}`)
  if (withinSeconds !== undefined) conditions.push(sql`seconds <= ${sql.lit(withinSeconds)}`)
  if (keyword !== '') {
    const pattern = `%${keyword.replace(/[\\%_]/g, (mark) => `\\${mark}`)}%`
    const has = (column: string) => sql<SqlBool>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`
    conditions.push(sql`(${has('username')} or ${has('token_name')})`)
  }
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}
