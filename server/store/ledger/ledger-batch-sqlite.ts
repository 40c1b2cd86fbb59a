import type { Database, Statement } from 'bun:sqlite'
import { prepareCaps } from './caps-sqlite.ts'
import { holdColumns, insertInto, logColumns, prepareInserts, type RowValues } from './ledger-rows-sqlite.ts'
import { prepareLimits } from './limits-sqlite.ts'

// The changes of a ledger batch on SQLite, and the statements that read and write them.

/** The changes that a batch makes to one user. The balance is read only if an operation needs it. */
interface UserState {
  /** The balance before the batch; undefined until it is read, null if there is no such user. */
  before: number | null | undefined
  dQuota: number
  dUsed: number
  dRequests: number
  dUnlogged: number
}

interface TokenState {
  before: { remain: number; unlimited: boolean } | null | undefined
  dRemain: number
  dUsed: number
  dGranted: number
  dUnlogged: number
  accessed: number
}

interface ChannelState {
  dUsed: number
  dUnlogged: number
}

/** The changes that a batch has made so far. */
export interface Batch {
  users: Map<number, UserState>
  tokens: Map<number, TokenState>
  channels: Map<number, ChannelState>
  /** The time of the batch's charges, in epoch seconds. */
  chargedAt: number
  /** Rows that are written together, in the order of `logColumns` and `holdColumns`. */
  logs: RowValues[]
  holds: RowValues[]
  /** The ids of ended holds that had a place on a channel with caps. */
  placed: Set<string> | undefined
}

export type Statements = ReturnType<typeof prepareLedger>

/**
 * Adds ?1 units, charged at time ?2, to the amounts charged in the current UTC day and month. The day began at ?3 and
 * the month at ?4.
 */
const spent = `spent_today = CASE WHEN spent_at >= ?3 THEN spent_today + ?1 ELSE ?1 END,
  spent_month = CASE WHEN spent_at >= ?4 THEN spent_month + ?1 ELSE ?1 END, spent_at = max(spent_at, ?2)`

/** Adds charges to a channel. Its values: the amount charged, the part of it that has no log row, the channel's id. */
const chargeChannel =
  'UPDATE channels SET used_quota = used_quota + ?, unlogged_quota = unlogged_quota + ? WHERE id = ?'

/** The prepared statements of the ledger. */
export function prepareLedger(database: Database) {
  const statement = (sql: string): Statement => database.prepare(sql)
  return {
    begin: statement('BEGIN IMMEDIATE'),
    commit: statement('COMMIT'),
    rollback: statement('ROLLBACK'),
    user: statement('SELECT quota FROM users WHERE id = ?'),
    token: statement('SELECT remain_quota, unlimited_quota FROM tokens WHERE id = ?'),
    usedUser: statement('SELECT used_quota AS used FROM users WHERE id = ?'),
    usedToken: statement('SELECT used_quota AS used FROM tokens WHERE id = ?'),
    openUser: statement('SELECT 1 FROM holds WHERE user_id = ? AND id <> ? LIMIT 1'),
    openToken: statement('SELECT 1 FROM holds WHERE token_id = ? AND id <> ? LIMIT 1'),
    addHolds: prepareInserts(database, 'holds', holdColumns),
    addCountedHold: statement(insertInto('holds', [...holdColumns, 'counted', 'window_second', 'window_tokens'])),
    growHold: statement(
      `UPDATE holds SET amount = amount + ?, crash_charge = ?, channel_id = coalesce(?, channel_id),
       prompt_tokens = coalesce(?, prompt_tokens), completion_tokens = coalesce(?, completion_tokens) WHERE id = ?`,
    ),
    findHold: statement('SELECT amount, token_limited, counted FROM holds WHERE id = ?'),
    endKnownHold: statement('DELETE FROM holds WHERE id = ? AND amount = ? AND token_limited = ? AND counted = 0'),
    endHold: statement(
      'DELETE FROM holds WHERE id = ? RETURNING amount, token_limited, counted, window_second, window_tokens',
    ),
    addLogs: prepareInserts(database, 'logs', logColumns),
    saveUser: statement('UPDATE users SET quota = quota + ?, request_count = request_count + ? WHERE id = ?'),
    chargeUser: statement(
      `UPDATE users SET quota = quota + ?5, used_quota = used_quota + ?1, request_count = request_count + ?6,
       unlogged_quota = unlogged_quota + ?7, ${spent} WHERE id = ?8`,
    ),
    saveToken: statement(
      'UPDATE tokens SET remain_quota = remain_quota + ?, accessed_time = max(accessed_time, ?) WHERE id = ?',
    ),
    chargeToken: statement(
      `UPDATE tokens SET remain_quota = remain_quota + ?5, used_quota = used_quota + ?1,
       granted_quota = granted_quota + ?6, unlogged_quota = unlogged_quota + ?7,
       accessed_time = max(accessed_time, ?8), ${spent} WHERE id = ?9`,
    ),
    limits: prepareLimits(database),
    caps: prepareCaps(database),
    // Most channels have no caps. Without RETURNING, a statement takes a third of the time.
    saveUncapped: statement(`${chargeChannel} AND capped = 0`),
    saveCapped: statement(`${chargeChannel} AND capped > 0`),
  }
}

/** An empty batch. */
export function emptyBatch(): Batch {
  return {
    users: new Map(),
    tokens: new Map(),
    channels: new Map(),
    chargedAt: 0,
    logs: [],
    holds: [],
    placed: undefined,
  }
}

/** The changes that the batch makes to a user. */
export function userOf(batch: Batch, id: number): UserState {
  let user = batch.users.get(id)
  if (!user) {
    user = { before: undefined, dQuota: 0, dUsed: 0, dRequests: 0, dUnlogged: 0 }
    batch.users.set(id, user)
  }
  return user
}

/** The changes that the batch makes to a token. */
export function tokenOf(batch: Batch, id: number): TokenState {
  let token = batch.tokens.get(id)
  if (!token) {
    token = { before: undefined, dRemain: 0, dUsed: 0, dGranted: 0, dUnlogged: 0, accessed: 0 }
    batch.tokens.set(id, token)
  }
  return token
}

/** The user's balance after the changes that the batch has made so far; undefined if there is no such user. */
export function quotaOf(statements: Statements, batch: Batch, id: number): number | undefined {
  const user = userOf(batch, id)
  if (user.before === undefined) user.before = (statements.user.get(id) as { quota: number } | null)?.quota ?? null
  return user.before === null ? undefined : user.before + user.dQuota
}

/** The token's balance after the changes that the batch has made so far; undefined if there is no such token. */
export function remainOf(
  statements: Statements,
  batch: Batch,
  id: number,
): { remain: number; unlimited: boolean } | undefined {
  const token = tokenOf(batch, id)
  if (token.before === undefined) {
    const row = statements.token.get(id) as { remain_quota: number; unlimited_quota: number } | null
    token.before = row && { remain: row.remain_quota, unlimited: Boolean(row.unlimited_quota) }
  }
  if (token.before === null) return undefined
  return { remain: token.before.remain + token.dRemain, unlimited: token.before.unlimited }
}

/** The changes that the batch makes to a channel. */
export function channelOf(batch: Batch, id: number): ChannelState {
  const known = batch.channels.get(id) ?? { dUsed: 0, dUnlogged: 0 }
  batch.channels.set(id, known)
  return known
}
