import type { RelayDeps } from '../call/deps.ts'
import { orderFor } from '../call/order-for.ts'
import type { OpenCall } from '../charging/settlement.ts'

/** Records how soon a channel began its response, if channels are chosen by latency. */
export function noteSpeed(deps: RelayDeps, { call, channel }: OpenCall, ms: number): void {
  if (orderFor(deps, call) !== 'latency') return
  const { model, stream: isStream } = call.facts
  deps.latencies.note({ channelId: channel.id, model, isStream }, ms)
}
