import { okStream, type StreamOptions } from './chat.ts'
import { settle } from './faults.ts'
import { H2_ERROR } from './http2-frames.ts'
import { type Behaviour, behaviour, type Exchange } from './types.ts'

/**
 * Sends GOAWAY. `worked: false` (default) means that this stream was not processed, so it may be sent again; true means
 * that it was processed. The connection closes afterwards. With `finish`, the stream first gets its complete response.
 */
export function goesAway(
  options: { readonly worked?: boolean; readonly code?: number; readonly finish?: boolean } = {},
): Behaviour {
  return behaviour('goesAway', async (exchange) => {
    const h2 = needHttp2(exchange)
    const last = options.worked || options.finish ? h2.streamId : Math.max(0, h2.streamId - 2)
    h2.goAway(last, options.code ?? H2_ERROR.none)
    if (options.finish) {
      await okStream().run(exchange)
      return
    }
    await settle()
    exchange.fin()
  })
}

/**
 * Ends this stream with RST_STREAM. Only code 7 (REFUSED_STREAM) tells the client that the request was not processed.
 */
export function resetsStream(code: number = H2_ERROR.internal): Behaviour {
  return behaviour(`resetsStream ${code}`, (exchange) => needHttp2(exchange).resetStream(code))
}

/**
 * Sends a word on every stream. As soon as `count` streams are open and `when` has resolved, the connection is closed.
 */
export function diesWithStreamsOpen(
  count: number,
  how: 'fin' | 'reset' | 'goaway' = 'reset',
  options: StreamOptions & { readonly when?: Promise<unknown> } = {},
): Behaviour {
  let open = 0
  return behaviour(`diesWithStreamsOpen ${count} ${how}`, async (exchange) => {
    const h2 = needHttp2(exchange)
    exchange.head(200, [['content-type', 'text/event-stream'], ...(options.headers ?? [])])
    await exchange.write('data: {"id":"chatcmpl-fake","choices":[{"index":0,"delta":{"content":"word"}}]}\n\n')
    if (++open < count) return exchange.hang()
    await (options.when ?? settle())
    if (how === 'goaway') h2.goAway(0, H2_ERROR.internal)
    if (how === 'reset') exchange.reset()
    else exchange.fin()
  })
}

/** Breaks the protocol: a DATA frame on a stream that nobody opened. */
export function breaksHttp2(): Behaviour {
  return behaviour('breaksHttp2', (exchange) => {
    const h2 = needHttp2(exchange)
    h2.rawFrame(0, 0, h2.streamId + 1000, new TextEncoder().encode('stray'))
    exchange.hang()
  })
}

function needHttp2(exchange: Exchange) {
  if (!exchange.h2) throw new Error('this behaviour needs an HTTP/2 connection')
  return exchange.h2
}
