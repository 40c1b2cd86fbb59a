import type { Socket } from 'node:net'
import { runningTimer } from '../../lib/running-timer.ts'

/** The head of a response, and the bytes that arrived after it. */
export interface AnswerHead {
  status: number
  headers: Headers
  rest: Uint8Array
}

const mostHeadBytes = 64 * 1024
const mostErrorBytes = 64 * 1024
/** How long to wait for the body of a refusal. */
const bodyWaitMs = 2_000

/** Reads the head of an HTTP/1.1 response. Rejects if the connection ends first or the head is invalid. */
export async function readHead(socket: Socket): Promise<AnswerHead> {
  let all = Buffer.alloc(0)
  const end = await take(socket, (bytes) => {
    all = Buffer.concat([all, bytes])
    return all.indexOf('\r\n\r\n') >= 0 || all.length > mostHeadBytes
  })
  const at = all.indexOf('\r\n\r\n')
  if (at < 0) throw new Error(end === 'full' ? 'the head of the answer is too long' : 'the connection was closed')
  const [first = '', ...lines] = all.subarray(0, at).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1])
  if (!Number.isInteger(status)) throw new Error('the answer is no HTTP/1.1')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon).trim(), line.slice(colon + 1).trim())
  }
  return { status, headers, rest: all.subarray(at + 4) }
}

/**
 * The response of an upstream that did not switch to WebSocket. Contains only the part of the body that arrives within
 * a short time.
 */
export async function refusalOf(socket: Socket, { status, headers, rest }: AnswerHead): Promise<Response> {
  let all = Buffer.from(rest)
  const isChunked = /chunked/i.test(headers.get('transfer-encoding') ?? '')
  const length = headers.has('content-length') ? Number(headers.get('content-length')) : mostErrorBytes
  const isWhole = () => (isChunked ? all.includes('\r\n0\r\n') || all.indexOf('0\r\n') === 0 : all.length >= length)
  if (!isWhole()) {
    const endTimer = runningTimer(bodyWaitMs, () => socket.destroy())
    await take(socket, (bytes) => {
      all = Buffer.concat([all, bytes])
      return isWhole() || all.length > mostErrorBytes
    })
    endTimer()
  }
  const body = isChunked ? unchunked(all) : all.subarray(0, length)
  const answerHeaders = new Headers()
  for (const name of ['content-type', 'retry-after']) {
    const value = headers.get(name)
    if (value !== null) answerHeaders.set(name, value)
  }
  // A status outside the valid range cannot be passed on.
  const answerStatus = status >= 200 && status <= 599 ? status : 502
  return new Response(
    answerStatus === 204 || answerStatus === 205 || answerStatus === 304 ? null : body.toString('utf8'),
    {
      status: answerStatus,
      headers: answerHeaders,
    },
  )
}

function unchunked(all: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = all.indexOf('\r\n', at)
    const size = end < 0 ? 0 : Number.parseInt(all.subarray(at, end).toString('latin1'), 16)
    if (!(size > 0)) return Buffer.concat(parts)
    parts.push(all.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}

/** Passes received bytes to `enough` until it returns true or no more bytes arrive. Leaves the socket paused. */
function take(socket: Socket, enough: (bytes: Uint8Array) => boolean): Promise<'full' | 'ended'> {
  return new Promise((resolve) => {
    const finish = (how: 'full' | 'ended') => {
      socket.off('data', onData)
      socket.off('end', onEnd)
      socket.off('close', onEnd)
      resolve(how)
    }
    const onData = (bytes: Uint8Array) => {
      if (!enough(bytes)) return
      socket.pause()
      finish('full')
    }
    const onEnd = () => finish('ended')
    socket.on('data', onData)
    socket.on('end', onEnd)
    socket.on('close', onEnd)
    socket.resume()
  })
}
