import type { Hold } from '../../billing/ledger.ts'
import { describeFault, GatewayError } from '../../errors.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { noteHealth } from '../failures/note-health.ts'
import type { Channel } from '../routing/routing-table.ts'
import { countPrompt, crashRowOf, nextPriced, type PricedChannel } from './next-channel.ts'
import { placeFor, withPlace } from './place.ts'
import { type Placed, placeInTurn } from './place-in-turn.ts'
import type { Trial } from './trial.ts'

/**
 * Finds the next channel that has a free place for the call (capacity within its caps) and a price that the quota
 * covers. Increases the hold to this price, and moves the call's place to the channel. If all remaining channels are
 * full, the call gives its quota back and waits like a new call. It then takes a new hold. If the hold is already
 * closed, because the call has waited before and got no place, the call also waits like a new call.
 */
export async function nextPaid(
  deps: RelayDeps,
  call: AnyCall,
  hold: Hold,
  tried: Set<number>,
): Promise<Placed | undefined> {
  if (hold.isClosed) return inTurn(deps, call, hold, tried)
  const full = new Set<number>()
  for (;;) {
    const next = nextIfAny(deps, call, full.size === 0 ? tried : new Set([...tried, ...full]))
    if (!next) return full.size === 0 || mayNotWait(call) ? undefined : inTurn(deps, call, hold, tried)
    const paid = await growHold(deps, call, next, hold).catch((error: unknown) => {
      deps.events.warning(`${call.requestId}: ${describeFault(error)}`)
      return undefined
    })
    if (typeof paid === 'object') return { ...next, channel: paid, hold }
    noteHealth(deps, { channel: next.channel, call }, 'undecided')
    // The database cannot be reached, so trying the other channels would not help.
    if (paid === undefined) return undefined
    // The caller chose the channel, so there is no other.
    if (call.caller.chosenChannel) return undefined
    if (paid === 'full') full.add(next.channel.id)
    else tried.add(next.channel.id)
  }
}

/**
 * True for a call that must not give its hold back in order to wait for a place. The hold of a continued stream also
 * covers the output that has already been delivered. A call that may continue with another step (another model of its
 * virtual model) does so instead of waiting.
 */
function mayNotWait({ goesOn, step }: AnyCall): boolean {
  return goesOn !== undefined || step?.next.has('overloaded') === true
}

/**
 * The next channel; undefined if there is none. A GatewayError also gives undefined, so that the caller sees the error
 * of the failed attempt instead.
 */
function nextIfAny(deps: RelayDeps, call: AnyCall, tried: Set<number>): PricedChannel | undefined {
  try {
    const next = nextPriced(deps, call, tried)
    return next instanceof GatewayError ? undefined : next
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** Gives the quota back, because a waiting call holds none, and then waits for a place. */
async function inTurn(
  deps: RelayDeps,
  call: AnyCall,
  hold: Hold,
  tried: ReadonlySet<number>,
): Promise<Placed | undefined> {
  if (!hold.isClosed) await hold.release()
  try {
    return await placeInTurn(deps, call, tried)
  } catch (error) {
    // The caller sees the error of the failed attempt instead.
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/**
 * Increases the hold, at most to the balance, because the model or its tier may be more expensive on this channel.
 * Moves the call's place to the channel. Returns the channel with its key, or the reason why the call cannot use the
 * channel.
 */
async function growHold(
  deps: RelayDeps,
  call: AnyCall,
  priced: PricedChannel,
  hold: Hold,
): Promise<Channel | 'full' | 'unpaid'> {
  const { channel, charging } = priced
  const guess = call.state.promptGuess
  const missing = Math.max(0, charging.ceiling(guess) - hold.amount)
  // Even a hold that is large enough must record which channel the call is using now.
  const moved =
    channel.capped === 0 && hold.placedOn === 0
      ? await hold.extend(missing, charging.least(guess), crashRowOf(call, channel)).then(() => channel)
      : await moveTo(deps, call, priced, hold, missing)
  if (!moved) return 'full'
  if (hold.amount >= charging.least(guess)) return moved
  await countPrompt(deps, call)
  return hold.amount >= charging.least(call.state.promptGuess) ? moved : 'unpaid'
}

async function moveTo(
  deps: RelayDeps,
  call: AnyCall,
  priced: PricedChannel,
  hold: Hold,
  missing: number,
  keysTried?: ReadonlySet<string>,
): Promise<Channel | undefined> {
  const { channel, charging } = priced
  const wish = placeFor(deps, call, priced, { keysTried })
  const crashCharge = charging.least(call.state.promptGuess)
  const isMoved = await hold.move(missing, crashCharge, crashRowOf(call, channel), wish?.request)
  if (!isMoved) return undefined
  return wish ? withPlace(channel, wish, hold) : channel
}

/**
 * Moves the call's place to `channel.upstream.key` or, if this key has no room, to another key of the channel that is
 * not in `keysTried`. Returns the channel with that key. Undefined if no key has room.
 */
export function withPlaceOfKey(
  deps: RelayDeps,
  call: AnyCall,
  { hold, charging }: Pick<Trial, 'hold' | 'charging'>,
  channel: Channel,
  keysTried: ReadonlySet<string>,
): Promise<Channel | undefined> {
  return moveTo(deps, call, { channel, charging }, hold, 0, keysTried).catch((error: unknown) => {
    deps.events.warning(`${call.requestId}: ${describeFault(error)}`)
    return undefined
  })
}
