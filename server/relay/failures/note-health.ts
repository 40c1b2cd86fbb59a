import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'

/**
 * Records how a call ended, for the health of its channel: successfully, through the upstream's fault, or in a way that
 * says nothing about the channel. `why` is shown to people.
 */
export function noteHealth(
  { breaker }: Pick<RelayDeps, 'breaker'>,
  { channel, call }: Pick<OpenCall<AnyCall>, 'channel' | 'call'>,
  how: 'well' | 'faulty' | 'undecided',
  why = '',
): void {
  const { model } = call.facts
  if (how === 'well') breaker.succeeded(channel.id, model)
  else if (how === 'faulty') breaker.failed(channel.id, model, call.requestId, why)
  else breaker.undecided(channel.id, model, call.requestId)
}
