import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Db } from '../store.ts'
import { exactRows } from './usage-exact.ts'
import type { RowFilter } from './usage-series.ts'

/** The sums of the log rows of one type. The rows of calls are also divided by model. */
export interface StatementPart {
  type: number
  model: string
  requests: number
  quota: number
  prompt_tokens: number
  completion_tokens: number
  /** For calls with a known cost: what they cost the operator, and the charges minus this cost. */
  cost: number
  margin: number
}

/** The figures from which a statement is made, all from one moment. */
export interface StatementFigures {
  /** The current balance, including the amount in the holds of open calls. */
  balance: number
  held: number
  granted: number
  used: number
  /** The time at which the account was created, in epoch seconds. */
  createdAt: number
  /** The changes in the month, the changes after the month, and all changes since the account was created. */
  inside: StatementPart[]
  later: StatementPart[]
  ever: StatementPart[]
  /** The time (epoch seconds) since which the log rows of admin changes and bonuses have an amount. */
  amountsSince: number
}

type Row = StatementPart & {
  part: 'inside' | 'later' | 'ever' | 'user' | 'since'
  held: number
  granted: number
  used: number
}

/**
 * Reads the figures for a user's statement with one query, which sees one snapshot. Undefined if there is no such user.
 */
export async function statementFigures(
  db: Db,
  ask: { userId: number; start: number; end: number },
): Promise<StatementFigures | undefined> {
  const { userId, start, end } = ask
  const filter: RowFilter = { userId }
  const figures = ['requests', 'quota', 'prompt_tokens', 'completion_tokens', 'cost', 'margin'] as const
  const part = (name: Row['part'], range: { start: number; end: number }) => sql`
    select ${sql.lit(name)} as part, g as type, h as model, cast(sum(requests) as bigint) as requests,
      cast(sum(quota) as bigint) as quota, cast(sum(prompt_tokens) as bigint) as prompt_tokens,
      cast(sum(completion_tokens) as bigint) as completion_tokens, cast(sum(cost) as bigint) as cost,
      cast(sum(margin) as bigint) as margin, 0 as held, 0 as granted, 0 as used
    from (${exactRows({ filter, group: 'type', second: 'model_name', figures, ...range })}) ${sql.raw(name)} group by g, h`
  const { rows } = await sql<Row>`
    ${part('inside', { start, end })}
    union all ${part('later', { start: end + 1, end: 0 })}
    union all ${part('ever', { start: 0, end: 0 })}
    union all select 'user', 0, '', u.created_time,
      cast(u.quota + coalesce((select sum(e.amount) from leases e where e.user_id = u.id), 0) as bigint), 0, 0, 0, 0,
      cast(coalesce((select sum(h.amount) from holds h where h.user_id = u.id), 0) as bigint), u.granted_quota, u.used_quota
      from users u where u.id = ${userId}
    union all select 'since', 0, '', 0, m.applied_at, 0, 0, 0, 0, 0, 0, 0 from schema_migrations m
      where m.name = '0013-account-amounts'`.execute(db)
  const user = rows.find((row) => row.part === 'user')
  if (!user) return undefined
  const of = (name: Row['part']) => rows.filter((row) => row.part === name)
  return {
    balance: user.quota + user.held,
    held: user.held,
    granted: user.granted,
    used: user.used,
    createdAt: user.requests,
    inside: of('inside'),
    later: of('later'),
    ever: of('ever'),
    amountsSince: of('since')[0]?.quota ?? 0,
  }
}

/** The sum of the changes of some types. */
export function sumOf(parts: readonly StatementPart[], ...types: number[]): number {
  return parts.reduce((sum, { type, quota }) => sum + (types.includes(type) ? quota : 0), 0)
}

/** The types of log rows that change a balance, except calls. */
export const givingTypes = [logType.topUp, logType.manage, logType.system] as const
