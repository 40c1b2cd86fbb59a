import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../store.ts'

/**
 * The part of a user's balance that processes have leased. It still belongs to the user. `id` is the column with the
 * user's id.
 */
export function leasedOfUser(id: string): RawBuilder<number> {
  return sql<number>`cast(coalesce((select sum(le.amount) from leases le where le.user_id = ${sql.ref(id)}), 0) as bigint)`
}

/** The part of a token's quota that processes have leased. `id` is the column with the token's id. */
export function leasedOfToken(id: string): RawBuilder<number> {
  return sql<number>`cast(coalesce((select sum(le.amount) from leases le
    where le.token_id = ${sql.ref(id)} and le.token_limited), 0) as bigint)`
}

/**
 * The unleased part of a balance after `delta` is added. It does not fall below zero, unless it already is below zero.
 */
export function afterDelta(column: 'quota' | 'remain_quota', delta: number): RawBuilder<number> {
  const left = sql.ref(column)
  const after = sql<number>`${left} + (${delta})`
  return delta >= 0
    ? after
    : sql<number>`case when ${after} >= 0 then ${after} when ${left} < 0 then ${left} else 0 end`
}

/** Adds the leased part to the balance of a user. */
export async function withLeasesOfUser<T extends { id: number; quota: number } | undefined>(
  db: Db,
  row: T,
): Promise<T> {
  if (!row) return row
  const { rows } = await sql<{ amount: number }>`
    select cast(coalesce(sum(amount), 0) as bigint) as amount from leases where user_id = ${row.id}`.execute(db)
  return { ...row, quota: row.quota + Number(rows[0]?.amount ?? 0) }
}

/** Adds the leased part to the quotas of tokens. */
export async function withLeasesOfTokens<T extends { id: number; remain_quota: number }>(
  db: Db,
  tokens: readonly T[],
): Promise<T[]> {
  if (tokens.length === 0) return []
  const { rows } = await sql<{ token_id: number; amount: number }>`
    select token_id, cast(sum(amount) as bigint) as amount from leases
    where token_limited and token_id in (${sql.join(tokens.map(({ id }) => id))}) group by token_id`.execute(db)
  if (rows.length === 0) return [...tokens]
  const leased = new Map(rows.map(({ token_id, amount }) => [Number(token_id), Number(amount)]))
  return tokens.map((token) => ({ ...token, remain_quota: token.remain_quota + (leased.get(token.id) ?? 0) }))
}
