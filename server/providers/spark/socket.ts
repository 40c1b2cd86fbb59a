import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'

/**
 * The frames that arrive over a WebSocket in response to one message, in their order. They end when the connection is
 * closed.
 */
export interface Frames {
  /** The next frame. Undefined when the connection is closed. Rejects with GatewayError if the connection is lost. */
  next(): Promise<JsonObject | undefined>
  close(): void
}

/**
 * Opens a WebSocket, sends one message and returns the frames that arrive. JavaScript's WebSocket API has no
 * backpressure, so frames that have not been read yet are kept in memory. There are few of them, and they are small,
 * because they belong to a single response.
 */
export function exchange(url: string, message: string, signal: AbortSignal): Frames {
  const socket = new WebSocket(url)
  const frames: JsonObject[] = []
  const state: {
    waiting: (() => void) | undefined
    isClosed: boolean
    isOpened: boolean
    failure: GatewayError | undefined
  } = {
    waiting: undefined,
    isClosed: false,
    isOpened: false,
    failure: undefined,
  }
  const wake = () => {
    state.waiting?.()
    state.waiting = undefined
  }
  const close = () => socket.close()
  socket.addEventListener('open', () => {
    state.isOpened = true
    socket.send(message)
  })
  socket.addEventListener('message', ({ data }) => {
    const frame = typeof data === 'string' ? tryParse(data) : undefined
    if (isObject(frame)) frames.push(frame)
    else state.failure = new GatewayError('bad_response_body', 'the upstream sent a frame that cannot be parsed')
    wake()
  })
  const end = () => {
    if (!state.isOpened) state.failure ??= new GatewayError('do_request_failed', 'the upstream refused the connection')
    state.isClosed = true
    signal.removeEventListener('abort', close)
    wake()
  }
  socket.addEventListener('close', end)
  socket.addEventListener('error', end)
  signal.addEventListener('abort', close, { once: true })
  return {
    async next() {
      while (frames.length === 0 && !state.failure && !state.isClosed) {
        await new Promise<void>((resolve) => {
          state.waiting = resolve
        })
      }
      const frame = frames.shift()
      if (!frame && state.failure) throw state.failure
      return frame
    },
    close,
  }
}
