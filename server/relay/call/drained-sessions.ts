import { type Clock, epochSeconds } from '../../lib/clock.ts'
import { addDrainSession, hasDrainSession } from '../../store/channels/drain-sessions.ts'
import type { Store } from '../../store/store.ts'

/**
 * The sessions that began while their preferred channel was already being drained (accepted no new sessions). They are
 * stored in the database, for all nodes.
 */
export interface DrainedSessions {
  note(channelId: number, session: number): Promise<void>
  has(channelId: number, session: number): Promise<boolean>
}

export function createDrainedSessions(store: Store, clock: Clock): DrainedSessions {
  return {
    note: (id, session) => store.write((trx) => addDrainSession(trx, id, session, epochSeconds(clock))),
    has: (id, session) => hasDrainSession(store.read, id, session),
  }
}
