import type { Database, Statement } from 'bun:sqlite'
import type { ExtendOp, HoldOp, LedgerOp, LedgerResult, LedgerStore, SettleOp, TakeResult } from './ledger-store.ts'
import type { WriteQueue } from './write-queue.ts'

/** Balances of the accounts a batch touches, read once and written back as differences at its end. */
interface UserState {
  quota: number
  dQuota: number
  dUsed: number
  dRequests: number
  dUnlogged: number
}

interface TokenState {
  remain: number
  unlimited: boolean
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
  users: Map<number, UserState | undefined>
  tokens: Map<number, TokenState | undefined>
  channels: Map<number, ChannelState>
}

type Statements = ReturnType<typeof prepare>

/**
 * The ledger on SQLite: one transaction per batch, all statements prepared. Within the transaction this process is the
 * only writer, so balances may be carried in memory from the first read to the last write of the batch.
 */
export function sqliteLedger(database: Database, queue: WriteQueue): LedgerStore {
  let statements: Statements | undefined

  function applyNow(ops: readonly LedgerOp[]): LedgerResult[] {
    // Prepared on first use, when the migrations have made the tables.
    statements ??= prepare(database)
    const results = new Array<LedgerResult>(ops.length)
    const batch: Batch = { users: new Map(), tokens: new Map(), channels: new Map() }
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
      writeBack(statements, batch)
      statements.commit.run()
    } catch (error) {
      // The transaction is already closed when COMMIT itself or a full disk ended it.
      if (database.inTransaction) statements.rollback.run()
      throw error
    }
    return results
  }

  return { apply: (ops) => queue.run(async () => applyNow(ops)) }
}

const logColumns = [
  'user_id',
  'created_at',
  'type',
  'content',
  'username',
  'token_name',
  'model_name',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'channel_id',
  'request_id',
  'elapsed_time',
  'is_stream',
  'system_prompt_reset',
  'token_id',
  'first_byte_time',
  'cached_tokens',
  'reasoning_tokens',
  'estimated',
  'outcome',
  'attempts',
] as const

