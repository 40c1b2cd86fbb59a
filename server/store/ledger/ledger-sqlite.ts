import type { Database } from 'bun:sqlite'
import { utcPeriods } from '../../lib/utc.ts'
import type {
  ChannelFull,
  ExtendOp,
  HoldOp,
  LedgerOp,
  LedgerResult,
  LedgerStore,
  SettleOp,
  SettleResult,
  TakeResult,
} from '../schema/ledger-types.ts'
import type { WriteQueue } from '../statements/write-queue.ts'
import {
  type Asking,
  countPlace,
  findPlace,
  freePlaces,
  growPlace,
  joinLine,
  restorePlaces,
  roomToGrow,
  settlePlaces,
} from './caps-sqlite.ts'
import {
  type Batch,
  channelOf,
  emptyBatch,
  prepareLedger,
  quotaOf,
  remainOf,
  type Statements,
  tokenOf,
  userOf,
} from './ledger-batch-sqlite.ts'
import { logRowOf, type RowValues } from './ledger-rows-sqlite.ts'
import { budgetRoom, type Counted, countCall, limitReached, minutesOf, settleMinutes } from './limits-sqlite.ts'

/**
 * The ledger on SQLite. Each batch is one transaction, and all statements are prepared. During the transaction, no
 * other process can write to the database. Balances are therefore read only once, changed in memory, and written at the
 * end of the batch.
 */
