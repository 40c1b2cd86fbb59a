import { contentCodingOf, decompressed } from '../bytes/decompress.ts'
import type { ProxyServer } from './proxy.ts'

/** Bun's additions to fetch's options (Bun documentation, "fetch"). */
export interface BunRequestInit extends RequestInit {
  timeout?: false
  protocol?: 'http2' | 'http1.1'
  duplex?: 'half'
  decompress?: boolean
  proxy?: ProxyServer | undefined
}

/** Thrown if a compressed response cannot be decompressed, or exceeds the limits for decompression. */
export class DecompressionError extends Error {}

/** The header that requests an uncompressed response. */
export const asItIs = { 'accept-encoding': 'identity' } as const

/**
 * Like `fetch`, but requests an uncompressed response. If the response is compressed anyway, it is decompressed only as
 * fast as it is read. The runtime's own `fetch` would decompress all received data in one go, whatever the size of the
 * result. Rejects with the errors of `fetch` and with DecompressionError. Reading the body may also throw
 * DecompressionError.
 */
export async function fetchPlain(
  url: string,
  init: BunRequestInit & { headers?: Readonly<Record<string, string>> },
): Promise<Response> {
  const headers = { ...init.headers, ...asItIs }
  return decompressedResponse(await fetch(url, { ...init, headers, decompress: false } as RequestInit))
}

/** The decompressed response to a call made with `decompress: false`. Throws DecompressionError. */
export function decompressedResponse(response: Response): Response | Promise<Response> {
  return response.headers.has('content-encoding') ? withDecompressedBody(response) : response
}

async function withDecompressedBody(response: Response): Promise<Response> {
  const fault = (why: string, cause?: unknown) => new DecompressionError(`the answer of the upstream ${why}`, { cause })
  try {
    const coding = contentCodingOf(response.headers, () => fault('is compressed in an unknown way'))
    if (coding === undefined || !response.body) return response
    const body = decompressed(response.body, coding, {
      tooLarge: () => fault('expands to more than 100 times its compressed size'),
      damaged: (cause) => fault('is damaged: it cannot be decompressed', cause),
    })
    const headers = new Headers(response.headers)
    headers.delete('content-encoding')
    headers.delete('content-length')
    return new Response(body, { status: response.status, statusText: response.statusText, headers })
  } catch (error) {
    await response.body?.cancel()
    throw error
  }
}
