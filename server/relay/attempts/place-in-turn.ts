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

/** A channel on which the call has a place, if that channel has caps, and the quota taken for it. */
export interface Placed extends PricedChannel {
  hold: Hold
}

/** The most calls that wait in one process. Each of them keeps its body in memory. */
const mostWaiting = 10_000
/** The wait reported to a call that asks for more than any channel may take. Waiting does not help it. */
const neverSeconds = 60

interface Turn {
  /** 0 until the call is in the line; undefined if it does not wait. */
  ticket: number | undefined
}

/**
 * A place and the quota for a call, if `first`, the channel that it would use, has caps. A full channel does not count
 * as a failure: the next one is tried. If all are full, the call waits in the order of arrival, without quota, for as
 * long as the option ChannelWaitTime says. Throws GatewayError (channels_full, and those of `Ledger.hold`).
 */
export async function placeInTurn(
  deps: RelayDeps,
  call: AnyCall,
  tried: ReadonlySet<number>,
  first?: PricedChannel,
): Promise<Placed> {
  // A call that may continue with another step does not wait.
  const waitMs = call.step?.next.has('overloaded') ? 0 : deps.settings().ChannelWaitTime * 1000
  const turn: Turn = { ticket: waitMs > 0 && deps.line.waiting() < mostWaiting ? 0 : undefined }
  let placed: Placed | undefined
  try {
    const found = await tryAll(deps, call, tried, turn, first)
    placed = Array.isArray(found) ? await wait(deps, call, tried, turn, found, waitMs) : found
    return placed
  } finally {
    // A place that the ledger gave has taken the call out of the line.
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

/** The calls of a token that wait are limited like those that are open, so that one token cannot fill the line. */
function refuseCrowd({ line }: RelayDeps, { caller: { limits, tokenId } }: AnyCall): void {
  const most = limits?.token?.concurrency_limit ?? 0
  if (most > 0 && line.waiting(tokenId) >= most)
    throw limitError({ ok: false, reason: 'limit', limit: 'concurrency', owner: 'token', most, retryAfter: 1 }, 0)
}

/** Whether a full channel may have a place for the call within the time: by itself, or because other calls end. */
function mayEndWithin({ metric, never, othersOpen, retryAfter }: ChannelFull, waitMs: number): boolean {
  if (never) return false
  return metric === 'calls' || retryAfter * 1000 <= waitMs || (othersOpen && metric !== 'requests')
}

/**
 * Tries all channels that would do, the best first, and returns why each of them is full. A channel whose breaker is open
 * is tried only with `restsToo`, because waiting for a healthy one is better.
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

/** The error for a call for which all channels are full. It never says which channels there are. */
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
