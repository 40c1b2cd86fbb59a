import { describeFault } from '../../errors.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { servingGroup } from '../call/at-step.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { hasEarlierTurns } from '../call/earlier-turns.ts'
import { orderFor } from '../call/order-for.ts'
import { placeOfSession } from '../routing/select-channel.ts'

/**
 * How long sessions may stay at a channel that is being drained, which means that it accepts no new sessions. Without
 * this limit, some sessions would never leave it.
 */
const longestDrainSeconds = 24 * 3600

/**
 * Decides whether the call of a session may stay at a channel that is being drained. It may stay if the session belongs
 * to that channel, has earlier turns, and began before the draining. If this call is the first of its session, the
 * session is recorded, so that its later turns do not use that channel either.
 */
export async function stayAtDrained(deps: RelayDeps, call: AnyCall, skipped: ReadonlySet<number>): Promise<void> {
  const { session, mode, requestId, caller, facts, state } = call
  if (session === undefined || caller.chosenChannel) return
  const routing = deps.routing()
  const { model } = facts
  const wanted = { mode, model, requestId, session, isStream: facts.stream, order: orderFor(deps, call) }
  const place = placeOfSession(wanted, routing.allCandidates(servingGroup(call), model), skipped, deps)
  const since = place && routing.drainedAt(place.id)
  if (!place || since === undefined || since + longestDrainSeconds <= epochSeconds(deps.clock)) return
  try {
    if (!hasEarlierTurns(call)) await deps.drainedSessions.note(place.id, session)
    else if (!(await deps.drainedSessions.has(place.id, session))) state.staysAt = place.id
  } catch (error) {
    // After a database error, the call is served by another channel, whose cache contains nothing of the session's
    // prompt.
    deps.events.warning(`${requestId}: ${describeFault(error)}`)
  }
}
