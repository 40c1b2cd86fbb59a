import { GatewayError } from '../../errors.ts'
import { DecompressionError } from '../../lib/network/fetch-plain.ts'
import type { RelayDeps } from '../call/deps.ts'
import { CallerLeft } from '../cancellation/caller-left.ts'
import type { DeadlineWait } from '../cancellation/deadline-watch.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import type { Answering, OpenCall } from '../charging/settlement.ts'
import { AttemptFailed, judgeFailure } from '../failures/retry-policy.ts'
import { badBody, failedAttempt } from '../failures/upstream-failure.ts'
import { timeLimits } from './time-limits.ts'
import { type ReadLimits, type UpstreamPiece, UpstreamReader } from './upstream-reader.ts'

/**
 * The maximum number of bytes of an error body that are read, and how long to wait for them. More text would not make
 * an error clearer.
 */
const errorBodyBytes = 64 * 1024
const errorBodyMs = 2_000
/** A response of at most `shortAnswerBytes` is read in one step if its idle limit is at least `shortAnswerMs`. */
const shortAnswerBytes = 64 * 1024
const shortAnswerMs = 10_000
/** The maximum length of a complete response that is kept in memory until it is charged. */
const replyBytes = 256 * 1024 * 1024

/** Why reading ended. */
type Ending = UpstreamPiece['kind'] | 'too-long'

/** Returns a reader of an upstream's body with the given limits. */
export function readerOf(deps: RelayDeps, body: ReadableStream<Uint8Array>, limits: ReadLimits): UpstreamReader {
  return new UpstreamReader(body, deps.deadlineWatch, limits)
}

/**
 * Returns the part of an error body that could be read. It may be empty, because the error can be reported from its
 * status alone.
 */
export async function readErrorAnswer(deps: RelayDeps, response: Response): Promise<string> {
  if (!response.body) return ''
  const limits = { idleMs: errorBodyMs, keepAliveMs: 0, deadlineMs: deps.deadlineWatch.nowMs() + errorBodyMs }
  const { bytes } = await readerOf(deps, response.body, limits).collect(errorBodyBytes)
  return bytes.toString('utf8')
}

/**
 * Reads the response to a request that the gateway makes for itself. Returns the text that arrived, and why reading
 * ended.
 */
export async function readBounded(
  deps: RelayDeps,
  response: Response,
  limitBytes: number,
  deadlineMs: number,
): Promise<{ text: string; ending: Ending }> {
  if (!response.body) return { text: '', ending: 'end' }
  const limits = { idleMs: 0, keepAliveMs: 0, deadlineMs }
  const { bytes, ending } = await readerOf(deps, response.body, limits).collect(limitBytes)
  return { text: bytes.toString('utf8'), ending }
}

/** Reads the complete response. Rejects with AttemptFailed and CallerLeft. */
export function readWhole({ deps, open, response, sentAtMs }: Answering): Promise<string> {
  const limits = timeLimits(deps, open, sentAtMs)
  limits.keepAliveMs = 0
  if (isShort(response) && limits.idleMs >= shortAnswerMs) return readShort(deps, open, response, limits)
  return readLong(deps, open, response, limits)
}

async function readLong(deps: RelayDeps, open: OpenCall, response: Response, limits: ReadLimits): Promise<string> {
  // The property `body` must not be accessed earlier, because accessing it turns the response into a stream.
  if (!response.body) return ''
  const reader = readerOf(deps, response.body, limits)
  const { leaving } = open.call
  leaving.onLeave(() => reader.cancel())
  const { bytes, ending, cause } = await reader.collect(replyBytes)
  if (leaving.hasLeft) throw new CallerLeft()
  if (ending === 'end') return bytes.toString('utf8')
  if (cause instanceof DecompressionError) throw badBody(cause.message, response.status)
  throw noWholeAnswer(ending, open, response.status)
}

/**
 * A short response arrives with its head or right after it. Reading it in one step costs half as much as reading it in
 * pieces.
 */
function isShort(response: Response): boolean {
  const { headers } = response
  const declared = headers.get('content-length')
  return declared !== null && Number(declared) <= shortAnswerBytes
}

function readShort(deps: RelayDeps, open: OpenCall, response: Response, limits: ReadLimits): Promise<string> {
  return new Promise((resolve, reject) => {
    const dueAtMs = Math.min(limits.deadlineMs, deps.deadlineWatch.nowMs() + limits.idleMs)
    const { leaving } = open.call
    // `response.text()` has no reader that could be cancelled. The request is therefore aborted with the same action as
    // for a caller who disconnects.
    const giveUp = (ending: 'stalled' | 'overdue' | 'cut') => {
      fail(ending)
      leaving.act()
    }
    const wait: DeadlineWait = {
      dueAtMs,
      due: () => giveUp(deps.deadlineWatch.nowMs() >= limits.deadlineMs ? 'overdue' : 'stalled'),
      cut: () => giveUp('cut'),
      watchIndex: undefined,
    }
    const fail = (ending: 'stalled' | 'overdue' | 'broken' | 'cut') => {
      deps.deadlineWatch.remove(wait)
      reject(noWholeAnswer(ending, open, response.status))
    }
    deps.deadlineWatch.add(wait)
    response.text().then(
      (text) => {
        deps.deadlineWatch.remove(wait)
        resolve(text)
      },
      () => fail('broken'),
    )
  })
}

/** The error for a response that did not arrive completely. */
export function noWholeAnswer(ending: Ending, open: OpenCall, status: number): Error {
  if (open.call.leaving.hasLeft) return new CallerLeft()
  switch (ending) {
    case 'end':
      return badBody('the upstream sent an empty response', status)
    case 'too-long':
      return badBody("the upstream's response is too large", status)
    case 'broken':
      return failedAttempt(new GatewayError('do_request_failed', 'the connection to the upstream was lost'), status)
    case 'cut':
      return failedAttempt(shuttingDown(), status)
    default: {
      const late = new GatewayError('upstream_timeout', 'the upstream did not finish its response in time')
      // The limit for the whole call is set by the gateway. An upstream that is still sending when this limit is
      // reached is not faulty.
      return new AttemptFailed(late, { ...judgeFailure(late), upstreamFault: ending !== 'overdue' }, status)
    }
  }
}
