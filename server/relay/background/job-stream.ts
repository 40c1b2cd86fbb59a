import { describeFault } from '../../errors.ts'
import { SseSplitter, someEvent } from '../../lib/bytes/sse.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { RelayDeps } from '../call/deps.ts'
import { keepAlive } from '../stream/keep-alive.ts'
import type { UpstreamPiece, UpstreamReader } from '../upstream/upstream-reader.ts'
import { chargeIfEnded } from './end-job.ts'

/**
 * The maximum length of an event. An event is sent only when it is complete: the response must be charged before any
 * part of the last event is sent, and that event may be large.
 */
const mostEventBytes = 64 * 1024 * 1024
const lastEvents = /"response\.(?:completed|failed|incomplete|cancelled)"/

interface JobStreamOptions {
  deps: RelayDeps
  reader: UpstreamReader
  /** The owner of the response. */
  userId: number
  /** The part of the stream that has been read already. */
  opening?: readonly Uint8Array[]
  /** Called once, however the stream ends, before its end is sent. */
  ended(): Promise<void> | void
}

/**
 * The events of a response that is generated in the background, as the caller receives them. They are passed on as they
 * arrive. The job owns the hold, so the caller may disconnect at any time and resume later. The response is charged
 * before its last event is sent.
 */
export class JobStream {
  readonly #options: JobStreamOptions
  readonly #splitter = new SseSplitter(mostEventBytes, mostEventBytes)
  #opening: readonly Uint8Array[]
  #hasLast = false
  #isOver = false

  constructor(options: JobStreamOptions) {
    this.#options = options
    this.#opening = options.opening ?? []
  }

  /** The stream as the body of an HTTP response. */
  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const bytes = await this.#next()
        if (bytes) controller.enqueue(bytes)
        else controller.close()
      },
      cancel: () => this.leave(),
    })
  }

  /** Ends the stream because its caller has disconnected. */
  leave(): void {
    void this.#end()
  }

  /** The next bytes to send. Undefined at the end of the stream. */
  async #next(): Promise<Uint8Array | undefined> {
    while (!this.#isOver) {
      const piece = await this.#piece()
      if (piece.kind === 'quiet') return keepAlive
      if (piece.kind !== 'chunk') return this.#last(piece.kind)
      const block = this.#splitter.push(piece.bytes)
      let last: unknown
      someEvent(block, ({ data }) => {
        if (data === undefined || !lastEvents.test(data)) return false
        const event = tryParse(data)
        last = isObject(event) && /^response\./.test(String(event['type'])) ? event['response'] : undefined
        return last !== undefined
      })
      if (last !== undefined) await this.#charge(last)
      if (block.bytes) return block.bytes.slice()
    }
    return undefined
  }

  async #piece(): Promise<UpstreamPiece> {
    const [bytes, ...rest] = this.#opening
    if (!bytes) return this.#options.reader.next()
    this.#opening = rest
    return { kind: 'chunk', bytes }
  }

  /**
   * The bytes that end a stream: none if its last event was sent, otherwise an error event that explains how to resume
   * the stream.
   */
  async #last(how: UpstreamPiece['kind']): Promise<Uint8Array | undefined> {
    await this.#end()
    if (this.#hasLast) return undefined
    const message =
      how === 'cut'
        ? 'the gateway is shutting down: resume the stream with starting_after'
        : 'the stream broke off while the response is made: resume it with starting_after'
    const event = { type: 'error', code: 'upstream_stream_error', message, param: null }
    return new TextEncoder().encode(`event: error\ndata: ${JSON.stringify(event)}\n\n`)
  }

  /** Charges the response. If this fails, the node that next asks the service about the response charges it. */
  async #charge(response: unknown): Promise<void> {
    this.#hasLast = true
    const { deps, userId } = this.#options
    await chargeIfEnded(deps, userId, response).catch((error: unknown) => deps.events.warning(describeFault(error)))
  }

  async #end(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.reader.cancel()
    await this.#options.ended()
  }
}
