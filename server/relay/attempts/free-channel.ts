import { servingGroup } from '../call/at-step.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Candidate } from '../routing/routing-table.ts'
import { serves } from '../routing/select-channel.ts'

/**
 * True if a channel that is not in `tried` could serve the call now, because it is not paused, its breaker is closed,
 * and it has not just broken a stream of `session`, if one is given.
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
