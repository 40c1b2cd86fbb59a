import type { Database, Statement } from 'bun:sqlite'
import type { Limits } from '../../../contract/limits.ts'
import { utcPeriods } from '../../lib/utc.ts'
import type { HoldOp, LimitOwner, LimitReached, Minute, Minutes, OpLimits } from '../schema/ledger-types.ts'
import { windowSeconds } from './limits.ts'

// The rate limits and budgets of tokens and users on SQLite, within the ledger's transaction. Counts are written
// immediately, so that the next operation of the batch sees them. The numbers of open calls and the held quota are read
// from the table of holds.

/**
 * Bits of `holds.counted`: the call is counted as open, in the token's counts per minute, in the user's counts per
 * minute.
 */
const counted = { open: 1, token: 2, user: 4 } as const
/**
 * The wait in seconds that is reported to a call that asks for more tokens than the limit per minute. Waiting does not
 * help such a call, but every refusal must contain a wait.
 */
const neverSeconds = 60

/**
 * How a hold is counted: its value of `holds.counted`, and the second and number of tokens with which it is in the
 * per-minute counts.
 */
export interface Counted {
  mask: number
  second: number
  tokens: number
}

/** The amount that is left of the tightest budget; negative if more than the budget is already held or spent. */
export interface BudgetRoom {
  owner: LimitOwner
  budget: 'daily' | 'monthly'
  room: number
  retryAfter: number
}

type Ids = Pick<HoldOp, 'tokenId' | 'userId'>
type HoldLimits = NonNullable<HoldOp['limits']>
export type LimitStatements = ReturnType<typeof prepareLimits>

const owners = ['token', 'user'] as const
const idOf = (ids: Ids, owner: LimitOwner) => (owner === 'token' ? ids.tokenId : ids.userId)
const hasMinute = (limits: Limits | undefined) => limits !== undefined && (limits.rpm_limit > 0 || limits.tpm_limit > 0)

/**
 * Conditions for the counted open calls of a user and of a token. There is an index for each. The condition for a token
 * also contains the user, to whom all calls of the token belong.
 */
const ofUser = 'counted > 0 AND user_id = ?1'
const ofToken = `${ofUser} AND token_id = ?2`

export function prepareLimits(database: Database) {
  const statement = (sql: string): Statement => database.prepare(sql)
  return {
    minute: statement(
      `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(tokens), 0) AS tokens,
       max(CASE WHEN calls > 0 THEN second END) AS lastCall, max(CASE WHEN tokens > 0 THEN second END) AS lastToken
       FROM limit_windows WHERE owner = ? AND owner_id = ? AND second > ?`,
    ),
    seconds: statement(
      'SELECT second, calls, tokens FROM limit_windows WHERE owner = ? AND owner_id = ? AND second > ? ORDER BY second',
    ),
    add: statement(
      `INSERT INTO limit_windows (owner, owner_id, second, calls, tokens) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, tokens = tokens + excluded.tokens`,
    ),
    lower: statement(
      `UPDATE limit_windows SET tokens = max(0, tokens - ?) WHERE owner = ? AND owner_id = ? AND second = ?
       AND second > ?`,
    ),
    open: {
      token: statement(`SELECT count(*) AS calls FROM holds WHERE ${ofToken}`),
      user: statement(`SELECT count(*) AS calls FROM holds WHERE ${ofUser}`),
    },
    held: {
      token: statement(`SELECT coalesce(sum(amount), 0) AS held FROM holds WHERE ${ofToken}`),
      user: statement(`SELECT coalesce(sum(amount), 0) AS held FROM holds WHERE ${ofUser}`),
    },
    spent: {
      token: statement('SELECT spent_today, spent_month, spent_at FROM tokens WHERE id = ?'),
      user: statement('SELECT spent_today, spent_month, spent_at FROM users WHERE id = ?'),
    },
  }
}

function minuteOf(statements: LimitStatements, owner: LimitOwner, id: number, now: number): Minute {
  const row = statements.minute.get(owner, id, now - windowSeconds) as Record<'calls' | 'tokens', number> &
    Record<'lastCall' | 'lastToken', number | null>
  const reset = (last: number | null) => (last === null ? 0 : Math.max(0, last + windowSeconds - now))
  const { calls, tokens, lastCall, lastToken } = row
  return { calls, tokens, callsReset: reset(lastCall), tokensReset: reset(lastToken) }
}

/** The per-minute counts of the token and the user, for those of them that have a limit per minute. */
export function minutesOf(statements: LimitStatements, ids: Ids, limits: OpLimits): Minutes {
  const minutes: Minutes = {}
  for (const owner of owners) {
    if (hasMinute(limits[owner])) minutes[owner] = minuteOf(statements, owner, idOf(ids, owner), limits.at)
  }
  return minutes
}

/** The first limit that a hold would exceed; undefined if there is none. Does not check budgets. */
export function limitReached(
  statements: LimitStatements,
  ids: Ids,
  limits: HoldLimits,
  minutes: Minutes,
): LimitReached | undefined {
  for (const owner of owners) {
    const reached = limits[owner] && reachedBy(statements, owner, ids, limits[owner], limits, minutes[owner])
    if (reached) return reached
  }
  return undefined
}

