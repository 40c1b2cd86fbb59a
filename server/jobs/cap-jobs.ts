import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { LimitInUse, Metrics } from '../metrics.ts'
import type { RelayDeps } from '../relay/call/deps.ts'
import { createChannelLine } from '../relay/routing/channel-line.ts'
import { forgetWaiting, leaveLine, sayWaiting } from '../store/ledger/cap-line.ts'
import { forgetWindows } from '../store/ledger/caps.ts'
import { channelsInUse } from '../store/ledger/caps-in-use.ts'
import type { Store } from '../store/store.ts'
import type { Job } from './scheduler.ts'

const forgetMs = 60_000
const measureMs = 10_000

interface CapJobDeps {
  store: Store
  clock: Clock
  relay: Pick<RelayDeps, 'routing'>
  metrics: Pick<Metrics, 'limitsInUse'>
}

/**
 * The periodic work for the limits of channels. Deletes the counts of past time windows and the queue entries of
 * processes that have died. Updates the metrics that show how far limits are used.
 */
export function capJobs({ store, clock, relay, metrics }: CapJobDeps): Job[] {
  let hadLimits = false
  return [
    {
      name: 'limits-in-use',
      everyMs: measureMs,
      async run() {
        const hasLimits = relay
          .routing()
          .channels()
          .some(({ capped }) => capped > 0)
        if (hasLimits || hadLimits) metrics.limitsInUse(hasLimits ? await limitsInUse(store, clock) : [])
        hadLimits = hasLimits
      },
    },
    { name: 'forget-windows', everyMs: forgetMs, run: () => forgetWindows(store, epochSeconds(clock)) },
    { name: 'forget-waiting', everyMs: forgetMs, run: () => forgetWaiting(store, clock.nowMs()) },
  ]
}

async function limitsInUse(store: Store, clock: Clock): Promise<LimitInUse[]> {
  const channels = await channelsInUse(store, clock.nowMs())
  return channels.flatMap(({ id, caps }) =>
    caps.map(({ owner, metric, period, models, used, allowed }) => ({
      ...{ channel: String(id), owner, metric, window: period, models },
      used,
      allowed,
    })),
  )
}

/**
 * The queue of calls that wait until a limit has room. Database errors are ignored: at worst, a call loses its place in
 * the queue.
 */
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
