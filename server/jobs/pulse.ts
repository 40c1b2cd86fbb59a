import type { Job } from './scheduler.ts'
import { deadAfterSeconds, heartbeat, type SweepDeps } from './sweep-holds.ts'

const heartbeatMs = 5_000
/** The time of three heartbeats. It is well below the time after which other nodes consider this process dead. */
const feltForMs = 15_000

/** The heartbeat of this process, and whether it reaches the database. */
export interface Pulse {
  /**
   * True if the last heartbeat reached the database, and did so recently. The time matters, because a heartbeat may
   * hang without failing.
   */
  readonly isFelt: boolean
  /**
   * True if heartbeats have reached the database without a gap for as long as a process may be silent before it is
   * considered dead. Other live nodes then also had time to send theirs. After a gap, silence of other nodes proves
   * nothing, because the database or this machine may have been unavailable.
   */
  readonly isSteady: boolean
  beat(): Promise<void>
  /** The scheduled heartbeat. */
  readonly job: Job
}

export function createPulse(deps: Pick<SweepDeps, 'store' | 'nodeId' | 'clock'>): Pulse {
  let feltAtMs = Number.NEGATIVE_INFINITY
  let steadySinceMs = Number.POSITIVE_INFINITY
  const isFelt = () => deps.clock.nowMs() - feltAtMs < feltForMs
  const beat = async () => {
    const sentAtMs = deps.clock.nowMs()
    try {
      await heartbeat(deps)
      if (sentAtMs - feltAtMs >= feltForMs) steadySinceMs = sentAtMs
      feltAtMs = sentAtMs
    } catch (error) {
      feltAtMs = Number.NEGATIVE_INFINITY
      throw error
    }
  }
  return {
    get isFelt() {
      return isFelt()
    },
    get isSteady() {
      return isFelt() && deps.clock.nowMs() - steadySinceMs >= deadAfterSeconds * 1000
    },
    beat,
    job: { name: 'heartbeat', everyMs: heartbeatMs, run: beat },
  }
}