function reachedBy(
  statements: LimitStatements,
  owner: LimitOwner,
  ids: Ids,
  { rpm_limit, tpm_limit, concurrency_limit }: Limits,
  { at: now, tokens: callTokens }: HoldLimits,
  { calls, tokens }: Pick<Minute, 'calls' | 'tokens'> = { calls: 0, tokens: 0 },
): LimitReached | undefined {
  const refuse = (limit: LimitReached['limit'], most: number, retryAfter: number): LimitReached => ({
    ok: false,
    reason: 'limit',
    limit,
    owner,
    most,
    retryAfter,
  })
  const wait = (needCalls: number, needTokens: number) =>
    waitFor(statements, owner, idOf(ids, owner), now, needCalls, needTokens)
  if (rpm_limit > 0 && calls >= rpm_limit) return refuse('requests', rpm_limit, wait(calls + 1 - rpm_limit, 0))
  if (tpm_limit > 0 && callTokens > tpm_limit - tokens)
    return refuse('tokens', tpm_limit, wait(0, tokens + callTokens - tpm_limit))
  if (concurrency_limit > 0 && countOpen(statements, owner, ids) >= concurrency_limit)
    return refuse('concurrency', concurrency_limit, 1)
  return undefined
}

function countOpen({ open }: LimitStatements, owner: LimitOwner, { userId, tokenId }: Ids): number {
  const row = owner === 'token' ? open.token.get(userId, tokenId) : open.user.get(userId)
  return (row as { calls: number }).calls
}

/** The number of seconds until at least `needCalls` calls and `needTokens` tokens are no longer in the last minute. */
function waitFor(
  statements: LimitStatements,
  owner: LimitOwner,
  id: number,
  now: number,
  needCalls: number,
  needTokens: number,
): number {
  let [calls, tokens] = [0, 0]
  const rows = statements.seconds.all(owner, id, now - windowSeconds) as Record<'second' | 'calls' | 'tokens', number>[]
  for (const row of rows) {
    calls += row.calls
    tokens += row.tokens
    if (calls >= needCalls && tokens >= needTokens) return row.second + windowSeconds - now
  }
  return neverSeconds
}

/**
 * Adds a call to the per-minute counts of the token and the user that have a limit per minute. The caller stores the
 * result in the hold.
 */
export function countCall(statements: LimitStatements, ids: Ids, limits: HoldLimits): Counted {
  let mask: number = counted.open
  for (const owner of owners) {
    if (!hasMinute(limits[owner])) continue
    mask += counted[owner]
    statements.add.run(owner, idOf(ids, owner), limits.at, 1, limits.tokens)
  }
  return { mask, second: limits.at, tokens: limits.tokens }
}

/**
 * Replaces the tokens that a call has reserved in the per-minute counts with the tokens that it used. If it used more
 * than it reserved, the excess counts as used at the time `at` of the settle.
 */
export function settleMinutes(
  statements: LimitStatements,
  ids: Ids,
  hold: Counted,
  { tokens, at }: { tokens: number; at: number },
): void {
  const more = tokens - hold.tokens
  if (more === 0) return
  for (const owner of owners) {
    if ((hold.mask & counted[owner]) === 0) continue
    if (more < 0) statements.lower.run(-more, owner, idOf(ids, owner), hold.second, at - windowSeconds)
    else statements.add.run(owner, idOf(ids, owner), at, 0, more)
  }
}

/**
 * The tightest of the token's and the user's budgets, and what is left of it; undefined if there are no budgets.
 * `pending` contains the units that the batch has charged but not yet written to the rows of the token and the user.
 */
export function budgetRoom(
  statements: LimitStatements,
  ids: Ids,
  limits: OpLimits,
  pending: Record<LimitOwner, number>,
): BudgetRoom | undefined {
  let tightest: BudgetRoom | undefined
  for (const owner of owners) {
    const { daily_budget = 0, monthly_budget = 0 } = limits[owner] ?? {}
    if (daily_budget === 0 && monthly_budget === 0) continue
    const id = idOf(ids, owner)
    const row = statements.spent[owner].get(id) as Record<'spent_today' | 'spent_month' | 'spent_at', number> | null
    const heldRow = owner === 'token' ? statements.held.token.get(ids.userId, id) : statements.held.user.get(id)
    const taken = (heldRow as { held: number }).held + pending[owner]
    const { dayStart, nextDay, monthStart, nextMonth } = utcPeriods(limits.at)
    const today = row && row.spent_at >= dayStart ? row.spent_today : 0
    const month = row && row.spent_at >= monthStart ? row.spent_month : 0
    const daily = {
      owner,
      budget: 'daily',
      room: daily_budget - today - taken,
      retryAfter: nextDay - limits.at,
    } as const
    const monthly = {
      owner,
      budget: 'monthly',
      room: monthly_budget - month - taken,
      retryAfter: nextMonth - limits.at,
    } as const
    if (daily_budget > 0 && (!tightest || daily.room < tightest.room)) tightest = daily
    if (monthly_budget > 0 && (!tightest || monthly.room < tightest.room)) tightest = monthly
  }
  return tightest
}
