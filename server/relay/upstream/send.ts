import { connect } from 'node:net'
import { GatewayError } from '../../errors.ts'
import { isEventStream } from '../../lib/bytes/sse.ts'
import { asItIs, type BunRequestInit, DecompressionError, decompressedResponse } from '../../lib/network/fetch-plain.ts'
import type { ProxyServer } from '../../lib/network/proxy.ts'
import { runningTimer } from '../../lib/running-timer.ts'
import { unlessAborted } from '../../lib/unless-aborted.ts'
import type { MetadataGuard } from '../../outbound/metadata-guard.ts'
import type { Target } from '../../providers/provider.ts'
import { viaHeader } from '../call/via.ts'
import { CallerLeft, type Leaving } from '../cancellation/caller-left.ts'
import type { DeadlineWait, DeadlineWatch } from '../cancellation/deadline-watch.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'

/**
 * A request to an upstream. A body that cannot be sent twice is given as a function that creates a new body for each
 * attempt.
 */
export interface Sending {
  target: Target
  /** The caller's headers that are forwarded. */
  headers: Readonly<Record<string, string>>
  /**
   * The value of the header that lists the gateways through which the request has passed; undefined = it is not sent.
   */
  via: string | undefined
  contentType: string
  body: string | Uint8Array | (() => ReadableStream<Uint8Array>)
  /** Length in bytes when the body is a stream. */
  contentLength: number | undefined
  connectTimeoutMs: number
  firstByteTimeoutMs: number
  httpVersion: 'auto' | '1.1' | '2'
  /** The proxy through which the request is sent. */
  proxy?: ProxyServer | undefined
  guard: MetadataGuard
  leaving: Leaving
  watch: DeadlineWatch
}

const never = Number.POSITIVE_INFINITY
const unreachable = 'the upstream cannot be reached'

/**
 * Makes one upstream call. Resolves with the head of the response, whatever its status. The calling code reads the
 * body. When the gateway's caller disconnects, the call ends, unless its response is an event stream. Throws
 * GatewayError (do_request_failed, upstream_timeout) and CallerLeft.
 */
export async function send(sending: Sending): Promise<Response> {
  const { leaving, watch } = sending
  if (leaving.hasLeft) throw leftUnsent()
  const controller = new AbortController()
  const patience = new Patience(sending, controller)
  let isSent = false
  leaving.onLeave(() => controller.abort())
  watch.add(patience)
  try {
    const checking = sending.guard.check(sending.target.url)
    if (checking !== undefined) await unlessAborted(checking, controller.signal)
    if (sending.proxy) await unlessAborted(checkedProxy(sending.guard, sending.proxy), controller.signal)
    isSent = true
    const answer = decompressedResponse(await fetch(sending.target.url, requestInit(sending, controller.signal)))
    const response = answer instanceof Promise ? await answer : answer
    // An event stream is ended by its reader, because the usage must still be read if the caller disconnects after the
    // last content.
    if (isEventStream(response.headers)) leaving.onLeave(undefined)
    return response
  } catch (error) {
    if (patience.lost) throw patience.lost
    if (leaving.hasLeft) throw isSent ? await patience.callerLeft() : leftUnsent()
    if (error instanceof DecompressionError) throw new GatewayError('bad_response_body', error.message)
    throw new GatewayError('do_request_failed', 'the request to the upstream failed', { cause: error })
  } finally {
    patience.isOver = true
    watch.remove(patience)
  }
}

async function checkedProxy(guard: MetadataGuard, { url }: ProxyServer): Promise<void> {
  await guard.check(url)
}

/** The error for a caller who disconnected before the request was sent. There is nothing to charge. */
export function leftUnsent(): GatewayError {
  return new GatewayError('do_request_failed', 'the client disconnected before the request was sent')
}

