import type { Database, Statement } from 'bun:sqlite'
import { utcPeriods } from '../../lib/utc.ts'
import type {
  ExtendOp,
  HoldOp,
  LedgerOp,
  LedgerResult,
  LedgerStore,
  SettleOp,
  TakeResult,
} from '../schema/ledger-types.ts'
import type { WriteQueue } from '../statements/write-queue.ts'
import { addLogRow, holdColumns, insertInto, logColumns, prepareInserts, type RowValues } from './ledger-rows-sqlite.ts'
import {
  budgetRoom,
  type Counted,
  countCall,
  limitReached,
  minutesOf,
  prepareLimits,
  settleMinutes,
} from './limits-sqlite.ts'

/** The changes that a batch makes to one user. The balance is read only if something depends on it. */
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

interface Batch {
  users: Map<number, UserState>
  tokens: Map<number, TokenState>
  channels: Map<number, ChannelState>
  /** Time of the batch's charges, in epoch seconds. */
  chargedAt: number
  /** Rows that are written together, in the order of `logColumns` and `holdColumns`. */
  logs: RowValues
  holds: RowValues
}

type Statements = ReturnType<typeof prepare>

/**
 * The ledger on SQLite. Each batch is one transaction, and all statements are prepared. During the transaction, this
 * process is the only writer, so balances can be kept in memory from the first read to the last write of the batch.
 */
export function sqliteLedger(database: Database, queue: WriteQueue): LedgerStore {
  let statements: Statements | undefined

  function applyNow(ops: readonly LedgerOp[]): LedgerResult[] {
    // Prepared on first use, after the migrations have created the tables.
    statements ??= prepare(database)
    const results = new Array<LedgerResult>(ops.length)
    const batch = emptyBatch()
    statements.begin.run()
    try {
      ops.forEach((op, index) => {
        if (op.kind === 'settle') results[index] = settle(statements as Statements, batch, op)
      })
      ops.forEach((op, index) => {
        if (op.kind === 'extend') results[index] = extend(statements as Statements, batch, op)
      })
      ops.forEach((op, index) => {
        if (op.kind === 'hold') results[index] = hold(statements as Statements, batch, op)
      })
      writeHolds(statements, batch)
      statements.addLogs(batch.logs)
      writeBack(statements, batch)
      statements.commit.run()
    } catch (error) {
      // The transaction is already closed if COMMIT itself or a full disk ended it.
      if (database.inTransaction) statements.rollback.run()
      throw error
    }
    return results
  }

  return { apply: (ops) => queue.run(async () => applyNow(ops)) }
}

/**
 * Updates the amounts charged in the current UTC day and month: adds ?1 units, charged at time ?2. The day began at ?3
 * and the month at ?4.
 */
const spent = `spent_today = CASE WHEN spent_at >= ?3 THEN spent_today + ?1 ELSE ?1 END,
  spent_month = CASE WHEN spent_at >= ?4 THEN spent_month + ?1 ELSE ?1 END, spent_at = max(spent_at, ?2)`

function prepare(database: Database) {
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
    findHold: statement('SELECT token_limited FROM holds WHERE id = ?'),
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
    saveChannel: statement(
      'UPDATE channels SET used_quota = used_quota + ?, unlogged_quota = unlogged_quota + ? WHERE id = ?',
    ),
  }
}

function emptyBatch(): Batch {
  return { users: new Map(), tokens: new Map(), channels: new Map(), chargedAt: 0, logs: [], holds: [] }
}

function userOf(batch: Batch, id: number): UserState {
  let user = batch.users.get(id)
  if (!user) {
    user = { before: undefined, dQuota: 0, dUsed: 0, dRequests: 0, dUnlogged: 0 }
    batch.users.set(id, user)
  }
  return user
}

function tokenOf(batch: Batch, id: number): TokenState {
  let token = batch.tokens.get(id)
  if (!token) {
    token = { before: undefined, dRemain: 0, dUsed: 0, dGranted: 0, dUnlogged: 0, accessed: 0 }
    batch.tokens.set(id, token)
  }
  return token
}

