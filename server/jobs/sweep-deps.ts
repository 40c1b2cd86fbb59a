import type { Events } from '../events.ts'
import type { Clock } from '../lib/clock.ts'
import type { Store } from '../store/store.ts'
import { nodeIdOf } from './node-process.ts'
import { createPulse, type Pulse } from './pulse.ts'
import type { SweepDeps } from './sweep-holds.ts'

/** The dependencies for closing the holds of dead processes, with a new node id for this process. */
export function sweepDeps(store: Store, clock: Clock, events: Events): SweepDeps & { pulse: Pulse } {
  const node = { store, clock, nodeId: nodeIdOf(process.pid), events }
  return { ...node, pulse: createPulse(node) }
}