/** Limits the time until the head of a response arrives. */
class Patience implements DeadlineWait {
  dueAtMs: number
  watchIndex: number | undefined
  /** Why the request was abandoned. */
  lost: GatewayError | undefined
  isOver = false
  readonly #sending: Sending
  readonly #controller: AbortController
  readonly #answerAtMs: number
  #connectAtMs: number
  /** The reachability check that begins at the connect limit; undefined = not begun. */
  #reachable: Promise<boolean> | undefined

  constructor(sending: Sending, controller: AbortController) {
    this.#sending = sending
    this.#controller = controller
    const nowMs = sending.watch.nowMs()
    this.#answerAtMs = sending.firstByteTimeoutMs > 0 ? nowMs + sending.firstByteTimeoutMs : never
    this.#connectAtMs = sending.connectTimeoutMs > 0 ? nowMs + sending.connectTimeoutMs : never
    this.dueAtMs = Math.min(this.#answerAtMs, this.#connectAtMs)
  }

  due(): void {
    const nowMs = this.#sending.watch.nowMs()
    if (nowMs >= this.#connectAtMs) {
      this.#connectAtMs = never
      this.#reachable = this.#isReachable()
      void this.#checkConnection(this.#reachable)
    }
    this.dueAtMs = this.#answerAtMs
    if (nowMs >= this.#answerAtMs) this.#giveUp('the upstream did not respond in time')
  }

  cut(): void {
    this.dueAtMs = never
    this.lost = shuttingDown()
    this.#controller.abort()
  }

  /**
   * The error for a call whose caller disconnected while the gateway waited for the head of the response. If the
   * upstream cannot be reached, it has done no work, so nothing is charged.
   */
  async callerLeft(): Promise<CallerLeft | GatewayError> {
    const fallback = this.#connectAtMs === never ? true : this.#isReachable()
    return (await (this.#reachable ?? fallback)) ? new CallerLeft() : new GatewayError('upstream_timeout', unreachable)
  }

  async #checkConnection(reachable: Promise<boolean>): Promise<void> {
    if (!(await reachable) && !this.isOver) this.#giveUp(unreachable)
  }

  #isReachable(): Promise<boolean> {
    const { target, proxy, connectTimeoutMs } = this.#sending
    return isReachable(proxy?.url ?? target.url, connectTimeoutMs)
  }

  #giveUp(why: string): void {
    this.dueAtMs = never
    this.lost ??= new GatewayError('upstream_timeout', why)
    this.#controller.abort()
  }
}

function requestInit(sending: Sending, signal: AbortSignal): BunRequestInit {
  const headers: Record<string, string> = {
    ...sending.headers,
    'content-type': sending.contentType,
    ...sending.target.headers,
    ...asItIs,
  }
  if (sending.via !== undefined) headers[viaHeader] = sending.via
  if (sending.contentLength !== undefined) headers['content-length'] = String(sending.contentLength)
  const init: BunRequestInit = {
    method: 'POST',
    headers,
    body: typeof sending.body === 'function' ? sending.body() : sending.body,
    // Redirects are not followed, because they would send the key to another server.
    redirect: 'manual',
    signal,
    timeout: false,
    decompress: false,
  }
  if (typeof sending.body === 'function') init.duplex = 'half'
  if (sending.proxy) init.proxy = sending.proxy
  // With a proxy, the proxy chooses the HTTP version for the connection to the upstream.
  else if (sending.httpVersion !== 'auto') init.protocol = sending.httpVersion === '2' ? 'http2' : 'http1.1'
  return init
}

/**
 * fetch does not report when the connection is established. If no response has arrived by the connect limit, a bare TCP
 * connection to the same host and port shows whether the upstream is slow or unreachable.
 */
function isReachable(url: string, timeoutMs: number): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url)
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  })
  return new Promise((resolve) => {
    const finish = (reachable: boolean) => {
      endTimer()
      socket.destroy()
      resolve(reachable)
    }
    const endTimer = runningTimer(Math.min(timeoutMs, 2000), () => finish(false))
    socket.once('connect', () => finish(true))
    socket.once('error', () => finish(false))
  })
}