/** The user's balance at this point in the batch; undefined if there is no such user. */
function quotaOf(statements: Statements, batch: Batch, id: number): number | undefined {
  const user = userOf(batch, id)
  if (user.before === undefined) user.before = (statements.user.get(id) as { quota: number } | null)?.quota ?? null
  return user.before === null ? undefined : user.before + user.dQuota
}

/** The token's balance at this point in the batch; undefined if there is no such token. */
function remainOf(
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

function channelOf(batch: Batch, id: number): ChannelState {
  const known = batch.channels.get(id) ?? { dUsed: 0, dUnlogged: 0 }
  batch.channels.set(id, known)
  return known
}

interface EndedHold {
  amount: number
  token_limited: number
  counted: number
  window_second: number
  window_tokens: number
}

/**
 * Deletes a hold and returns it; null if it no longer exists. If the values of the hold are known, they are not read
 * again, which halves the cost.
 */
function endHold(statements: Statements, batch: Batch, { id, tokenId, held }: SettleOp): EndedHold | null {
  const limited = remainOf(statements, batch, tokenId)?.unlimited === false ? 1 : 0
  if (held !== undefined && statements.endKnownHold.run(id, held, limited).changes === 1)
    return { amount: held, token_limited: limited, counted: 0, window_second: 0, window_tokens: 0 }
  return statements.endHold.get(id) as EndedHold | null
}

function settle(statements: Statements, batch: Batch, op: SettleOp): LedgerResult {
  const held = endHold(statements, batch, op)
  if (!held) return { charged: 0, found: false }
  if (held.counted > 0 && op.tokens !== undefined) {
    const { counted: mask, window_second: second, window_tokens: tokens } = held
    settleMinutes(statements.limits, op, { mask, second, tokens }, { tokens: op.tokens, at: op.at })
  }
  const limited = Boolean(held.token_limited)
  let back = held.amount - op.charge
  if (back < 0 && !op.mayGoNegative) {
    const quota = quotaOf(statements, batch, op.userId) ?? 0
    const remain = limited ? (remainOf(statements, batch, op.tokenId)?.remain ?? 0) : quota
    // This hold has already been deleted, so the budget's room includes its quota.
    const budget = op.limits && budgetRoom(statements.limits, op, op.limits, chargedBy(batch, op))
    const room = budget ? budget.room - held.amount : quota
    back = -Math.min(-back, Math.max(0, Math.min(quota, remain, room)))
  }
  const charged = held.amount - back
  const unlogged = op.log ? 0 : charged
  const user = userOf(batch, op.userId)
  user.dQuota += back
  user.dUsed += charged
  user.dRequests += op.requests
  user.dUnlogged += unlogged
  const token = tokenOf(batch, op.tokenId)
  if (limited) token.dRemain += back
  else token.dGranted += charged
  token.dUsed += charged
  token.dUnlogged += unlogged
  token.accessed = Math.max(token.accessed, op.at)
  batch.chargedAt = Math.max(batch.chargedAt, op.at)
  if (op.channelId !== 0) {
    const channel = channelOf(batch, op.channelId)
    channel.dUsed += charged
    channel.dUnlogged += unlogged
  }
  if (op.log) addLogRow(batch.logs, op.log, op.charge, charged)
  return { charged, found: true }
}

function take(statements: Statements, batch: Batch, op: HoldOp | ExtendOp, limited: boolean): TakeResult {
  const quota = quotaOf(statements, batch, op.userId)
  const remain = remainOf(statements, batch, op.tokenId)?.remain
  if (quota === undefined || remain === undefined) {
    return { ok: false, reason: 'gone', available: 0, othersOpen: false, used: 0 }
  }
  const refuse = (reason: 'user' | 'token', available: number): TakeResult => {
    writeHolds(statements, batch)
    const others =
      reason === 'user' ? statements.openUser.get(op.userId, op.id) : statements.openToken.get(op.tokenId, op.id)
    const { used } = (
      reason === 'user' ? statements.usedUser.get(op.userId) : statements.usedToken.get(op.tokenId)
    ) as { used: number }
    return { ok: false, reason, available: Math.max(0, available), othersOpen: others !== null, used }
  }
  if (limited && remain < op.minimum) return refuse('token', remain)
  if (quota < op.minimum) return refuse('user', quota)
  const budget = op.limits && budgetRoom(statements.limits, op, op.limits, chargedBy(batch, op))
  if (budget && budget.room < op.minimum) {
    const { owner, room, ...when } = budget
    return { ...refuse(owner, room), ...when }
  }
  const amount = Math.min(op.amount, quota, limited ? remain : op.amount, budget?.room ?? op.amount)
  userOf(batch, op.userId).dQuota -= amount
  if (limited) tokenOf(batch, op.tokenId).dRemain -= amount
  return { ok: true, amount }
}

/**
 * The amounts that the batch has charged to the token and the user so far. Their rows do not include these amounts yet.
 */
function chargedBy(batch: Batch, op: LedgerOp) {
  return { token: tokenOf(batch, op.tokenId).dUsed, user: userOf(batch, op.userId).dUsed }
}

function hold(statements: Statements, batch: Batch, op: HoldOp): TakeResult {
  const { limits } = op
  if (!limits) return plainHold(statements, batch, op)
  const minutes = minutesOf(statements.limits, op, limits)
  const reached = limitReached(statements.limits, op, limits, minutes)
  if (reached) return { ...reached, minutes }
  const result = plainHold(statements, batch, op, () => countCall(statements.limits, op, limits))
  return { ...result, minutes: result.ok ? minutesOf(statements.limits, op, limits) : minutes }
}

/**
 * Makes a hold whose limits, if there are any, are already checked. `count` counts the call once its quota is taken.
 */
function plainHold(statements: Statements, batch: Batch, op: HoldOp, count?: () => Counted): TakeResult {
  const limited = remainOf(statements, batch, op.tokenId)?.unlimited === false
  const result = take(statements, batch, op, limited)
  if (!result.ok) return result
  const row: RowValues = [
    op.id,
    op.userId,
    op.tokenId,
    result.amount,
    op.crashCharge,
    op.nodeId,
    op.createdAt,
    op.modelName,
    op.requestId,
    limited ? 1 : 0,
    op.crashRow?.channelId ?? 0,
    op.crashRow?.promptTokens ?? 0,
    op.crashRow?.completionTokens ?? 0,
  ]
  if (count) {
    const { mask, second, tokens } = count()
    statements.addCountedHold.run(...row, mask, second, tokens)
  } else {
    batch.holds.push(...row)
  }
  return result
}

const nothingTaken: TakeResult = { ok: true, amount: 0 }

function extend(statements: Statements, batch: Batch, op: ExtendOp): TakeResult {
  const held = statements.findHold.get(op.id) as { token_limited: number } | null
  if (!held) return { ok: false, reason: 'gone', available: 0, othersOpen: false, used: 0 }
  const result = op.amount === 0 ? nothingTaken : take(statements, batch, op, Boolean(held.token_limited))
  if (!result.ok) return result
  const { channelId = null, promptTokens = null, completionTokens = null } = op.crashRow ?? {}
  statements.growHold.run(result.amount, op.crashCharge, channelId, promptTokens, completionTokens, op.id)
  return result
}

/** Writes the holds that the batch has made so far, before a query reads what other calls hold. */
function writeHolds(statements: Statements, batch: Batch): void {
  statements.addHolds(batch.holds)
  batch.holds = []
}

function writeBack(statements: Statements, batch: Batch): void {
  const at = batch.chargedAt
  const { dayStart, monthStart } = utcPeriods(at)
  for (const [id, { dQuota, dUsed, dRequests, dUnlogged }] of batch.users) {
    if (dUsed !== 0) statements.chargeUser.run(dUsed, at, dayStart, monthStart, dQuota, dRequests, dUnlogged, id)
    else if (dQuota !== 0 || dRequests !== 0) statements.saveUser.run(dQuota, dRequests, id)
  }
  for (const [id, { dRemain, dUsed, dGranted, dUnlogged, accessed }] of batch.tokens) {
    if (dUsed !== 0) {
      statements.chargeToken.run(dUsed, at, dayStart, monthStart, dRemain, dGranted, dUnlogged, accessed, id)
    } else if (dRemain !== 0 || accessed !== 0) {
      statements.saveToken.run(dRemain, accessed, id)
    }
  }
  for (const [id, channel] of batch.channels) statements.saveChannel.run(channel.dUsed, channel.dUnlogged, id)
}