export function sqliteLedger(database: Database, queue: WriteQueue): LedgerStore {
  let statements: Statements | undefined

  function applyNow(ops: readonly LedgerOp[]): LedgerResult[] {
    // The statements are prepared on first use, because the migrations must have created the tables.
    statements ??= prepareLedger(database)
    const results = new Array<LedgerResult>(ops.length)
    const batch = emptyBatch()
    statements.begin.run()
    try {
      ops.forEach((op, index) => {
        if (op.kind === 'settle') results[index] = settle(statements as Statements, batch, op)
      })
      saveChannels(statements, batch, ops, results)
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

/** The bit of `holds.counted` which is set if the call has a place on a channel with caps. */
const hasPlace = 8

interface EndedHold {
  amount: number
  token_limited: number
  counted: number
  window_second: number
  window_tokens: number
}

/**
 * Deletes a hold and returns it; null if it no longer exists. If the caller knows the amount of the hold (`held`), and
 * the hold is not counted in any limit or cap, the row is deleted without being read, which takes half the time.
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
    // The row of this hold has already been deleted, so `budget.room` includes the amount of the hold, which is
    // subtracted again.
    const budget = op.limits && budgetRoom(statements.limits, op, op.limits, chargedBy(batch, op))
    const room = budget ? budget.room - held.amount : quota
    back = -Math.min(-back, Math.max(0, Math.min(quota, remain, room)))
  }
  if (held.counted & hasPlace) batch.placed = (batch.placed ?? new Set<string>()).add(op.id)
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
  if (op.log) batch.logs.push(logRowOf(op.log, op.charge, charged))
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
 * The amounts that the batch has charged to the token and the user so far. The rows of the token and the user do not
 * include them yet.
 */
function chargedBy(batch: Batch, op: LedgerOp) {
  return { token: tokenOf(batch, op.tokenId).dUsed, user: userOf(batch, op.userId).dUsed }
}

function hold(statements: Statements, batch: Batch, op: HoldOp): TakeResult {
  const ask = askedBy(op, op.createdAt)
  if (!ask) return uncappedHold(statements, batch, op)
  const found = findPlace(statements.caps, ask)
  if ('reason' in found) return ownRefusal(statements, batch, op) ?? joinLine(statements.caps, ask, found, op.nodeId)
  const amount = Math.min(op.amount, found.room)
  const result = uncappedHold(statements, batch, { ...op, amount, minimum: Math.min(op.minimum, amount) })
  if (!result.ok) return result
  writeHolds(statements, batch)
  countPlace(statements.caps, ask, found.whose, result.amount)
  return { ...result, part: found.part }
}

/** An operation's request for a place; undefined if its channel has no caps. */
function askedBy({ id, caps, channelId }: HoldOp | ExtendOp, at: number): Asking | undefined {
  return caps && channelId !== undefined ? { id, caps, channelId, at } : undefined
}

/**
 * The reason to refuse a call because of the limits, quota or budgets of its token or user; undefined if there is none.
 * It takes precedence over the refusal of a full channel.
 */
function ownRefusal(statements: Statements, batch: Batch, op: HoldOp): TakeResult | undefined {
  const { limits, minimum } = op
  const minutes = limits && minutesOf(statements.limits, op, limits)
  const reached = limits && minutes && limitReached(statements.limits, op, limits, minutes)
  if (reached) return { ...reached, minutes }
  const quota = quotaOf(statements, batch, op.userId) ?? -1
  const token = remainOf(statements, batch, op.tokenId)
  const remain = token && (token.unlimited ? quota : token.remain)
  const room = limits && budgetRoom(statements.limits, op, limits, chargedBy(batch, op))?.room
  if (Math.min(quota, remain ?? -1, room ?? quota) >= minimum) return undefined
  return take(statements, batch, op, token?.unlimited === false)
}

function uncappedHold(statements: Statements, batch: Batch, op: HoldOp): TakeResult {
  const { limits } = op
  if (!limits) return plainHold(statements, batch, op)
  const minutes = minutesOf(statements.limits, op, limits)
  const reached = limitReached(statements.limits, op, limits, minutes)
  if (reached) return { ...reached, minutes }
  const result = plainHold(statements, batch, op, () => countCall(statements.limits, op, limits))
  return { ...result, minutes: result.ok ? minutesOf(statements.limits, op, limits) : minutes }
}

/**
 * Makes a hold without checking its limits, which the caller has already checked. `count` is called after the quota is
 * taken, and counts the call in its limits.
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
    batch.holds.push(row)
  }
  return result
}

const nothingTaken: TakeResult = { ok: true, amount: 0 }

function extend(statements: Statements, batch: Batch, op: ExtendOp): TakeResult {
  const held = statements.findHold.get(op.id) as Pick<EndedHold, 'amount' | 'token_limited' | 'counted'> | null
  if (!held) return { ok: false, reason: 'gone', available: 0, othersOpen: false, used: 0 }
  const at = op.at ?? 0
  if (op.caps || op.leaves) return move(statements, batch, op, held)
  if (op.amount === 0 || !(held.counted & hasPlace)) return grow(statements, batch, op, held)
  const room = roomToGrow(statements.caps, op, at)
  if (room < op.minimum) return noRoomToGrow
  const result = grow(statements, batch, { ...op, amount: Math.min(op.amount, room) }, held)
  if (result.ok && result.amount > 0) growPlace(statements.caps, op, result.amount)
  return result
}

/** The result of an extension if the channel's caps leave too few units for the call. */
const noRoomToGrow: ChannelFull = {
  ok: false,
  reason: 'full',
  cap: 0,
  metric: 'quota',
  retryAfter: 1,
  othersOpen: true,
  never: false,
}

function grow(
  statements: Statements,
  batch: Batch,
  op: ExtendOp,
  { token_limited }: Pick<EndedHold, 'token_limited'>,
): TakeResult {
  const result = op.amount === 0 ? nothingTaken : take(statements, batch, op, Boolean(token_limited))
  if (!result.ok) return result
  const { channelId = null, promptTokens = null, completionTokens = null } = op.crashRow ?? {}
  statements.growHold.run(result.amount, op.crashCharge, channelId, promptTokens, completionTokens, op.id)
  return result
}

/**
 * Moves a call to another channel or key. If no more quota can be taken, the call still moves, with the amount that it
 * already holds. The caller decides whether that is enough.
 */
function move(
  statements: Statements,
  batch: Batch,
  op: ExtendOp,
  held: Pick<EndedHold, 'amount' | 'token_limited'>,
): TakeResult {
  const { caps } = statements
  const freed = freePlaces(caps, op.id)
  const ask = askedBy(op, op.at ?? 0)
  if (!ask) {
    caps.unmarkHold.run(op.id)
    return grow(statements, batch, op, held)
  }
  const whole = { ...ask, caps: { ...ask.caps, least: Math.max(ask.caps.least, held.amount) } }
  const found = findPlace(caps, whole, new Set(freed.map(({ cap_id }) => cap_id)))
  if ('reason' in found) {
    restorePlaces(caps, freed)
    return found
  }
  const wanted = { ...op, amount: Math.min(op.amount, found.room - held.amount) }
  let result = grow(statements, batch, wanted, held)
  if (!result.ok) result = grow(statements, batch, { ...op, amount: 0 }, held)
  const amount = result.ok ? result.amount : 0
  countPlace(caps, ask, found.whose, held.amount + amount)
  return { ok: true, amount, part: found.part }
}

/** Writes the holds that the batch has made so far. It must be called before a query reads the table of holds. */
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
}

/** Writes the amounts charged on the channels, and settles the places of the calls that have ended. */
function saveChannels(
  statements: Statements,
  batch: Batch,
  ops: readonly LedgerOp[],
  results: readonly LedgerResult[],
): void {
  let capped: Set<number> | undefined
  for (const [id, channel] of batch.channels) {
    if (statements.saveUncapped.run(channel.dUsed, channel.dUnlogged, id).changes > 0) continue
    // A channel that has been deleted in the meantime changes no row.
    if (statements.saveCapped.run(channel.dUsed, channel.dUnlogged, id).changes > 0)
      capped = (capped ?? new Set<number>()).add(id)
  }
  if (!capped && !batch.placed) return
  for (const [index, op] of ops.entries()) {
    if (op.kind !== 'settle') continue
    const { found, charged } = results[index] as SettleResult
    const isCapped = capped?.has(op.channelId) === true
    if (found && (isCapped || batch.placed?.has(op.id))) settlePlaces(statements.caps, op, charged, isCapped)
  }
}
