import type { Usage } from '../../../contract/usage.ts'
import { ForgivingDecoder } from '../../dialects/damaged-events/forgiving-decoder.ts'
import { EventTally } from '../../dialects/metering/event-tally.ts'
import { TalliedMeter } from '../../dialects/metering/tallied-meter.ts'
import type { StreamDecoder, StreamEncoder } from '../../dialects/neutral/dialect.ts'
import { brokenOff, unreadable } from '../../dialects/neutral/failure.ts'
import type { Failure, StreamEvent } from '../../dialects/neutral/reply.ts'
import { messagesIn, type SseEvent, SseSplitter, sseData } from '../../lib/bytes/sse.ts'
import type { UpstreamPiece } from '../upstream/upstream-reader.ts'
import type { PieceReader } from './ended-reader.ts'
import type { StreamPiece, StreamReader, WriteEnd } from './stream-reader.ts'

const encoder = new TextEncoder()
const unreadableEnd: StreamPiece = { kind: 'last', outcome: 'garbage' }

/**
 * Translates an upstream's stream into the caller's dialect. Returns complete events that are already metered. The end
 * is a separate piece, so that it can wait for the charge.
 */
export class TranslatingReader implements StreamReader {
  readonly meter: TalliedMeter
  readonly #tally = new EventTally()
  readonly #from: PieceReader
  readonly #decoder: ForgivingDecoder
  readonly #encoder: StreamEncoder
  readonly #splitter = new SseSplitter()
  readonly #opening: UpstreamPiece[]
  /** Pieces to return before anything else is read. */
  #ready: StreamPiece[] = []

  /** `opening` contains the pieces that have already been read. */
  constructor(from: PieceReader, decoder: StreamDecoder, to: StreamEncoder, opening: UpstreamPiece[]) {
    this.#from = from
    this.#decoder = new ForgivingDecoder(decoder)
    this.#encoder = to
    this.#opening = opening
    this.meter = new TalliedMeter(this.#tally)
  }

  next(): Promise<StreamPiece> {
    return new Promise((resolve) => this.ask(resolve))
  }

  ask(answer: (piece: StreamPiece) => void): void {
    const ready = this.#ready.shift()
    if (ready) {
      answer(ready)
      return
    }
    const opened = this.#opening.shift()
    const take = (piece: UpstreamPiece): void => {
      const [first, ...rest] = this.#translated(piece)
      this.#ready.push(...rest)
      if (first) answer(first)
      else this.ask(answer)
    }
    if (opened) take(opened)
    else this.#from.ask(take)
  }

  cancel(): void {
    this.#from.cancel()
  }

  drain(limitMs: number): void {
    this.#from.drain(limitMs)
  }

  hurry(limitMs: number): void {
    this.#from.hurry(limitMs)
  }

  failed(failure: Failure, charged: Usage | undefined): string {
    if (charged) this.#encoder.push({ type: 'usage', usage: charged })
    return this.#encoder.push({ type: 'error', failure })
  }

  /**
   * Returns an error as a piece, because it must reach the code that waits for the piece. If it were thrown here,
   * nothing would catch it.
   */
  #translated(piece: UpstreamPiece): StreamPiece[] {
    try {
      return this.#translate(piece)
    } catch (fault) {
      return [{ kind: 'fault', fault }]
    }
  }

  #translate(piece: UpstreamPiece): StreamPiece[] {
    if (piece.kind === 'quiet') return [piece]
    if (piece.kind === 'chunk') {
      return this.#written(this.#readAll(this.#splitter.push(piece.bytes).events))
    }
    const data = sseData(this.#splitter.finish().text)
    const events = this.#decoder.finish(data)
    this.meter.isCut = events.every(({ type }) => type !== 'end')
    // Drop the decoder's errors about an incomplete stream. `piece` shows more precisely why the stream is incomplete.
    const remaining = events.filter(
      (event) => event.type !== 'error' || (event.failure !== brokenOff && event.failure !== unreadable),
    )
    return [...this.#written(remaining), piece]
  }

  /** Decodes events up to the first one that reports an error. */
  #readAll(events: readonly SseEvent[]): StreamEvent[] {
    const result: StreamEvent[] = []
    for (const message of events.flatMap(messagesIn)) {
      const decoded = this.#decoder.push(message) ?? []
      this.meter.leftOut = this.#decoder.leftOut
      for (const event of decoded) result.push(event)
      if (decoded.some(({ type }) => type === 'error')) break
    }
    return result
  }

  #written(events: readonly StreamEvent[]): StreamPiece[] {
    let text = ''
    for (const event of events) {
      this.#tally.take(event)
      // Events that arrived together with the end are also sent only after the charge, so that the caller receives all
      // of them in one write.
      if (event.type === 'end')
        return [{ kind: 'last', bytes: encoder.encode(text), outcome: 'done', end: endOf(this.#encoder) }]
      // The error is a separate piece, because the caller never sees it if another attempt continues the stream.
      if (event.type === 'error' && event.failure !== unreadable)
        return [...ready(text), { kind: 'last', outcome: 'error', write: () => this.#encoded(event) }]
      const out = this.#encoded(event)
      if (out === undefined) return [...ready(text), unreadableEnd]
      text += out
    }
    return ready(text)
  }

  /**
   * An event in the caller's dialect; undefined if it cannot be written, for example because its JSON is nested too
   * deeply.
   */
  #encoded(event: StreamEvent): string | undefined {
    if (event.type === 'error' && event.failure === unreadable) return undefined
    try {
      return this.#encoder.push(event)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return undefined
    }
  }
}

/** Returns the function that writes the end of a response with its encoder. */
export function endOf(inner: StreamEncoder): WriteEnd {
  return (counted) => (counted ? inner.push({ type: 'usage', usage: counted }) : '') + inner.push({ type: 'end' })
}

function ready(text: string): StreamPiece[] {
  return text === '' ? [] : [{ kind: 'ready', bytes: encoder.encode(text) }]
}
