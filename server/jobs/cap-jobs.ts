import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { RelayDeps } from '../relay/call/deps.ts'
import { createChannelLine } from '../relay/routing/channel-line.ts'
import { forgetWaiting, leaveLine, sayWaiting } from '../store/ledger/cap-line.ts'
import { forgetWindows } from '../store/ledger/caps.ts'
import type { Store } from '../store/store.ts'
import type { Job } from './scheduler.ts'

const forgetMs = 60_000

/** Deletes what the caps of channels no longer need: windows that are over, and calls of dead processes in the line. */
export function capJobs({ store, clock }: { store: Store; clock: Clock }): Job[] {
  return [
    { name: 'forget-windows', everyMs: forgetMs, run: () => forgetWindows(store, epochSeconds(clock)) },
    { name: 'forget-waiting', everyMs: forgetMs, run: () => forgetWaiting(store, clock.nowMs()) },
  ]
}

/** The line of the calls that wait for a place. If the database fails, a call may lose its turn, but nothing else. */
export function openLine({
  store,
  nodeId,
  clock,
}: {
  store: Store
  nodeId: string
  clock: Clock
}): Pick<RelayDeps, 'line' | 'leaveLine'> {
  const quietly = (work: Promise<void>) => work.catch(() => undefined)
  const line = createChannelLine({
    nowMs: () => clock.nowMs(),
    sayWaiting: () => quietly(sayWaiting(store, nodeId, clock.nowMs())),
  })
  return { line, leaveLine: (ticket) => void quietly(leaveLine(store, ticket)) }
}
