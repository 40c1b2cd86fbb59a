import type { RelayDeps } from '../call/deps.ts'
import { orderFor } from '../call/order-for.ts'
import type { OpenCall } from '../charging/settlement.ts'

/**
 * Records the time until a channel began its response, in milliseconds. Does nothing unless channels are chosen by
 * latency.
 */
export function noteSpeed(deps: RelayDeps, { call, channel }: OpenCall, ms: number): void {
  if (orderFor(deps, call) !== 'latency') return
  const { model, stream: isStream } = call.facts
  deps.latencies.note({ channelId: channel.id, model, isStream }, ms)
}
