import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import { policyChange } from '../installation/audit.ts'
import type { Store } from '../store.ts'
import { capFaults } from './cap-check.ts'

export interface BalanceFault {
  kind: 'user' | 'token' | 'channel' | 'usage' | 'cap'
  /** The id of the user, token, channel or cap. For faults of kind `usage`, the type of the log rows. */
  id: number
  text: string
}

export interface BalanceReport {
  faults: BalanceFault[]
  checked: { users: number; tokens: number; channels: number }
  openHolds: number
  openLeases: number
}

interface Figures {
  id: number
  used: number
  unlogged: number
  logged: number
  left: number
  held: number
  leased: number
  granted: number
}

/**
 * Checks that the balances and counts agree with the log. For every user, token and channel, used = logged + unlogged.
 * For users and tokens, granted = left + held + leased + used. The usage sums count exactly the log rows that exist.
 * The counts of the caps are correct (see `capFaults`). The checks can run while the server is running. Each is a
 * single statement that sees one snapshot, on SQLite and on PostgreSQL, and locks nothing.
 */
export async function balanceFaults(store: Store): Promise<BalanceReport> {
  const policy = await store.read
    .selectFrom('options')
    .select('value')
    .where('key', '=', 'QuotaPolicy')
    .executeTakeFirst()
  // Under the policy `compat`, which is that of one-api, a call may cost more than the balance. A balance that became
  // negative under it can stay negative after the policy has changed.
  const mayOverdraw = policy?.value === 'compat' || (await hasChangedPolicy(store))
  const { rows } = await balances.execute(store.read)
  const figures = rows.map((row) => ({
    ...row,
    logged: Number(row.logged),
    held: Number(row.held),
    leased: Number(row.leased),
    left: Number(row.left),
    granted: Number(row.granted),
    used: Number(row.used),
    unlogged: Number(row.unlogged),
  }))
  const of = (kind: string) => figures.filter((row) => row.kind === kind)
  return {
    faults: [
      ...(['user', 'token', 'channel'] as const).flatMap((kind) => faultsOf(kind, of(kind), mayOverdraw)),
      ...(await usageFaults(store)),
      ...(await capFaults(store)).map((fault) => ({ kind: 'cap' as const, ...fault })),
    ],
    checked: { users: of('user').length, tokens: of('token').length, channels: of('channel').length },
    openHolds: of('holds')[0]?.held ?? 0,
    openLeases: of('holds')[0]?.leased ?? 0,
  }
}

/**
 * One row for each user, token and channel, and one row with the numbers of open holds and leases. Channels have no
 * balance, only usage.
 */
const balances = sql<Figures & { kind: string }>`
  with spent as materialized (
    select user_id, token_id, channel_id, sum(quota) as quota from logs where type = ${logType.consume}
    group by user_id, token_id, channel_id
  ),
  by_user as (select user_id as id, sum(quota) as quota from spent group by user_id),
  by_token as (select token_id as id, sum(quota) as quota from spent group by token_id),
  by_channel as (select channel_id as id, sum(quota) as quota from spent group by channel_id),
  user_holds as (select user_id as id, sum(amount) as amount from holds group by user_id),
  token_holds as (select token_id as id, sum(amount) as amount from holds where token_limited group by token_id),
  user_leases as (select user_id as id, sum(amount) as amount from leases group by user_id),
  token_leases as (select token_id as id, sum(amount) as amount from leases where token_limited group by token_id)
  select 'user' as kind, a.id, a.used_quota as used, a.unlogged_quota as unlogged, coalesce(l.quota, 0) as logged,
    a.quota as "left", a.granted_quota as granted, coalesce(h.amount, 0) as held,
    coalesce(e.amount, 0) as leased
  from users a left join by_user l on l.id = a.id left join user_holds h on h.id = a.id
    left join user_leases e on e.id = a.id
  union all
  select 'token', a.id, a.used_quota, a.unlogged_quota, coalesce(l.quota, 0), a.remain_quota, a.granted_quota,
    coalesce(h.amount, 0), coalesce(e.amount, 0)
  from tokens a left join by_token l on l.id = a.id left join token_holds h on h.id = a.id
    left join token_leases e on e.id = a.id
  union all
  select 'channel', a.id, a.used_quota, a.unlogged_quota, coalesce(l.quota, 0), 0, a.used_quota, 0, 0
  from channels a left join by_channel l on l.id = a.id
  union all
  select 'holds', 0, 0, 0, 0, 0, 0, count(*), (select count(*) from leases) from holds
  order by 1, 2`

async function hasChangedPolicy({ read }: Store): Promise<boolean> {
  const change = await read
    .selectFrom('audit_events')
    .select('id')
    .where((event) => event.and(policyChange))
    .executeTakeFirst()
  return change !== undefined
}

function faultsOf(kind: BalanceFault['kind'], rows: readonly Figures[], mayOverdraw: boolean): BalanceFault[] {
  const faults: BalanceFault[] = []
  for (const row of rows) {
    if (row.used !== row.logged + row.unlogged) {
      faults.push({
        kind,
        id: row.id,
        text: `used ${row.used}, but the log rows sum to ${row.logged} and ${row.unlogged} are not in the log`,
      })
    }
    const sum = row.left + row.held + row.leased + row.used
    if (row.granted !== sum) {
      const leased = row.leased === 0 ? '' : ` + leased ${row.leased}`
      faults.push({
        kind,
        id: row.id,
        text: `granted ${row.granted}, but left ${row.left} + held ${row.held}${leased} + used ${row.used} = ${sum}`,
      })
    }
    if (row.leased < 0 || row.held < 0) faults.push({ kind, id: row.id, text: 'held or leased is below zero' })
    if (row.left < 0 && !mayOverdraw) faults.push({ kind, id: row.id, text: `the balance is below zero: ${row.left}` })
  }
  return faults
}

/**
 * The differences between the usage sums and the log rows. The console finds log rows through these sums, so a
 * difference means that some rows are not shown.
 */
async function usageFaults({ read }: Store): Promise<BalanceFault[]> {
  const { rows } = await sql<{ type: number; known: number; there: number }>`
    select type, cast(sum(known) as bigint) as known, cast(sum(there) as bigint) as there from (
      select s.type, u.log_rows as known, 0 as there from usage_series s join usage_hours u on u.series_id = s.id
      where s.kind = 'all'
      union all
      select l.type, 0, count(*) from logs l where l.id <= (select folded_to from usage_state) group by l.type
    ) compared group by type having sum(known) <> sum(there) order by type`.execute(read)
  return rows.map(({ type, known, there }) => ({
    kind: 'usage',
    id: type,
    text: `${known} log rows of this type are counted, but ${there} exist`,
  }))
}
