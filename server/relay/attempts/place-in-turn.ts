import { ChannelIsFull } from '../../billing/channel-place.ts'
import type { Hold } from '../../billing/ledger.ts'
import { limitError } from '../../billing/limits.ts'
import { GatewayError } from '../../errors.ts'
import type { ChannelFull } from '../../store/schema/ledger-types.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { noteHealth } from '../failures/note-health.ts'
import { nextPriced, type PricedChannel, takeQuota } from './next-channel.ts'
import { placeFor, withPlace } from './place.ts'

/**
 * The channel of a call, and the quota taken for it. If the channel has caps, a place on the channel is reserved for
 * the call.
 */
export interface Placed extends PricedChannel {
  hold: Hold
}

/** The most calls that wait in one process. Each of them keeps its body in memory. */
const mostWaiting = 10_000
/**
 * The Retry-After in seconds for a call that alone exceeds the cap of every channel. Waiting does not help such a call.
 */
const neverSeconds = 60

interface Turn {
  /** The call's number in the queue of waiting calls: 0 until it is in the queue, undefined if it does not wait. */
  ticket: number | undefined
}

/**
 * Gets a place and the quota for a call whose `first` channel has caps. A full channel does not count as a failure, and
 * the next channel is tried. If all channels are full, calls wait in their order of arrival, without holding quota, for
 * at most the time in the option ChannelWaitTime. Throws GatewayError (channels_full, and the errors of `Ledger.hold`).
 */
export async function placeInTurn(
  deps: RelayDeps,
  call: AnyCall,
  tried: ReadonlySet<number>,
  first?: PricedChannel,
): Promise<Placed> {
  // A call that may continue with another step (another model of its virtual model) does not wait.
  const waitMs = call.step?.next.has('overloaded') ? 0 : deps.settings().ChannelWaitTime * 1000
  const turn: Turn = { ticket: waitMs > 0 && deps.line.waiting() < mostWaiting ? 0 : undefined }
  let placed: Placed | undefined
  try {
    const found = await tryAll(deps, call, tried, turn, first)
    placed = Array.isArray(found) ? await wait(deps, call, tried, turn, found, waitMs) : found
    return placed
  } finally {
    // If the ledger gave the call a place, the ledger has also removed the call from the queue of waiting calls.
    if (turn.ticket && !placed?.hold.placedOn) deps.leaveLine(turn.ticket)
  }
}

async function wait(
  deps: RelayDeps,
  call: AnyCall,
  tried: ReadonlySet<number>,
  turn: Turn,
  found: ChannelFull[],
  waitMs: number,
): Promise<Placed> {
  let full = found
  const { ticket } = turn
  if (ticket && full.some((each) => mayEndWithin(each, waitMs))) {
    refuseCrowd(deps, call)
    const { signal, caller } = call
    const startedAtMs = deps.clock.nowMs()
    const name = [...new Set(full.map(({ cap }) => cap))].sort((a, b) => a - b).join(' ')
    const deadlineMs = startedAtMs + waitMs
    const placed = await deps.line.wait(name, { ticket, deadlineMs, signal, tokenId: caller.tokenId }, async () => {
      const again = await tryAll(deps, call, tried, turn)
      if (!Array.isArray(again)) return again
      full = again
      return undefined
    })
    call.state.waitedMs = (call.state.waitedMs ?? 0) + Math.round(deps.clock.nowMs() - startedAtMs)
    if (placed) return placed
  }
  const last = call.leaving.hasLeft ? full : await tryAll(deps, call, tried, turn, undefined, true)
  if (!Array.isArray(last)) return last
  throw fullError(call, last)
}

/**
 * Throws if the number of the token's waiting calls has reached the limit of its open calls, so that one token cannot
 * fill the queue.
 */
function refuseCrowd({ line }: RelayDeps, { caller: { limits, tokenId } }: AnyCall): void {
  const most = limits?.token?.concurrency_limit ?? 0
  if (most > 0 && line.waiting(tokenId) >= most)
    throw limitError({ ok: false, reason: 'limit', limit: 'concurrency', owner: 'token', most, retryAfter: 1 }, 0)
}

/**
 * True if a full channel may have a free place for the call within the waiting time, either because time passes or
 * because other calls end.
 */
function mayEndWithin({ metric, never, othersOpen, retryAfter }: ChannelFull, waitMs: number): boolean {
  if (never) return false
  return metric === 'calls' || retryAfter * 1000 <= waitMs || (othersOpen && metric !== 'requests')
}

/**
 * Tries all suitable channels, the best first. If all are full, returns the limit that each has reached. After a full
 * channel, a channel that is paused or has an open breaker is skipped, because it is better to wait for a healthy
 * channel. With `restsToo`, such a channel is tried as well.
 */
async function tryAll(
  deps: RelayDeps,
  call: AnyCall,
  tried: ReadonlySet<number>,
  turn: Turn,
  first?: PricedChannel,
  restsToo = false,
): Promise<Placed | ChannelFull[]> {
  const passed = new Set(tried)
  const full: ChannelFull[] = []
  for (let next = first ?? nextPriced(deps, call, passed); ; next = nextPriced(deps, call, passed)) {
    if (next instanceof GatewayError) {
      if (full.length === 0) throw next
      return full
    }
    const { channel } = next
    passed.add(channel.id)
    const { model } = call.facts
    const isSkipped =
      full.length > 0 && !restsToo && (deps.breaker.isOpen(channel.id, model) || deps.rests.isResting(channel, model))
    const found = isSkipped ? undefined : await tryOne(deps, call, next, turn)
    if (found && 'hold' in found) return found
    noteHealth(deps, { channel, call }, 'undecided')
    if (found) full.push(found)
    if (call.caller.chosenChannel) return full
  }
}

async function tryOne(deps: RelayDeps, call: AnyCall, next: PricedChannel, turn: Turn): Promise<Placed | ChannelFull> {
  const wish = placeFor(deps, call, next, turn)
  try {
    const hold = await takeQuota(deps, call, next, wish)
    return { ...next, channel: wish ? withPlace(next.channel, wish, hold) : next.channel, hold }
  } catch (error) {
    if (error instanceof ChannelIsFull) {
      turn.ticket = error.full.ticket ?? turn.ticket
      return error.full
    }
    noteHealth(deps, { channel: next.channel, call }, 'undecided')
    throw error
  }
}

/** The error for a call for which all channels are full. It does not reveal which channels exist. */
function fullError({ facts: { model } }: AnyCall, full: readonly ChannelFull[]): GatewayError {
  const times = full.filter(({ never }) => !never).map(({ retryAfter }) => retryAfter)
  if (times.length === 0)
    return new GatewayError(
      'channels_full',
      `this request is larger than the limits for model ${model} allow: request fewer tokens (max_tokens)`,
      { retryAfterSeconds: neverSeconds },
    )
  const retryAfterSeconds = Math.max(1, Math.min(...times))
  return new GatewayError(
    'channels_full',
    `the capacity for model ${model} is in use; try again in ${retryAfterSeconds} s`,
    { retryAfterSeconds },
  )
}
