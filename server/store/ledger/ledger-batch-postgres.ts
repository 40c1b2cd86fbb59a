import type { ExtendOp, HoldOp, LedgerOp, LogRow, SettleOp } from '../schema/ledger-types.ts'
import { numbers, texts, toJson } from './parameters-postgres.ts'

/**
 * The parameters of `tollgate_batch` for a batch, and the indexes of its settles and of its takes (extensions and
 * holds) in the batch.
 */
interface PackedBatch {
  values: (string | number | null)[]
  settles: number[]
  takes: number[]
}

const flags = { mayGoNegative: 1, isRequest: 2, hasLog: 4 } as const

/** Converts any batch to the parameters of `tollgate_batch`. */
export function pack(ops: readonly LedgerOp[]): PackedBatch {
  const settles: number[] = []
  const extends_: number[] = []
  const holds: number[] = []
  for (const [place, { kind }] of ops.entries())
    (kind === 'settle' ? settles : kind === 'extend' ? extends_ : holds).push(place)
  const takes = [...extends_, ...holds]
  const users = new Ids()
  const tokens = new Ids()
  const channels = new Ids()
  for (const op of ops) {
    users.add(op.userId)
    tokens.add(op.tokenId)
    if (op.channelId) channels.add(op.channelId)
    if ('placedOn' in op && op.placedOn) channels.add(op.placedOn)
  }
  const lists = { users: users.sort(), tokens: tokens.sort(), channels: channels.sort() }
  return {
    values: [
      lists.users.list,
      lists.tokens.list,
      lists.channels.list,
      ...settleValues(
        settles.map((place) => ops[place] as SettleOp),
        lists,
      ),
      extends_.length,
      ...takeValues(
        takes.map((place) => ops[place] as HoldOp | ExtendOp),
        lists,
      ),
    ],
    settles,
    takes,
  }
}

interface Lists {
  users: SortedIds
  tokens: SortedIds
  channels: SortedIds
}

function settleValues(ops: readonly SettleOp[], { users, tokens, channels }: Lists): (string | null)[] {
  const logs: LogRow[] = []
  const logSettles: number[] = []
  for (const [at, { log }] of ops.entries()) {
    if (!log) continue
    logs.push(log)
    logSettles.push(at + 1)
  }
  return [
    texts(ops.map(({ id }) => id)),
    numbers(ops.map(({ userId }) => users.placeOf(userId))),
    numbers(ops.map(({ tokenId }) => tokens.placeOf(tokenId))),
    numbers(ops.map(({ channelId }) => channels.placeOf(channelId))),
    numbers(ops.map(({ charge }) => charge)),
    numbers(ops.map(flagsOf)),
    numbers(ops.map(({ at }) => at)),
    numbers(logSettles),
    logs.length > 0 ? toJson(logs) : null,
    more(ops, ({ limits, tokens: used, cost }) => {
      const hasAny = limits || used !== undefined || cost !== undefined
      return hasAny && { limits, tokens: used, cost }
    }),
  ]
}

function flagsOf({ mayGoNegative, requests, log }: SettleOp): number {
  return (mayGoNegative ? flags.mayGoNegative : 0) | (requests ? flags.isRequest : 0) | (log ? flags.hasLog : 0)
}

function takeValues(ops: readonly (HoldOp | ExtendOp)[], { users, tokens }: Lists): (string | null)[] {
  const holdTexts = (pick: (op: HoldOp) => string) => texts(ops.map((op) => (op.kind === 'hold' ? pick(op) : null)))
  return [
    texts(ops.map(({ id }) => id)),
    numbers(ops.map(({ userId }) => users.placeOf(userId))),
    numbers(ops.map(({ tokenId }) => tokens.placeOf(tokenId))),
    numbers(ops.map(({ amount }) => amount)),
    numbers(ops.map(({ minimum }) => minimum)),
    numbers(ops.map(({ crashCharge }) => crashCharge)),
    numbers(ops.map(({ crashRow }) => crashRow?.channelId)),
    numbers(ops.map(({ crashRow }) => crashRow?.promptTokens)),
    numbers(ops.map(({ crashRow }) => crashRow?.completionTokens)),
    holdTexts(({ nodeId }) => nodeId),
    numbers(ops.map((op) => (op.kind === 'hold' ? op.createdAt : null))),
    holdTexts(({ modelName }) => modelName),
    holdTexts(({ requestId }) => requestId),
    more(ops, moreOfTake),
  ]
}

function moreOfTake(op: HoldOp | ExtendOp) {
  const { limits, caps, channelId } = op
  const leaves = op.kind === 'extend' ? op.leaves : undefined
  if (!limits && !caps && !leaves) return undefined
  return { limits, caps, channelId, leaves, nodeId: op.kind === 'hold' ? op.nodeId : undefined }
}

/**
 * A JSON array with the values that only few operations have. It has one element for each operation, which is null if
 * the operation has no such values. Null instead of an array if no operation has any.
 */
function more<T>(ops: readonly T[], pick: (op: T) => object | undefined | false): string | null {
  let isEmpty = true
  const each = ops.map((op) => {
    const picked = pick(op)
    if (!picked) return null
    isEmpty = false
    return picked
  })
  return isEmpty ? null : toJson(each)
}

/** Collects ids without duplicates. */
class Ids {
  readonly #seen = new Set<number>()

  add(id: number): void {
    this.#seen.add(id)
  }

  sort(): SortedIds {
    return new SortedIds([...this.#seen].sort((one, other) => one - other))
  }
}

/** Ids in ascending order, which is the order in which their rows are locked. */
class SortedIds {
  readonly list: string
  readonly #places = new Map<number, number>()

  constructor(ids: readonly number[]) {
    this.list = numbers(ids)
    for (const [at, id] of ids.entries()) this.#places.set(id, at + 1)
  }

  /** The position of an id in the list, from 1; 0 if it is not in the list. */
  placeOf(id: number): number {
    return this.#places.get(id) ?? 0
  }
}
