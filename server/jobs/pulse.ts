import type { Job } from './scheduler.ts'
import { deadAfterSeconds, heartbeat, type SweepDeps } from './sweep-holds.ts'

const heartbeatMs = 5_000
/**
 * A heartbeat counts as recent for this time, which is three heartbeat intervals. It is well below the time after which
 * other nodes consider this process dead.
 */
const feltForMs = 15_000

/** The heartbeat of this process, and whether it reaches the database. */
export interface Pulse {
  /**
   * True if the last heartbeat reached the database less than `feltForMs` ago. Without the time limit, a heartbeat that
   * hangs would not be noticed, because it does not fail.
   */
  readonly isFelt: boolean
  /**
   * True if heartbeats of this process have reached the database without a gap for `deadAfterSeconds`. Every other live
   * node has then had time to send a heartbeat, so a silent node is dead. After a gap, a silent node may be alive,
   * because the database or this machine may have been unavailable.
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
