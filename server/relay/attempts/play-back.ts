import type { RefusedAnswer } from '../failures/refused-answer.ts'
import { takeQuota } from './next-channel.ts'
import type { Run } from './remedies.ts'
import { newTrial } from './trial.ts'

/**
 * Sends the caller the last response in which a model refused to answer. The gateway kept this response while it tried
 * the other steps of the virtual model, and none of them answered. The response is charged like any other response of
 * its step. Undefined if there is no such response. Rejects with GatewayError if the quota no longer covers the
 * response.
 */
export function playBack(run: Run): Promise<Response> | undefined {
  const deliver = run.refused?.refusal.deliver
  return run.refused && deliver && played(run, run.refused, deliver)
}

async function played(
  run: Run,
  { refusal: { open }, state, attempt }: RefusedAnswer,
  deliver: () => Promise<Response>,
): Promise<Response> {
  // A call that waits for capacity at another step releases its quota. If it got no capacity there, quota is taken
  // again.
  if (run.trial.hold.isClosed) run.trial = newTrial({ ...open, hold: await takeQuota(run.deps, open.call, open) })
  open.hold = run.trial.hold
  // In the log, the last attempt must be the one whose response the caller receives.
  const { attempts } = open.call.state
  for (const each of attempts.splice(attempt, 1)) attempts.push({ ...each, error: '' })
  Object.assign(open.call.state, state, { isPlayedBack: true })
  return deliver()
}
