import { packingOf, unpacked } from '../bytes/unpack.ts'

/** Bun's additions to fetch's options (Bun documentation, "fetch"). */
export interface BunRequestInit extends RequestInit {
  timeout?: false
  protocol?: 'http2' | 'http1.1'
  duplex?: 'half'
  decompress?: boolean
}

/** A compressed response that cannot be decompressed, or not within reasonable limits. */
export class PackedAnswerFault extends Error {}

/** Requests an uncompressed response. */
export const asItIs = { 'accept-encoding': 'identity' } as const

/**
 * Like `fetch`, but requests an uncompressed response. If the response is compressed anyway, it is decompressed as it
 * is read, because the runtime would decompress everything that has arrived at once, whatever its size. Rejects like
 * `fetch`, and with PackedAnswerFault, which reading the body may also throw.
 */
export async function fetchPlain(
  url: string,
  init: BunRequestInit & { headers?: Readonly<Record<string, string>> },
): Promise<Response> {
  const headers = { ...init.headers, ...asItIs }
  return unpackedAnswer(await fetch(url, { ...init, headers, decompress: false } as RequestInit))
}

/** The decompressed response to a call made with `decompress: false`. Throws PackedAnswerFault. */
export function unpackedAnswer(response: Response): Response | Promise<Response> {
  return response.headers.has('content-encoding') ? unpackedOf(response) : response
}

async function unpackedOf(response: Response): Promise<Response> {
  const fault = (why: string, cause?: unknown) => new PackedAnswerFault(`the answer of the upstream ${why}`, { cause })
  try {
    const packing = packingOf(response.headers, () => fault('is compressed in an unknown way'))
    if (packing === undefined || !response.body) return response
    const body = unpacked(response.body, packing, {
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
