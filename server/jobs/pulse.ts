import type { Job } from './scheduler.ts'
import { heartbeat, type SweepDeps } from './sweep-holds.ts'

const heartbeatMs = 5_000
/** Three heartbeats that did not arrive, long before others take this process for dead. */
const feltForMs = 15_000

/** The heartbeat of this process, and whether it arrives. */
export interface Pulse {
  /** The last heartbeat reached the database, and it was not long ago: one may also hang without failing. */
  readonly isFelt: boolean
  beat(): Promise<void>
  /** Beats by the clock. */
  readonly job: Job
}

export function createPulse(deps: Pick<SweepDeps, 'store' | 'nodeId' | 'clock'>): Pulse {
  let feltAtMs = Number.NEGATIVE_INFINITY
  const beat = async () => {
    const sentAtMs = deps.clock.nowMs()
    try {
      await heartbeat(deps)
      feltAtMs = sentAtMs
    } catch (error) {
      feltAtMs = Number.NEGATIVE_INFINITY
      throw error
    }
  }
  return {
    get isFelt() {
      return deps.clock.nowMs() - feltAtMs < feltForMs
    },
    beat,
    job: { name: 'heartbeat', everyMs: heartbeatMs, run: beat },
  }
}
