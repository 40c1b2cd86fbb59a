import type { RefusedAnswer } from '../failures/refused-answer.ts'
import { takeQuota } from './next-channel.ts'
import type { Run } from './remedies.ts'
import { newTrial } from './trial.ts'

/**
 * Delivers the last response that was a refusal, because no other step has answered. It is charged like any response of
 * its step. Undefined if no step responded with a refusal. Rejects with GatewayError if the quota no longer covers the
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
  // If the call has waited in vain for a place at another step, it has given its quota back, so quota is taken again.
  if (run.trial.hold.isClosed) run.trial = newTrial({ ...open, hold: await takeQuota(run.deps, open.call, open) })
  open.hold = run.trial.hold
  // In the log, the last attempt must be the one that answered.
  const { attempts } = open.call.state
  for (const each of attempts.splice(attempt, 1)) attempts.push({ ...each, error: '' })
  Object.assign(open.call.state, state, { isPlayedBack: true })
  return deliver()
}