function prepare(database: Database) {
  const statement = (sql: string): Statement => database.prepare(sql)
  return {
    begin: statement('BEGIN IMMEDIATE'),
    commit: statement('COMMIT'),
    rollback: statement('ROLLBACK'),
    user: statement('SELECT quota FROM users WHERE id = ?'),
    token: statement('SELECT remain_quota, unlimited_quota FROM tokens WHERE id = ?'),
    openUser: statement('SELECT 1 FROM holds WHERE user_id = ? AND id <> ? LIMIT 1'),
    openToken: statement('SELECT 1 FROM holds WHERE token_id = ? AND id <> ? LIMIT 1'),
    addHold: statement(
      `INSERT INTO holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id,
       token_limited) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    growHold: statement('UPDATE holds SET amount = amount + ?, crash_charge = ? WHERE id = ? RETURNING token_limited'),
    findHold: statement('SELECT token_limited FROM holds WHERE id = ?'),
    endHold: statement('DELETE FROM holds WHERE id = ? RETURNING amount, token_limited'),
    addLog: statement(`INSERT INTO logs (${logColumns.join(', ')}) VALUES (${logColumns.map(() => '?').join(', ')})`),
    saveUser: statement(
      `UPDATE users SET quota = quota + ?, used_quota = used_quota + ?, request_count = request_count + ?,
       unlogged_quota = unlogged_quota + ? WHERE id = ?`,
    ),
    saveToken: statement(
      `UPDATE tokens SET remain_quota = remain_quota + ?, used_quota = used_quota + ?,
       granted_quota = granted_quota + ?, unlogged_quota = unlogged_quota + ?,
       accessed_time = max(accessed_time, ?) WHERE id = ?`,
    ),
    saveChannel: statement(
      'UPDATE channels SET used_quota = used_quota + ?, unlogged_quota = unlogged_quota + ? WHERE id = ?',
    ),
  }
}

function userOf(statements: Statements, batch: Batch, id: number): UserState | undefined {
  if (!batch.users.has(id)) {
    const row = statements.user.get(id) as { quota: number } | null
    batch.users.set(id, row ? { quota: row.quota, dQuota: 0, dUsed: 0, dRequests: 0, dUnlogged: 0 } : undefined)
  }
  return batch.users.get(id)
}

function tokenOf(statements: Statements, batch: Batch, id: number): TokenState | undefined {
  if (!batch.tokens.has(id)) {
    const row = statements.token.get(id) as { remain_quota: number; unlimited_quota: number } | null
    batch.tokens.set(
      id,
      row
        ? {
            remain: row.remain_quota,
            unlimited: Boolean(row.unlimited_quota),
            dRemain: 0,
            dUsed: 0,
            dGranted: 0,
            dUnlogged: 0,
            accessed: 0,
          }
        : undefined,
    )
  }
  return batch.tokens.get(id)
}

function channelOf(batch: Batch, id: number): ChannelState {
  const known = batch.channels.get(id) ?? { dUsed: 0, dUnlogged: 0 }
  batch.channels.set(id, known)
  return known
}

function moveUser(user: UserState, units: number): void {
  user.quota += units
  user.dQuota += units
}

function moveToken(token: TokenState, units: number): void {
  token.remain += units
  token.dRemain += units
}

function settle(statements: Statements, batch: Batch, op: SettleOp): LedgerResult {
  const held = statements.endHold.get(op.id) as { amount: number; token_limited: number } | null
  if (!held) return { charged: 0, found: false }
  const user = userOf(statements, batch, op.userId)
  const token = tokenOf(statements, batch, op.tokenId)
  const limited = Boolean(held.token_limited)
  let back = held.amount - op.charge
  if (back < 0 && !op.mayGoNegative) {
    const cover = Math.min(user ? user.quota : 0, limited ? (token?.remain ?? 0) : Number.MAX_SAFE_INTEGER)
    back = -Math.min(-back, Math.max(0, cover))
  }
  const charged = held.amount - back
  const unlogged = op.log ? 0 : charged
  if (user) {
    moveUser(user, back)
    user.dUsed += charged
    user.dRequests += op.requests
    user.dUnlogged += unlogged
  }
  if (token) {
    if (limited) moveToken(token, back)
    else token.dGranted += charged
    token.dUsed += charged
    token.dUnlogged += unlogged
    token.accessed = Math.max(token.accessed, op.at)
  }
  if (op.channelId !== 0) {
    const channel = channelOf(batch, op.channelId)
    channel.dUsed += charged
    channel.dUnlogged += unlogged
  }
  if (op.log) {
    const row: Record<string, unknown> = { ...op.log, quota: charged }
    statements.addLog.run(...(logColumns.map((name) => row[name]) as never[]))
  }
  return { charged, found: true }
}

function take(statements: Statements, batch: Batch, op: HoldOp | ExtendOp, limited: boolean): TakeResult {
  const user = userOf(statements, batch, op.userId)
  const token = tokenOf(statements, batch, op.tokenId)
  if (!user || !token) return { ok: false, reason: 'gone', available: 0, othersOpen: false }
  const refuse = (reason: 'user' | 'token', available: number): TakeResult => {
    const others =
      reason === 'user' ? statements.openUser.get(op.userId, op.id) : statements.openToken.get(op.tokenId, op.id)
    return { ok: false, reason, available: Math.max(0, available), othersOpen: others !== null }
  }
  if (limited && token.remain < op.minimum) return refuse('token', token.remain)
  if (user.quota < op.minimum) return refuse('user', user.quota)
  const amount = Math.min(op.amount, user.quota, limited ? token.remain : op.amount)
  moveUser(user, -amount)
  if (limited) moveToken(token, -amount)
  return { ok: true, amount }
}

function hold(statements: Statements, batch: Batch, op: HoldOp): TakeResult {
  const token = tokenOf(statements, batch, op.tokenId)
  const limited = token !== undefined && !token.unlimited
  const result = take(statements, batch, op, limited)
  if (result.ok) {
    statements.addHold.run(
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
    )
  }
  return result
}

function extend(statements: Statements, batch: Batch, op: ExtendOp): TakeResult {
  const held = statements.findHold.get(op.id) as { token_limited: number } | null
  if (!held) return { ok: false, reason: 'gone', available: 0, othersOpen: false }
  const result = take(statements, batch, op, Boolean(held.token_limited))
  if (result.ok) statements.growHold.run(result.amount, op.crashCharge, op.id)
  return result
}

function writeBack(statements: Statements, batch: Batch): void {
  for (const [id, user] of batch.users) {
    if (user) statements.saveUser.run(user.dQuota, user.dUsed, user.dRequests, user.dUnlogged, id)
  }
  for (const [id, token] of batch.tokens) {
    if (token) {
      statements.saveToken.run(token.dRemain, token.dUsed, token.dGranted, token.dUnlogged, token.accessed, id)
    }
  }
  for (const [id, channel] of batch.channels) statements.saveChannel.run(channel.dUsed, channel.dUnlogged, id)
}
