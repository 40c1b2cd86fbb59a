import type { Settings } from '../../settings/settings.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { ReadLimits } from './upstream-reader.ts'

const never = Number.POSITIVE_INFINITY

/** Time limits for connecting to an upstream and for the beginning of its response, in milliseconds; 0 = no limit. */
export interface Patience {
  connectTimeoutMs: number
  firstByteTimeoutMs: number
}

/** The time limits of a channel, or those of the settings if the channel has none. */
export function patienceOf(channel: Channel, settings: Settings): Patience {
  return {
    connectTimeoutMs: channel.connectTimeoutMs ?? settings.ConnectTimeout * 1000,
    firstByteTimeoutMs: shorter(
      channel.firstByteTimeoutMs ?? settings.FirstByteTimeout * 1000,
      channel.relayTimeoutMs ?? settings.RelayTimeout * 1000,
    ),
  }
}

/** The shorter of two time limits; 0 means no limit. */
function shorter(aMs: number, bMs: number): number {
  return aMs > 0 && bMs > 0 ? Math.min(aMs, bMs) : Math.max(aMs, bMs)
}

/** The facts that determine the time limits of an attempt. */
type Timed = Pick<OpenCall<AnyCall>, 'call' | 'channel' | 'upstreamModel'>

/**
 * The time limits for the head of a response. The head of a stream that has a time limit for its first content must
 * also arrive within that limit. `isStreamed` is false if the upstream cannot stream and responds only when it has
 * finished.
 */
export function patienceFor(deps: RelayDeps, timed: Timed, sentAtMs: number, isStreamed: boolean): Patience {
  const patience = patienceOf(timed.channel, deps.settings())
  const endMs = endOf(timed.call, timed.channel, deps.settings(), sentAtMs)
  const byMs = isStreamed ? Math.min(endMs, firstTokenByMs(deps, timed, sentAtMs)) : endMs
  if (byMs === never) return patience
  return { ...patience, firstByteTimeoutMs: shorter(patience.firstByteTimeoutMs, Math.max(1, byMs - sentAtMs)) }
}

/** The time limits for the rest of the response to a call. */
export function timeLimits(deps: RelayDeps, { call, channel }: Timed, sentAtMs: number): ReadLimits {
  const settings = deps.settings()
  return {
    idleMs: channel.streamIdleTimeoutMs ?? settings.StreamIdleTimeout * 1000,
    keepAliveMs: settings.KeepAliveInterval * 1000,
    deadlineMs: endOf(call, channel, settings, sentAtMs),
  }
}

/**
 * When a call must have ended, on the deadline clock. The limits of the settings and of the caller apply to all
 * attempts together. A channel's own limit applies to one attempt at that channel.
 */
export function endOf(
  { arrivedAtMs, endsByMs = never }: Pick<AnyCall, 'arrivedAtMs' | 'endsByMs'>,
  { relayTimeoutMs }: Channel,
  settings: Settings,
  sentAtMs: number,
): number {
  const limitMs = relayTimeoutMs ?? settings.RelayTimeout * 1000
  if (limitMs <= 0) return endsByMs
  return Math.min(endsByMs, (relayTimeoutMs === undefined ? arrivedAtMs : sentAtMs) + limitMs)
}

/** The approximate number of tokens of a long prompt that a service reads in one second. */
const tokensPerSecond = 5000

/**
 * When the first content of a stream must have arrived; infinite = no limit. The first of these limits that is set
 * applies:
 * - the limit of the virtual model's step
 * - the channel's limit for the model
 * - the channel's general limit, if the call does not ask for thinking
 * - the limit of the settings, if the call does not ask for thinking and the model is known not to think
 */
export function firstTokenByMs(deps: RelayDeps, { call, channel, upstreamModel }: Timed, sentAtMs: number): number {
  const { facts, mode, state, step } = call
  if (!facts.stream || (mode !== 'chat' && mode !== 'completions')) return never
  const limitMs = step?.firstTokenTimeoutMs ?? channel.firstTokenLimits?.get(facts.model) ?? generalLimitMs()
  return limitMs > 0 ? sentAtMs + limitMs + (state.promptGuess / tokensPerSecond) * 1000 : never

  function generalLimitMs(): number {
    if (facts.asksToReason) return 0
    if (channel.firstTokenTimeoutMs !== undefined) return channel.firstTokenTimeoutMs
    const limitSeconds = deps.settings().FirstTokenTimeout
    return limitSeconds > 0 && !deps.mayThink(upstreamModel) ? limitSeconds * 1000 : 0
  }
}
