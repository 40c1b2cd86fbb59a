import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import { GatewayError } from '../../errors.ts'
import { messagesIn, SseSplitter, someEvent, sseData } from '../../lib/bytes/sse.ts'
import type { Clock } from '../../lib/clock.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { CallerLeft, type Leaving } from '../cancellation/caller-left.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import type { Answering } from '../charging/settlement.ts'
import type { AttemptFailed } from '../failures/retry-policy.ts'
import { badBody, failedAttempt, failureInStream, madeOf } from '../failures/upstream-failure.ts'
import { readerOf } from '../upstream/read-answer.ts'
import { firstTokenByMs, timeLimits } from '../upstream/time-limits.ts'
import type { UpstreamPiece, UpstreamReader } from '../upstream/upstream-reader.ts'

const never = Number.POSITIVE_INFINITY

interface Opening {
  reader: UpstreamReader
  /** Creates a meter that is used only for the opening. The stream's own meter reads the same pieces later. */
  newMeter: () => StreamMeter
  status: number
  leaving: Leaving
  /** The latest time until which pieces are held back, in milliseconds on `clock`. */
  untilMs: number
  clock: Clock
  /** The channel's key, which must not be shown. */
  key: string
}

/**
 * Limits for the size of a piece, in bytes. `ofToken` is multiplied by the number of tokens for which quota is held in
 * advance (`PreConsumedQuota`). A piece is either passed on completely or, if the quota does not cover it, withheld
 * completely. An event with one token has at least 100 bytes, so a piece costs less than half of the quota that is held
 * in advance.
 */
const pieceBytes = { most: 8 * 1024, least: 256, ofToken: 16 }

/**
 * Begins a streamed response. Returns its reader, and the pieces that were read to check that it has content. Throws
 * AttemptFailed and CallerLeft.
 */
export async function openStream(
  { deps, open, response, sentAtMs }: Answering,
  newMeter: () => StreamMeter,
): Promise<{ reader: UpstreamReader; opening: UpstreamPiece[] }> {
  if (!response.body) throw emptyStream(response.status)
  const { leaving } = open.call
  const limits = timeLimits(deps, open, sentAtMs)
  const pieceBytes = pieceBytesFor(deps.settings().PreConsumedQuota)
  const speaksByMs = firstTokenByMs(deps, open, sentAtMs)
  // A stream with a time limit for its first content is held back until that content arrives, so that another channel
  // can still be tried. In the meantime, the caller is sent keep-alives (`answerInTime`).
  const isTimed = speaksByMs !== never
  const opened = isTimed ? { ...limits, keepAliveMs: 0, deadlineMs: Math.min(limits.deadlineMs, speaksByMs) } : limits
  const reader = readerOf(deps, response.body, { ...opened, pieceBytes })
  const untilMs = opened.keepAliveMs > 0 ? deps.deadlineWatch.nowMs() + opened.keepAliveMs : never
  leaving.onLeave(() => reader.cancel())
  const { status } = response
  const { key } = open.channel.upstream
  try {
    const opening = await readOpening({ reader, newMeter, status, leaving, untilMs, clock: deps.deadlineWatch, key })
    if (isTimed) reader.relax(limits)
    return { reader, opening }
  } catch (error) {
    reader.cancel()
    throw error
  }
}

function pieceBytesFor(sliceTokens: number): number {
  return Math.min(pieceBytes.most, Math.max(pieceBytes.least, sliceTokens * pieceBytes.ofToken))
}

/**
 * Reads a stream up to its first event with content. If the stream ends, breaks off or fails before that event, another
 * channel can be tried, because nothing has been sent to the caller. Throws AttemptFailed and CallerLeft.
 */
async function readOpening(opening: Opening): Promise<UpstreamPiece[]> {
  const { reader, clock, untilMs } = opening
  const silent: UpstreamPiece[] = []
  for (;;) {
    const piece = await reader.next()
    const glance = piece.kind === 'chunk' ? glanceAt(piece.bytes) : undefined
    if (glance === undefined || piece.kind !== 'chunk') return readClosely(opening, silent, piece)
    if (glance === 'speaks') return silent.length === 0 ? [piece] : [...silent, piece]
    silent.push(copyOf(piece))
    if (clock.nowMs() >= untilMs) return silent
  }
}

/** Copies a piece, because the runtime may reuse its memory when the next piece is read. */
function copyOf({ bytes }: UpstreamPiece & { kind: 'chunk' }): UpstreamPiece {
  return { kind: 'chunk', bytes: bytes.slice() }
}

/**
 * Parses every event up to the first one with content. `silent` contains the pieces that have already been read and
 * have no content.
 */
