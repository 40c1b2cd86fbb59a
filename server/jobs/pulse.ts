import type { Job } from './scheduler.ts'
import { deadAfterSeconds, heartbeat, type SweepDeps } from './sweep-holds.ts'

const heartbeatMs = 5_000
/** The time of three heartbeats, well below the time after which other nodes consider this process dead. */
const feltForMs = 15_000

/** The heartbeat of this process, and whether it reaches the database. */
export interface Pulse {
  /**
   * True if the last heartbeat reached the database, and did so recently, because a heartbeat may also hang without
   * failing.
   */
  readonly isFelt: boolean
  /**
   * True if all heartbeats have reached the database, without a gap, for as long as a process may be silent before it
   * is considered dead, so that other live nodes had time to send theirs. After a gap, it may have been the database or
   * this machine that was unavailable, rather than the other nodes.
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
