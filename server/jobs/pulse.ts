import type { Job } from './scheduler.ts'
import { deadAfterSeconds, heartbeat, type SweepDeps } from './sweep-holds.ts'

const heartbeatMs = 5_000
/** Three missed heartbeats, long before others consider this process dead. */
const feltForMs = 15_000

/** The heartbeat of this process, and whether it arrives. */
export interface Pulse {
  /** The last heartbeat reached the database, and not long ago, because one may also hang without failing. */
  readonly isFelt: boolean
  /**
   * The heartbeats have all reached the database, without a gap, for as long as a process may be silent. So other live
   * nodes had time to be heard. After a gap the database or this machine may have been away, and not the other nodes.
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
