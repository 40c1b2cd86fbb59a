import { Buffer } from 'node:buffer'
import { constants, createGzip, type Gzip } from 'node:zlib'
import type { RecordedRequest } from './recorded-request.ts'
import { sendPieces } from './sse.ts'
import { type Behaviour, behaviour, type Exchange, type Framing, type HeaderList, pause } from './types.ts'

/** Waits before responding, so that the headers come late. */
export function late(ms: number, inner: Behaviour): Behaviour {
  return behaviour(`late ${inner.name}`, async (exchange) => {
    await pause(ms, exchange.callerLeft)
    if (!exchange.callerLeft.aborted) await inner.run(exchange)
  })
}

/** Sends the body a few bytes at a time. */
export function trickled(
  inner: Behaviour,
  options: { readonly bytes?: number; readonly everyMs?: number } = {},
): Behaviour {
  const { bytes: size = 1, everyMs = 1 } = options
  return wrapped(`trickled ${inner.name}`, inner, (exchange) => ({
    write: async (data) => {
      const all = Buffer.from(data)
      for (let at = 0; at < all.length; at += size) {
        if (!(await sendPieces(exchange, [all.subarray(at, at + size)]))) return false
        await pause(everyMs, exchange.callerLeft)
      }
      return !exchange.callerLeft.aborted
    },
  }))
}

/** Adds header lines to a good response. */
export function withHeaders(headers: HeaderList, inner: Behaviour): Behaviour {
  return wrapped(`withHeaders ${inner.name}`, inner, (exchange) => ({
    head: (status, own = [], framing) => exchange.head(status, [...own, ...headers], framing),
  }))
}

/**
 * Adds headers that a gateway must not pass on: hop-by-hop headers, a header that `connection` names, cookies, and data
 * of the upstream account.
 */
export function withHopByHop(inner: Behaviour): Behaviour {
  const headers: HeaderList = [
    ['connection', 'keep-alive, x-hop'],
    ['keep-alive', 'timeout=5'],
    ['x-hop', 'only for the next hop'],
    ['proxy-authenticate', 'Basic'],
    ['trailer', 'x-checksum'],
    ['upgrade', 'h2c'],
    ['set-cookie', '__cf_bm=secret-1; path=/; HttpOnly'],
    ['set-cookie', '_cfuvid=secret-2; path=/'],
    ['openai-organization', 'org-secret'],
    ['server', 'cloudflare'],
    ['alt-svc', 'h3=":443"; ma=86400'],
    ['strict-transport-security', 'max-age=15552000'],
  ]
  return withHeaders(headers, inner)
}

/** Adds header lines of this many bytes in total (default 64 KB). */
export function withGiantHeaders(inner: Behaviour, bytes = 65_536): Behaviour {
  const count = Math.ceil(bytes / 4096)
  return withHeaders(
    Array.from({ length: count }, (_, index) => [`x-giant-${index}`, 'g'.repeat(4080)] as const),
    inner,
  )
}

/** Compresses the response with gzip and flushes after each write, whether the caller accepts gzip or not. */
export function gzipped(inner: Behaviour): Behaviour {
  return wrapped(`gzipped ${inner.name}`, inner, (exchange) => {
    const gzip = createGzip()
    return {
      head: (status, headers = []) => exchange.head(status, [...headers, ['content-encoding', 'gzip']]),
      write: async (data) => exchange.write(await pump(gzip, () => gzip.write(data), constants.Z_SYNC_FLUSH)),
      end: () => {
        void pump(gzip, () => undefined, constants.Z_FINISH).then(async (tail) => {
          await exchange.write(tail)
          exchange.end()
        })
      },
    }
  })
}

/** Sends a good response, then closes the kept-alive connection without warning. */
export function thenCloses(how: 'fin' | 'reset', inner: Behaviour): Behaviour {
  return wrapped(`thenCloses ${how} ${inner.name}`, inner, (exchange) => ({
    end: () => {
      exchange.end()
      setTimeout(() => (how === 'fin' ? exchange.fin() : exchange.reset()), 10)
    },
  }))
}

/**
 * Sends a good response, but resets the connection after this many pieces of its body. A body with no more pieces than
 * this is sent completely.
 */
export function breaksOffAfter(pieces: number, inner: Behaviour): Behaviour {
  return wrapped(`breaksOffAfter ${pieces} ${inner.name}`, inner, (exchange) => {
    let left = pieces
    return {
      write: async (data) => {
        if (left-- > 0) return exchange.write(data)
        // The pieces that were sent before the reset must arrive.
        await pause(50, exchange.callerLeft)
        exchange.reset()
        return false
      },
    }
  })
}

/** Sends a good response whose pieces of text are changed. */
export function rewritten(inner: Behaviour, change: (text: string, request: RecordedRequest) => string): Behaviour {
  return wrapped(`rewritten ${inner.name}`, inner, (exchange) => ({
    write: (data) => exchange.write(typeof data === 'string' ? change(data, exchange.request) : data),
  }))
}

/** Marks the end of the body by closing the connection, as HTTP/1.0 servers do. */
export function untilClose(inner: Behaviour): Behaviour {
  return wrapped(`untilClose ${inner.name}`, inner, (exchange) => ({
    head: (status, headers) => exchange.head(status, headers, 'until-close'),
  }))
}

type Changed = Partial<{
  head(status: number, headers?: HeaderList, framing?: Framing): void
  write(bytes: string | Uint8Array): Promise<boolean>
  end(): void
}>

/** Runs a behaviour on an exchange with some methods replaced. */
function wrapped(name: string, inner: Behaviour, change: (exchange: Exchange) => Changed): Behaviour {
  return behaviour(name, (exchange) => {
    const changed = change(exchange)
    return inner.run({
      request: exchange.request,
      callerLeft: exchange.callerLeft,
      h2: exchange.h2,
      head: changed.head ?? ((status, headers, framing) => exchange.head(status, headers, framing)),
      write: changed.write ?? ((bytes) => exchange.write(bytes)),
      end: changed.end ?? (() => exchange.end()),
      fin: () => exchange.fin(),
      reset: () => exchange.reset(),
      hang: () => exchange.hang(),
      raw: (bytes) => exchange.raw(bytes),
    })
  })
}

/** Feeds the compressor, and returns its output up to the next flush. */
function pump(gzip: Gzip, feed: () => void, kind: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    const collect = (part: Buffer) => parts.push(part)
    const done = () => {
      gzip.off('data', collect)
      resolve(Buffer.concat(parts))
    }
    gzip.on('data', collect)
    feed()
    if (kind === constants.Z_FINISH) gzip.once('end', done).end()
    else gzip.flush(kind, () => setImmediate(done))
  })
}
