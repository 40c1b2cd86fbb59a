import type { StreamDecoder } from '../../dialects/neutral/dialect.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { GatewayError } from '../../errors.ts'
import { messagesIn, SseSplitter, sseData } from '../../lib/bytes/sse.ts'
import { isObject, stringify, tryParse } from '../../lib/json.ts'
import type { RelayCall } from '../call/call.ts'
import { CallerLeft } from '../cancellation/caller-left.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import type { Answering } from '../charging/settlement.ts'
import { exitOfRefusal, leavesRefusals, type Refusal, RefusedAnswer } from '../failures/refused-answer.ts'
import { badBody, failedAttempt, failureWithin, madeOf } from '../failures/upstream-failure.ts'
import type { UpstreamPiece, UpstreamReader } from '../upstream/upstream-reader.ts'
import { EndedReader, type PieceReader } from './ended-reader.ts'
import { RefusalWatch } from './refusal-watch.ts'

/** A stream whose beginning has been read: its reader, and the pieces that have been read. */
export interface Opened {
  readonly reader: PieceReader
  readonly opening: UpstreamPiece[]
}

/**
 * The maximum number of bytes that are held back. A larger stream is sent to the caller, and no other model is tried.
 */
const mostBytes = 256 * 1024
/** How long to wait for the usage of a stream that contains only a refusal, in milliseconds. */
const usageWaitMs = 1_000

/**
 * True if the stream of a call is held back until its first content. This is necessary if another model is tried after
 * a refusal, because text that has been sent cannot be withdrawn.
 */
export function isHeldBack(call: RelayCall): boolean {
  return leavesRefusals(call) && !call.inBackground && (call.goesOn?.text ?? '') === ''
}

/**
 * Holds a stream back until it contains something other than reasoning and refusals, or until it ends. Returns the
 * reader and the pieces that have been read by then. In the meantime, the caller is sent keep-alives (`answerInTime`).
 * Throws RefusedAnswer if the stream contains only a refusal and the virtual model of the call uses another step after
 * a refusal. Throws AttemptFailed and CallerLeft like `openStream`. `deliver` sends the refusal to the caller if no
 * other step can answer. If `deliver` is absent, the refusal is dropped.
 */
export async function holdBack<Reader extends UpstreamReader>(
  answering: Answering,
  { reader, opening }: { readonly reader: Reader; readonly opening: UpstreamPiece[] },
  decoder: StreamDecoder,
  deliver?: (held: Opened) => Promise<Response>,
): Promise<{ reader: Reader; opening: UpstreamPiece[] }> {
  try {
    return { reader, opening: await new HeldBack(answering, reader, decoder, deliver).pieces(opening) }
  } catch (error) {
    reader.cancel()
    throw error
  }
}

class HeldBack {
  readonly #answering: Answering
  readonly #reader: UpstreamReader
  readonly #watch: RefusalWatch
  readonly #splitter = new SseSplitter()
  readonly #deliver: ((held: Opened) => Promise<Response>) | undefined
  readonly #held: UpstreamPiece[] = []
  /** The total size of the pieces in `#held`. */
  #bytes = 0

  constructor(
    answering: Answering,
    reader: UpstreamReader,
    decoder: StreamDecoder,
    deliver: ((held: Opened) => Promise<Response>) | undefined,
  ) {
    this.#answering = answering
    this.#reader = reader
    this.#deliver = deliver
    this.#watch = new RefusalWatch(decoder, answering.open.call.facts.choices)
  }

  async pieces(opening: readonly UpstreamPiece[]): Promise<UpstreamPiece[]> {
    const rest = opening.values()
    for (;;) {
      const piece = rest.next().value ?? (await this.#reader.next())
      // Keep-alives are sent by the code that waits for this response.
      if (piece.kind === 'quiet') continue
      this.#keep(piece)
      const isOver = this.#take(piece)
      const stops = this.#watch.stops
      const exit = stops && exitOfRefusal(this.#answering.open.call, stops)
      if (exit) throw await this.#refused(exit, isOver)
      if (isOver || stops || this.#watch.hasSpoken || this.#bytes > mostBytes) return this.#held
    }
  }

  #keep(piece: UpstreamPiece): void {
    if (piece.kind === 'chunk') {
      // The piece is copied, because the runtime may reuse its memory when the next one is read.
      this.#held.push({ kind: 'chunk', bytes: piece.bytes.slice() })
      this.#bytes += piece.bytes.length
    } else this.#held.push(piece)
  }

  /**
   * Reads a piece. Returns true if it is the last one. Throws AttemptFailed for a stream that fails before it has any
   * content.
   */
  #take(piece: UpstreamPiece): boolean {
    const { response, open } = this.#answering
    const { status } = response
    if (piece.kind !== 'chunk' && open.call.leaving.hasLeft) throw new CallerLeft()
    switch (piece.kind) {
      case 'chunk': {
        const { events } = this.#splitter.push(piece.bytes)
        this.#feed(events.flatMap(messagesIn))
        return false
      }
      case 'end': {
        const data = sseData(this.#splitter.finish().text)
        this.#feed(data === undefined ? [] : [data])
        this.#watch.finish()
        if (!this.#watch.hasSpoken && !this.#watch.stops)
          throw badBody('the upstream ended its response before any content', status)
        return true
      }
      case 'broken':
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

  #feed(messages: readonly string[]): void {
    const { response, open } = this.#answering
    for (const data of messages) madeOf(() => this.#watch.feed(data), response.status)
    const { failure, isUnreadable, hasSpoken } = this.#watch
    if (!failure || hasSpoken) return
    if (isUnreadable) throw badBody('the upstream sent an event that cannot be read', response.status)
    throw failureWithin(failure, response.status, open.channel.upstream.key)
  }

  /** The error for a refusal. It contains the usage and the end of the stream if they arrive within `usageWaitMs`. */
  async #refused(exit: Refusal['exit'], isOver: boolean): Promise<RefusedAnswer> {
    const reader = this.#reader
    reader.hurry(usageWaitMs)
    for (let isDone = isOver; !isDone && !this.#watch.hasEnded && this.#bytes <= mostBytes; ) {
      const piece = await reader.next()
      if (piece.kind === 'chunk') {
        this.#keep(piece)
        for (const each of this.#splitter.push(piece.bytes).events.flatMap(messagesIn)) this.#watch.feed(each)
      } else isDone = true
    }
    const { open, response } = this.#answering
    const deliver = this.#deliver
    return new RefusedAnswer({
      ...{ exit, open, status: response.status, answer: this.#watch.answer },
      deliver: deliver && (() => deliver({ reader: new EndedReader(), opening: this.#held })),
    })
  }
}

/** The decoder for a stream of OpenAI's chat completions or completions API. */
export function openAiDecoder({ mode, requestId }: RelayCall): StreamDecoder {
  const decoder = openaiChat.streamDecoder(requestId)
  return mode === 'chat' ? decoder : { push: (data) => decoder.push(asChat(data)), finish: () => decoder.finish() }
}

/**
 * Converts an event of the completions API into an event of the chat completions API. The two APIs have the text in
 * different fields.
 */
function asChat(data: string): string {
  const event = tryParse(data)
  if (!isObject(event) || !Array.isArray(event['choices'])) return data
  const choices = event['choices'].map((choice: unknown) =>
    isObject(choice) ? { ...choice, delta: { content: choice['text'] } } : choice,
  )
  return stringify({ ...event, choices })
}
