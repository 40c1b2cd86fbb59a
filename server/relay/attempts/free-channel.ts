import { servingGroup } from '../call/at-step.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Candidate } from '../routing/routing-table.ts'
import { serves } from '../routing/select-channel.ts'

/**
 * True if at least one channel can serve the call now. Such a channel is not in `tried` and not paused, and its breaker
 * is closed. If `session` is given, the channel has not just broken a stream of this session.
 */
export function hasFreeChannel(
  { routing, rests, breaker, sessionRests }: Pick<RelayDeps, 'routing' | 'rests' | 'breaker' | 'sessionRests'>,
  call: AnyCall,
  tried: ReadonlySet<number>,
  session?: number,
): boolean {
  const { mode, facts } = call
  const { model } = facts
  const isFree = ({ channel }: Candidate) =>
    !tried.has(channel.id) &&
    serves(channel, mode, model) &&
    !rests.isResting(channel, model) &&
    !breaker.isOpen(channel.id, model) &&
    !sessionRests.isResting(session, channel.id, model)
  return routing().candidates(servingGroup(call), model).some(isFree)
}
