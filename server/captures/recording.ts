import { isEventStream } from '../lib/bytes/sse.ts'

/** A collected body: the beginning of its bytes, and its total length. */
export interface Collected {
  chunks: Uint8Array[]
  kept: number
  size: number
  /** True if the body was a form. In that case, only the fields of the form are recorded, and not its files. */
  isSummary?: true
}

/** The body of a request: its text, its bytes, or the fields of a multipart form with the size of the whole form. */
export type RecordedBody = string | Uint8Array | { readonly fields: ReadonlyMap<string, string>; readonly size: number }

/** The channel of an attempt. The channel's key is not stored. It is used to remove the key from the recorded texts. */
export interface RecordedChannel {
  id: number
  name: string
  key: string
}

/** One recorded attempt. */
export interface RecordedAttempt {
  channel: RecordedChannel
  dialect: string
  status: number
  isStream: boolean
  request: Collected
  response: Collected
}

/** The content of a finished recording. */
export interface Recorded {
  request: Collected
  attempts: RecordedAttempt[]
  status: number
  isStream: boolean
  response: Collected
}

/** Attempts beyond this number are not recorded. */
const mostAttempts = 10
/** How long to wait for the rest of an upstream's response after the caller has received the whole response. */
const restMs = 2_000

export interface RecordingOptions {
  /** The maximum number of bytes that are recorded of each body. */
  sizeLimit: number
  /** Whether attempts on a channel are recorded. */
  includes(channelId: number): boolean
  /** Called once, after the response has ended. */
  done(recorded: Recorded): void
}

/**
 * Records one call while it is relayed. Recording cannot make the call fail. Up to the size limit, bytes are copied as
 * they are passed on. All other work is done after the response.
 */
export class Recording {
  /** True if the response arrives in pieces and must therefore be passed on before it is complete. */
  isStreamed = false
  readonly #options: RecordingOptions
  readonly #recorded: Recorded = { request: empty(), attempts: [], status: 0, isStream: false, response: empty() }
  #openBodies = 0
  #hasEnded = false
  #isDone = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: RecordingOptions, signal: AbortSignal) {
    this.#options = options
    // The runtime does not cancel a body that it has not begun to read. In that case, the signal ends the recording.
    signal.addEventListener('abort', () => this.#end(), { once: true })
  }

  /** Records the body that the caller sent. */
  requested(body: RecordedBody): void {
    this.#recorded.request = this.#taken(body)
  }

  /**
   * Records the body that is sent to a channel. The returned function passes the response on and records it. Returns
   * undefined if the attempt is not recorded.
   */
  attempt(
    channel: RecordedChannel,
    dialect: string,
    body: RecordedBody,
  ): ((response: Response) => Response) | undefined {
    if (this.#recorded.attempts.length >= mostAttempts || !this.#options.includes(channel.id)) return undefined
    const attempt: RecordedAttempt = {
      channel,
      dialect,
      status: 0,
      isStream: false,
      request: this.#taken(body),
      response: empty(),
    }
    this.#recorded.attempts.push(attempt)
    return (response) => {
      attempt.status = response.status
      attempt.isStream = isEventStream(response.headers)
      return this.#watched(response, attempt.response, () => undefined)
    }
  }

  /**
   * Passes the response on to the caller and records it. A response that is not streamed is read completely first, so
   * that its length is known.
   */
  async answered(response: Response): Promise<Response> {
    this.#recorded.status = response.status
    this.#recorded.isStream = isEventStream(response.headers)
    const isPassedOn = this.isStreamed && response.status < 400
    if (isPassedOn && response.body) return this.#watched(response, this.#recorded.response, () => this.#end())
    const bytes = new Uint8Array(await response.arrayBuffer())
    this.#keep(this.#recorded.response, bytes)
    this.#end()
    return new Response(bytes, { status: response.status, headers: response.headers })
  }

  #taken(body: RecordedBody): Collected {
    const collected = empty()
    if (typeof body === 'object' && 'fields' in body) {
      this.#keep(collected, Buffer.from(JSON.stringify(Object.fromEntries(body.fields), null, 2)))
      collected.size = body.size
      collected.isSummary = true
      return collected
    }
    // Each character has at least one byte in UTF-8, so `sizeLimit` + 1 characters always exceed the limit.
    if (typeof body === 'string') {
      this.#keep(collected, Buffer.from(body.slice(0, this.#options.sizeLimit + 1)))
      collected.size = Buffer.byteLength(body)
    } else this.#keep(collected, body)
    return collected
  }

  #keep(collected: Collected, bytes: Uint8Array): void {
    collected.size += bytes.length
    const room = this.#options.sizeLimit - collected.kept
    if (room <= 0) return
    // The runtime may reuse the memory of a piece, so it is copied.
    const kept = new Uint8Array(bytes.subarray(0, room))
    collected.chunks.push(kept)
    collected.kept += kept.length
  }

  #watched(response: Response, into: Collected, ended: () => void): Response {
    if (!response.body) {
      ended()
      return response
    }
    const reader = response.body.getReader()
    this.#openBodies++
    let isOpen = true
    const close = () => {
      if (!isOpen) return
      isOpen = false
      this.#openBodies--
      ended()
      this.#settle()
    }
    const source = {
      pull: async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        try {
          const { done, value } = await reader.read()
          if (done) {
            close()
            controller.close()
            return
          }
          this.#keep(into, value)
          controller.enqueue(value)
        } catch (error) {
          close()
          controller.error(error)
        }
      },
      cancel: async (reason: unknown) => {
        close()
        await reader.cancel(reason)
      },
    }
    // The stream must not read ahead, because bytes that are read count as delivered to the caller.
    const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 })
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#timer = setTimeout(() => this.#finish(), restMs)
    this.#settle()
  }

  #settle(): void {
    if (this.#hasEnded && this.#openBodies === 0) this.#finish()
  }

  #finish(): void {
    if (this.#isDone) return
    this.#isDone = true
    clearTimeout(this.#timer)
    this.#options.done(this.#recorded)
  }
}

function empty(): Collected {
  return { chunks: [], kept: 0, size: 0 }
}
