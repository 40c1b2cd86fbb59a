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
 * Runs a call; `attempt` makes each attempt. Takes the quota, then tries one remedy after another until an attempt
 * succeeds or no remedy is left. This function releases the hold on failure, unless an attempt has taken it over.
 * Throws the same errors as `relay`.
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
    // If the caller has disconnected, the answer is a Response that is not `ok`. The lessons are then not remembered.
    if (answer.ok) for (const remember of run.trial.lessons) remember()
    return answer
  } catch (error) {
    // If the attempt has not taken over the hold, the quota is released here. If this call was the one with which the
    // channel's circuit breaker tests the channel, the test ends without a result.
    const { hold, channel } = run.trial
    if (!hold.isHandedOver) {
      noteHealth(deps, { channel, call: run.call }, 'undecided')
      if (!hold.isClosed) await hold.release()
    }
    throw error
  }
}

/**
 * Delivers the refusal that was held back, so that the call does not fail. Throws `error` if no refusal was held back.
 */
async function playedBack<Call extends AnyCall>(run: Run<Call>, error: unknown): Promise<Response> {
  const played = error instanceof AttemptFailed ? playBack(run) : undefined
  if (!played) throw error
  return played
}

/**
 * Makes the current attempt of `run`, and then tries one remedy after another until an attempt succeeds. Throws the
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
