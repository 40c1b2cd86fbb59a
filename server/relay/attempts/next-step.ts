import { atStep } from '../call/at-step.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { AttemptFailed } from '../failures/retry-policy.ts'
import { endOf } from '../upstream/time-limits.ts'
import { type Begun, isUnhealthy } from './begin-call.ts'
import { nextPaid } from './next-paid.ts'
import { exitOf } from './step-exit.ts'
import { unableChannels } from './suitable.ts'
import type { Trial } from './trial.ts'

/**
 * The step of a call's plan with which the call continues after the failure `failed`, and the channel for this step.
 * The call keeps its hold. If the hold was closed because the call waited for a place and got none, quota is taken
 * again. Undefined if the failure leads to no further step, or if none of the further steps has a channel that can
 * serve the call and that the quota covers.
 */
export async function nextStep<Call extends AnyCall>(
  deps: RelayDeps,
  call: Call,
  { hold, channel }: Pick<Trial, 'hold' | 'channel'>,
  failed: AttemptFailed,
): Promise<Begun<Call> | undefined> {
  const exit = exitOf(failed)
  const nowMs = deps.deadlineWatch.nowMs()
  if (nowMs >= endOf(call, channel, deps.settings(), nowMs)) return undefined
  for (let step = exit && call.step?.next.get(exit); step; ) {
    const stepCall = atStep(call, step)
    const skipped = unableChannels(deps, stepCall)
    const isOut = isUnhealthy(deps, stepCall, skipped)
    const isTried = !isOut && call.state.suitable?.has(step) !== false
    const placed = isTried ? await nextPaid(deps, stepCall, hold, skipped) : undefined
    if (placed) {
      deps.retryBudget.called(step.model, deps.clock.nowMs())
      return { call: stepCall, placed, skipped }
    }
    step = step.next.get(isOut ? 'no_channel' : 'unable')
  }
  return undefined
}
