import { DecodingMeter } from '../../dialects/metering/decoding-meter.ts'
import { EventTally } from '../../dialects/metering/event-tally.ts'
import { TalliedMeter } from '../../dialects/metering/tallied-meter.ts'
import { countingDecoder } from '../../dialects/metering/tool-counts.ts'
import type { StreamEncoder } from '../../dialects/neutral/dialect.ts'
import { isEventStream } from '../../lib/bytes/sse.ts'
import { type Attempt, beginAttempt, prepareTrial, sendTrial } from '../attempts/send-trial.ts'
import { toFailure } from '../attempts/through-channels.ts'
import type { Trial } from '../attempts/trial.ts'
import { noteAttempt } from '../call/attempts.ts'
import type { RelayCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { CallerLeft } from '../cancellation/caller-left.ts'
import { addLostCost } from '../charging/lost-cost.ts'
import { RefusedAnswer } from '../failures/refused-answer.ts'
import { AttemptFailed } from '../failures/retry-policy.ts'
import { reasonOf, statusFailure, unread } from '../failures/upstream-failure.ts'
import { EndedReader } from '../stream/ended-reader.ts'
import { holdBack, isHeldBack } from '../stream/hold-back.ts'
import { openStream } from '../stream/stream-opening.ts'
import type { NextPart } from '../stream/stream-reader.ts'
import { TranslatingReader } from '../stream/translating-reader.ts'
import type { Prepared } from '../upstream/prepare.ts'
import { readErrorAnswer } from '../upstream/read-answer.ts'

/**
 * Makes one attempt to continue a broken stream, up to the first content of the new response. `begin` returns the
 * encoder for the events of this response. The hold stays with the stream. If the caller disconnects, the result is an
 * attempt without content, so that its prompt is charged. Throws CallerLeft if no request was sent.
 */
export async function attemptToGoOn(
  deps: RelayDeps,
  call: RelayCall,
  trial: Trial,
  begin: (prepared: Prepared) => StreamEncoder,
): Promise<NextPart | AttemptFailed> {
  const made = beginAttempt(deps, call, trial)
  const { open, sentAtMs } = made
  try {
    const preparing = prepareTrial(deps, made, trial)
    const ready = preparing instanceof Promise ? await preparing : preparing
    const response = await sendTrial(deps, made, trial, ready)
    const next = await opened(deps, made, { prepared: ready.prepared, response, begin })
    noteAttempt(deps, open, { sentAtMs, status: response.status })
    return next
  } catch (error) {
    if (error instanceof CallerLeft) {
      if (!made.isSent) throw error
      noteAttempt(deps, open, { sentAtMs, status: 0, error: error.message })
      return { open, reader: new EndedReader(), meter: new TalliedMeter(new EventTally()) }
    }
    const failed = error instanceof AttemptFailed ? error : toFailure(error)
    if (failed instanceof RefusedAnswer) await addLostCost(deps, open, failed.refusal.answer)
    noteAttempt(deps, open, { sentAtMs, status: failed.status, error: reasonOf(failed, trial.channel.upstream.key) })
    return failed
  }
}

interface Answered {
  prepared: Prepared
  response: Response
  begin: (prepared: Prepared) => StreamEncoder
}

async function opened(
  deps: RelayDeps,
  { open, sentAtMs }: Attempt,
  { prepared, response, begin }: Answered,
): Promise<NextPart> {
  const { codec } = prepared
  const { requestId } = open.call
  if (!response.ok) {
    const text = await readErrorAnswer(deps, response)
    throw statusFailure(response, text, open.channel.upstream.key, deps.clock.nowMs(), codec?.from)
  }
  if (!codec || !isEventStream(response.headers)) throw await unread(response, 'the upstream did not stream')
  const { from } = codec
  const answering = { deps, open, response, sentAtMs }
  const begun = await openStream(answering, () => new DecodingMeter(from, requestId))
  const isHeld = isHeldBack(open.call)
  const { reader, opening } = isHeld ? await holdBack(answering, begun, from.streamDecoder(requestId)) : begun
  const decoder = countingDecoder(from.streamDecoder(requestId), open.tools)
  const translating = new TranslatingReader(reader, decoder, begin(prepared), opening)
  return { open, reader: translating, meter: translating.meter }
}
