import { connect } from 'node:net'
import { GatewayError } from '../errors.ts'
import type { MetadataGuard } from '../outbound/metadata-guard.ts'
import type { Target } from '../providers/provider.ts'
import { CallerLeft } from './caller-left.ts'

/** What goes upstream. Bodies that cannot be sent twice are functions that make a new one for each attempt. */
export interface Sending {
  target: Target
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | (() => ReadableStream<Uint8Array>)
  /** Length in bytes when the body is a stream. */
  contentLength?: number
  connectTimeoutMs: number
  firstByteTimeoutMs: number
  httpVersion: 'auto' | '1.1' | '2'
  guard: MetadataGuard
  signal: AbortSignal
}

/** Bun's additions to fetch's options (Bun documentation, "fetch"). */
interface BunRequestInit extends RequestInit {
  timeout: false
  protocol?: 'http2' | 'http1.1'
  duplex?: 'half'
}

/**
 * One upstream call. Resolves with the answer's head, whatever its status; the body is read by the caller, and aborting
 * `signal` ends it too, except for a stream of events. Throws GatewayError (do_request_failed, upstream_timeout) and CallerLeft.
 */
export async function send(sending: Sending): Promise<Response> {
  if (sending.signal.aborted) throw new GatewayError('do_request_failed', 'the caller left before the request was sent')
  const controller = new AbortController()
  const timers = new Timers()
  let timedOut: GatewayError | undefined
  const giveUp = (error: GatewayError) => {
    timedOut = error
    controller.abort()
  }
  const onAbort = () => controller.abort()
  sending.signal.addEventListener('abort', onAbort, { once: true })
  timers.after(sending.firstByteTimeoutMs, () => giveUp(timeout('the upstream did not answer in time')))
  timers.after(sending.connectTimeoutMs, () => {
    void isReachable(sending.target.url, sending.connectTimeoutMs).then((reachable) => {
      if (!reachable && timers.running) giveUp(timeout('the upstream cannot be reached'))
    })
  })
  try {
    const checking = sending.guard.check(sending.target.url)
    if (checking !== undefined) await unlessAborted(checking, controller.signal)
    const response = await fetch(sending.target.url, requestInit(sending, controller.signal))
    // A stream is ended by who reads it: when the caller leaves after the last word, the usage is still to come.
    if (isEventStream(response)) sending.signal.removeEventListener('abort', onAbort)
    return response
  } catch (error) {
    if (timedOut) throw timedOut
    if (sending.signal.aborted) throw new CallerLeft()
    throw new GatewayError('do_request_failed', 'the request to the upstream failed', { cause: error })
  } finally {
    timers.clear()
  }
}

function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}

/** True for an answer of server-sent events. */
function isEventStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
}

function timeout(message: string): GatewayError {
  return new GatewayError('upstream_timeout', message)
}

function requestInit(sending: Sending, signal: AbortSignal): BunRequestInit {
  const streams = typeof sending.body === 'function'
  const headers: Record<string, string> = {
    ...sending.headers,
    ...sending.target.headers,
    'accept-encoding': 'identity',
  }
  if (sending.contentLength !== undefined) headers['content-length'] = String(sending.contentLength)
  return {
    method: 'POST',
    headers,
    body: typeof sending.body === 'function' ? sending.body() : sending.body,
    // A redirect would carry the key to another place.
    redirect: 'manual',
    signal,
    timeout: false,
    ...(streams && { duplex: 'half' as const }),
    ...(sending.httpVersion !== 'auto' && {
      protocol: sending.httpVersion === '2' ? ('http2' as const) : ('http1.1' as const),
    }),
  }
}

/** Timers that are cleared together. */
class Timers {
  #handles: ReturnType<typeof setTimeout>[] = []
  running = true

  /** Runs `action` after `delayMs`; 0 = never. */
  after(delayMs: number, action: () => void): void {
    if (delayMs > 0) this.#handles.push(setTimeout(action, delayMs))
  }

  clear(): void {
    this.running = false
    for (const handle of this.#handles) clearTimeout(handle)
  }
}

/**
 * fetch does not tell when the connection stands. When no answer has come by the connect limit, a bare TCP connection to
 * the same place tells "still thinking" from "not there".
 */
function isReachable(url: string, timeoutMs: number): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url)
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  })
  return new Promise((resolve) => {
    const finish = (reachable: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(reachable)
    }
    const timer = setTimeout(() => finish(false), Math.min(timeoutMs, 2000))
    socket.once('connect', () => finish(true))
    socket.once('error', () => finish(false))
  })
}
