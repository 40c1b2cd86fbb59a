import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { DeadlineWait } from '../cancellation/deadline-watch.ts'

/** `deadlineWatch` is accurate only to a quarter of a second, so a pause of up to this length has its own timer. */
const shortMs = 1000

/** Waits before the next attempt. The pause ends early if the caller disconnects or this process stops. */
export function pause(
  { deadlineWatch }: Pick<RelayDeps, 'deadlineWatch'>,
  { leaving }: Pick<AnyCall, 'leaving'>,
  pauseMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      deadlineWatch.remove(wait)
      leaving.onLeave(undefined)
      resolve()
    }
    const wait: DeadlineWait = { dueAtMs: deadlineWatch.nowMs() + pauseMs, due: end, cut: end }
    const timer = pauseMs <= shortMs ? setTimeout(end, pauseMs) : undefined
    if (!timer) deadlineWatch.add(wait)
    leaving.onLeave(end)
  })
}
