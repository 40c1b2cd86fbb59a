import { crashSettle } from '../billing/crash-settle.ts'
import type { Leases } from '../billing/leases.ts'
import type { Ledger } from '../billing/ledger.ts'
import type { Events } from '../events.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { machineName } from '../lib/machine.ts'
import {
  abandonedHolds,
  abandonedLeases,
  beat,
  type DeadNodes,
  holdIdsOf,
  holdNodeIds,
  holdsWithIds,
  leasesOf,
  type NodeRow,
  nodesAndHolds,
  type OpenHold,
  removeDeadNodes,
  removeNode,
} from '../store/installation/nodes.ts'
import { returnLease } from '../store/ledger/leases.ts'
import type { SettleOp, SettleResult } from '../store/schema/ledger-types.ts'
import type { Store } from '../store/store.ts'
import { fateOf } from './node-process.ts'

/**
 * A process whose last heartbeat is older than this is considered dead. Its holds and its shares of limits are released
 * by the next sweep, within 30 seconds of that heartbeat.
 */
export const deadAfterSeconds = 25
const holdsPerBatch = 500

/** The dependencies for finding dead processes and closing their holds. */
export interface SweepDeps {
  store: Store
  clock: Clock
  nodeId: string
  events: Events
  /** Shows whether another node without a heartbeat is really dead; see `Pulse`. */
  pulse: { readonly isSteady: boolean }
}

/**
 * Records that this process is alive. It is first called before the process takes its first hold, so that other nodes
 * leave its holds alone.
 */
export function heartbeat({ store, nodeId }: Pick<SweepDeps, 'store' | 'nodeId'>): Promise<void> {
  return beat(store, { id: nodeId, host: machineName(), pid: process.pid })
}

/** Removes this process from the list of nodes. Its holds must already be closed. */
export async function unregisterNode({ store, nodeId }: Pick<SweepDeps, 'store' | 'nodeId'>): Promise<void> {
  await store.write((trx) => removeNode(trx, nodeId))
}

/**
 * Closes the holds of dead processes. It charges the prompt and the output that is known to have been delivered, gives
 * the rest back, and logs the call as interrupted. Then it returns the leases of these processes, which are amounts
 * that they reserved for future holds. Several nodes can do this at the same time, because a hold can be closed only
 * once.
 */
export async function sweepHolds(deps: SweepDeps): Promise<number> {
  const nodes = await nodesAndHolds(deps.store, deps.nodeId)
  const dead = deadNodes(deps, nodes)
  // If no other process has holds or leases, there is nothing to close. `othersHold` is the same in every row, and
  // includes processes that are not listed.
  const closed = nodes.some(({ othersHold }) => !othersHold) ? 0 : await closeHoldsOf(deps, dead)
  await removeDeadNodes(deps.store, dead)
  return closed
}

/**
 * Closes all holds of a database that was just filled from a snapshot, in the same way as `sweepHolds`. The processes
 * that took these holds used another database, so they cannot close them here. No server may be using the database.
 */
export async function closeCopiedHolds({ store, clock }: Pick<SweepDeps, 'store' | 'clock'>): Promise<number> {
  const dead = { gone: await holdNodeIds(store.read), ifSilent: [], afterSeconds: deadAfterSeconds }
  return closeHoldsOf({ store, clock, nodeId: '', events: { holdSwept: () => undefined } }, dead)
}

/**
 * Returns leases that the database has for this process but that the process does not have in memory, because the
 * database's response was lost.
 */
export async function sweepOwnLeases({ store, nodeId }: SweepDeps, { owns }: Pick<Leases, 'owns'>): Promise<void> {
  // Ownership is checked after the leases were read, for the same reason as in `sweepOwnHolds`.
  for (const lease of await leasesOf(store.read, nodeId)) if (!owns(lease.id)) await returnLease(store, lease)
}

type ClosingDeps = Pick<SweepDeps, 'store' | 'clock' | 'nodeId'> & { events: Pick<Events, 'holdSwept'> }

async function closeHoldsOf({ store, clock, nodeId, events }: ClosingDeps, dead: DeadNodes): Promise<number> {
  const now = epochSeconds(clock)
  let closed = 0
  for (;;) {
    const holds = await abandonedHolds(store, nodeId, dead, holdsPerBatch)
    if (holds.length === 0) break
    const results = await store.ledger.apply(
      holds.map((hold) => crashSettle(hold, now, 'interrupted: the gateway process ended during the call')),
    )
    results.forEach((result, index) => {
      const hold = holds[index] as OpenHold
      if ('found' in result && result.found) events.holdSwept({ holdId: hold.id, charge: result.charged })
    })
    closed += holds.length
  }
  for (const lease of await abandonedLeases(store, nodeId, dead)) await returnLease(store, lease)
  return closed
}

/**
 * Finds the nodes whose process is dead. For a node on this machine, the process table shows this. For a node on
 * another machine, a missing heartbeat shows it, but only if the heartbeats of this process have been arriving.
 * Otherwise every node would seem dead after the database was unavailable or this machine was paused. With SQLite, this
 * condition is not needed: only one process can use the database, so any other listed node is an earlier process.
 */
function deadNodes({ store, nodeId, pulse }: SweepDeps, nodes: readonly NodeRow[]): DeadNodes {
  // The clock of a paused machine might not notice the pause, but the database's clock does.
  const isHeard = nodes.some((node) => node.id === nodeId && node.silentSeconds < deadAfterSeconds / 2)
  const mayJudge = store.dialect === 'sqlite' || (pulse.isSteady && isHeard)
  const others = nodes.filter((node) => node.id !== nodeId).map((node) => ({ id: node.id, fate: fateOf(node) }))
  const idsOf = (fate: string) => others.filter((node) => node.fate === fate).map(({ id }) => id)
  return { gone: idsOf('gone'), ifSilent: mayJudge ? idsOf('unknown') : [], afterSeconds: deadAfterSeconds }
}

/**
 * Closes holds that the database has for this process but that belong to no open call. If the call was refused because
 * taking its hold had failed or timed out, nothing was sent upstream, and the hold is given back in full. If the
 * database rejected the charge of a hold, the hold is closed as if this process had died.
 */
export async function sweepOwnHolds(deps: SweepDeps, { stateOf }: Pick<Ledger, 'stateOf'>): Promise<number> {
  const { store, nodeId, events } = deps
  const now = epochSeconds(deps.clock)
  // The state of a hold is checked after its id was read. If the hold ends after this check, it is already closed when
  // this function tries to close it.
  const lost = (await holdIdsOf(store.read, nodeId)).filter((id) => stateOf(id) !== 'open').slice(0, holdsPerBatch)
  if (lost.length === 0) return 0
  const holds = await holdsWithIds(store.read, nodeId, lost)
  const ops = holds.map((hold) =>
    stateOf(hold.id) === 'unsettled'
      ? crashSettle(hold, now, 'interrupted: the charge of the call could not be written')
      : givingBack(hold, now),
  )
  const results = await store.ledger.apply(ops)
  const settledOps = ops.filter((_, index) => (results[index] as SettleResult).found)
  for (const { id, charge } of settledOps)
    events.warning(`hold ${id}, which no call owns, was closed with a charge of ${charge}`)
  return settledOps.length
}

function givingBack({ id, user_id, token_id, channel_id }: OpenHold, now: number): SettleOp {
  return {
    kind: 'settle',
    id,
    userId: user_id,
    tokenId: token_id,
    channelId: 0,
    placedOn: channel_id,
    charge: 0,
    mayGoNegative: false,
    requests: 0,
    tokens: 0,
    at: now,
    log: undefined,
  }
}
