import type { RecordedRequest } from './recorded-request.ts'

/** Header lines in sending order. A name can occur twice (set-cookie). */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/**
 * How the end of an HTTP/1.1 body is marked: chunked, a content-length, or the end of the connection. Over HTTP/2,
 * frames mark the end, and `framing` only adds a content-length header if it is a length.
 */
export type Framing = 'chunked' | 'until-close' | { readonly length: number }

/** What is possible only over an HTTP/2 connection. */
export interface Http2Control {
  readonly streamId: number
  /** The number of streams of this connection that are not finished yet. */
  readonly openStreams: number
  /** Ends only this stream, with an error code of RFC 9113 section 7. */
  resetStream(code: number): void
  /** Tells the caller that no stream above `lastStreamId` was or will be processed. */
  goAway(lastStreamId: number, code: number): void
  /** Sends any frame, valid or not. */
  rawFrame(type: number, flags: number, streamId: number, payload: Uint8Array): void
}

/**
 * One request that is being answered. The interface is the same for HTTP/1.1 and HTTP/2, and for good and bad
 * responses.
 */
export interface Exchange {
  readonly request: RecordedRequest
  /** Aborts when the caller disconnects before the response is finished. */
  readonly callerLeft: AbortSignal
  readonly h2: Http2Control | undefined
  /** Sends the status and headers. `framing` defaults to chunked. */
  head(status: number, headers?: HeaderList, framing?: Framing): void
  /**
   * Sends body bytes. Resolves with true when the kernel (and the flow-control window) has accepted them, and with
   * false if the caller has disconnected.
   */
  write(bytes: string | Uint8Array): Promise<boolean>
  /** Finishes the response properly. */
  end(): void
  /** Closes the connection with FIN, whatever has been sent so far. */
  fin(): void
  /** Closes the connection with RST, whatever has been sent so far. */
  reset(): void
  /** Leaves the exchange open forever: nothing more is sent, and only the caller can end it. */
  hang(): void
  /** Sends raw bytes, without any framing (HTTP/1.1 only). */
  raw(bytes: string | Uint8Array): Promise<boolean>
}

/** What the upstream does with one request. */
export interface Behaviour {
  /** Shown in failure messages. */
  readonly name: string
  /** With 'head' the behaviour starts as soon as the headers have arrived, before the body is read. */
  readonly at?: 'head'
  run(exchange: Exchange): void | Promise<void>
}

/** Makes a behaviour out of a function. */
export function behaviour(name: string, run: Behaviour['run'], at?: 'head'): Behaviour {
  return at === undefined ? { name, run } : { name, run, at }
}

/** A JSON object as it was received. */
export type JsonObject = { readonly [key: string]: unknown }

/** Narrows to a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Waits, but stops waiting when the signal fires. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const finish = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
