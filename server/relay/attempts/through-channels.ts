import { GatewayError } from '../../errors.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { noteHealth } from '../failures/note-health.ts'
import { RefusedAnswer } from '../failures/refused-answer.ts'
import { AttemptFailed, judgeFailure } from '../failures/retry-policy.ts'
import { forCaller } from '../failures/upstream-failure.ts'
import { beginCall } from './begin-call.ts'
import { playBack } from './play-back.ts'
import { type Run, remedyFor } from './remedies.ts'
import { type MakeAttempt, newTrial } from './trial.ts'

/**
 * Takes the quota for a call and makes the first attempt. After each failure it tries the next remedy (a changed
 * request, another key, another channel or another step of the virtual model) until an attempt succeeds or no remedy is
 * left. Each attempt is a call of `attempt`. On failure, the hold is released here, unless an attempt has taken it
 * over. Throws the same errors as `relay`.
 */
export async function throughChannels<Call extends AnyCall>(
  deps: RelayDeps,
  call: Call,
  attempt: MakeAttempt<Call>,
): Promise<Response> {
  const begun = await beginCall(deps, call)
  call.state.isHeld = true
  const run: Run<Call> = {
    deps,
    call: begun.call,
    trial: newTrial(begun.placed),
    channelsTried: begun.skipped,
    keysTried: new Set(),
    retries: 0,
    repeats: 0,
    isKeysFault: false,
  }
  try {
    let answer: Response
    try {
      answer = await untilAnswered(run, attempt)
    } catch (error) {
      return await playedBack(run, error)
    }
    // If the caller has disconnected, the answer is a Response that is not `ok`. In that case, nothing is recorded
    // about what the service supports.
    if (answer.ok) for (const remember of run.trial.lessons) remember()
    return answer
  } catch (error) {
    // If the attempt has not taken over the hold, the quota is released here. If this call was the trial call of the
    // channel's circuit breaker, the trial ends without a result.
    const { hold, channel } = run.trial
    if (!hold.isHandedOver) {
      noteHealth(deps, { channel, call: run.call }, 'undecided')
      if (!hold.isClosed) await hold.release()
    }
    throw error
  }
}

/**
 * Sends the caller the model's refusal that was kept while other steps of the virtual model were tried. A refusal is a
 * valid response, so the call does not count as failed. Throws `error` if there is no such refusal.
 */
async function playedBack<Call extends AnyCall>(run: Run<Call>, error: unknown): Promise<Response> {
  const played = error instanceof AttemptFailed ? playBack(run) : undefined
  if (!played) throw error
  return played
}

/**
 * Makes the current attempt of `run`. After each failure it tries the next remedy until an attempt succeeds. Throws the
 * error for the caller if no remedy is left. The calling code decides what happens to the hold.
 */
export async function untilAnswered<Call extends AnyCall, Answer>(
  run: Run<Call>,
  attempt: MakeAttempt<Call, Answer>,
): Promise<Answer> {
  for (;;) {
    const { channel } = run.trial
    const answer = await attempt(run.deps, run.call, run.trial)
    if (!(answer instanceof AttemptFailed)) return answer
    run.channelsTried.add(channel.id)
    run.keysTried.add(channel.upstream.key)
    if (answer instanceof RefusedAnswer) run.refused = answer
    const next = await remedyFor(run, answer)
    if (!next) throw forCaller(answer)
    run.trial = next
  }
}

/** Turns a GatewayError into a failed attempt; throws any other error. */
export function toFailure(error: unknown): AttemptFailed {
  if (error instanceof GatewayError) return new AttemptFailed(error, judgeFailure(error), 0)
  throw error
}