async function readClosely(opening: Opening, silent: UpstreamPiece[], first: UpstreamPiece): Promise<UpstreamPiece[]> {
  const { reader, status, leaving } = opening
  const meter = opening.newMeter()
  const pieces: UpstreamPiece[] = [...silent]
  const splitter = new SseSplitter()
  for (const each of silent) {
    const events = each.kind === 'chunk' ? splitter.push(each.bytes).events : []
    for (const message of events.flatMap(messagesIn)) isSpeaking(opening, meter, message)
  }
  for (let piece = first; ; piece = await reader.next()) {
    switch (piece.kind) {
      case 'quiet':
        return [...pieces, piece]
      case 'chunk': {
        const block = splitter.push(piece.bytes)
        const begun = someEvent(block, (event) => messagesIn(event).some((each) => isSpeaking(opening, meter, each)))
        if (block.early && !begun) refuseNoEvents([...pieces, piece], status)
        if (begun || block.early || opening.clock.nowMs() >= opening.untilMs) return [...pieces, piece]
        pieces.push(copyOf(piece))
        break
      }
      case 'end': {
        if (leaving.hasLeft) throw new CallerLeft()
        const data = sseData(splitter.finish().text)
        if (data !== undefined && isSpeaking(opening, meter, data)) return [...pieces, piece]
        throw emptyStream(status)
      }
      case 'broken':
        if (leaving.hasLeft) throw new CallerLeft()
        throw badBody('the connection to the upstream was lost before its response', status)
      case 'cut':
        throw failedAttempt(shuttingDown(), status)
      default:
        throw failedAttempt(
          new GatewayError('upstream_timeout', 'the upstream did not begin its response in time'),
          status,
        )
    }
  }
}

/**
 * Refuses a response that is not an event stream. A long first line without a field name belongs to a page or a file,
 * not to a stream (HTML standard, 9.2.6).
 */
function refuseNoEvents(pieces: readonly UpstreamPiece[], status: number): void {
  const head = Buffer.concat(pieces.flatMap((each) => (each.kind === 'chunk' ? [each.bytes] : []))).toString(
    'utf8',
    0,
    64,
  )
  if (!/^[\s\ufeff]*[\w-]*:/.test(head))
    throw badBody('the upstream began its response with data that cannot be read', status)
}

function emptyStream(status: number): AttemptFailed {
  return badBody('the upstream sent an empty stream', status)
}

function isSpeaking({ key, status }: Opening, meter: StreamMeter, data: string): boolean {
  if (data.trim() === '') return false
  const signal = madeOf(() => meter.feed(data), status)
  if (signal === 'garbage') throw badBody('the upstream began its response with data that cannot be read', status)
  if (signal === 'skip') return false
  if (signal === 'error') throw failureInStream(meter, status, key)
  // This event ends the stream. The stream is not empty if the event contains the complete response, as in some
  // dialects, or if the stream has reported usage.
  if (signal === 'done') {
    if (!meter.speaks && meter.usage === undefined) throw emptyStream(status)
    return true
  }
  return meter.speaks ?? true
}

/**
 * What a scan of the first bytes of a stream finds: content (`speaks`) or no content (`silent`); undefined = the bytes
 * must be parsed.
 */
export type Glance = 'speaks' | 'silent' | undefined

const eventStart = 'data: {'
/** The maximum length of an event that is scanned, in characters, and the maximum number of events scanned. */
const shortEvent = 1024
const mostEvents = 4
const mostBytes = mostEvents * (shortEvent + 2)
/** The first two events together are usually shorter than this number of bytes. */
const usualBytes = 600
const someText = /"(?:content|reasoning_content|reasoning|text)": ?"[^"]/
/** One choice whose delta has only a role and empty texts, and no finish reason. */
const emptyChoice =
  /"choices": ?\[\{(?:"(?:index|logprobs|finish_reason)": ?(?:0|null), ?)*"delta": ?\{(?:"(?:role": ?"assistant|(?:content|refusal|reasoning_content|reasoning)": ?"(?="))"(?:, ?)?|"(?:content|refusal|reasoning_content|reasoning|tool_calls|function_call|audio)": ?null(?:, ?)?)*\}(?:, ?"(?:index|logprobs|finish_reason|native_finish_reason)": ?(?:0|null))*\}\]/
const someUsage = /"usage": ?\{/

/**
 * Recognises the common beginnings of OpenAI's streams without parsing them: complete chunks without content, followed
 * by a chunk that contains some text and nothing that could be an error. `silent` means that no chunk with content has
 * arrived yet.
 */
export function glanceAt(bytes: Uint8Array): Glance {
  let text = textOf(bytes, usualBytes)
  let at = 0
  for (let count = 0; count < mostEvents; count++) {
    let end = text.indexOf('\n\n', at)
    if (end < 0 && text.length === usualBytes) {
      text = textOf(bytes, mostBytes)
      end = text.indexOf('\n\n', at)
    }
    if (end < 0 || end - at > shortEvent) return undefined
    const event = text.slice(at, end)
    if (!event.startsWith(eventStart) || !event.endsWith('}') || event.includes('"error"')) return undefined
    if (event.includes('\n')) return undefined
    // Parse this event to make sure that it is valid. After it has been passed on, no other channel can be tried.
    if (event.includes('"choices":[{') && someText.test(event))
      return isObject(tryParse(event.slice(eventStart.length - 1))) ? 'speaks' : undefined
    if (!emptyChoice.test(event) || someUsage.test(event)) return undefined
    at = end + 2
    if (at === bytes.length) return 'silent'
  }
  return undefined
}

/** The first bytes as text, with one character for each byte. */
function textOf(bytes: Uint8Array, most: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, 0, Math.min(bytes.length, most))
}
