import { GatewayError } from '../errors.ts'
import { readAtMost } from '../lib/bytes/read-at-most.ts'
import { isObject, type JsonObject, tryParse } from '../lib/json.ts'
import { fetchPlain } from '../lib/network/fetch-plain.ts'
import type { ProxyServer } from '../lib/network/proxy.ts'
import { runningSignal } from '../lib/running-timer.ts'
import type { MetadataGuard } from './metadata-guard.ts'

/** Reads a JSON object from a service, through a proxy if one is given. */
export type FetchJsonThrough = (
  url: string,
  headers: Readonly<Record<string, string>>,
  post?: { readonly body: string },
  proxy?: ProxyServer,
) => Promise<JsonObject>

/** Returns a function that sends all requests through the given proxy, or directly if there is none. */
export function through(fetchJson: FetchJsonThrough, proxy: ProxyServer | undefined): FetchJsonThrough {
  return proxy ? (url, headers, post) => fetchJson(url, headers, post, proxy) : fetchJson
}

/** Maximum number of bytes of a response that are read. */
const mostBytes = 8 * 1024 * 1024

/**
 * Reads a JSON object from a service that an admin chose, with a POST request if there is a body. Time and size are
 * limited.
 */
export function createFetchJson(timeoutMs: number, guard: MetadataGuard): FetchJsonThrough {
  return async (url, headers, post, proxy) => {
    const { signal, end } = runningSignal(timeoutMs)
    try {
      await guard.check(url)
      if (proxy) await guard.check(proxy.url)
      // Following a redirect would send the key to another server.
      const response = await fetchPlain(url, {
        headers,
        signal,
        redirect: 'manual',
        // Connections are not reused. Calls are rare, so the service might close an idle connection just as the next
        // request is sent on it.
        keepalive: false,
        ...(post && { method: 'POST', body: post.body }),
        proxy,
      })
      if (response.status !== 200) {
        await response.body?.cancel()
        throw new GatewayError('bad_response_status_code', `status code: ${response.status}`)
      }
      const body = tryParse((await readAtMost(response.body, mostBytes, tooLarge)).toString())
      if (!isObject(body)) throw new GatewayError('bad_response_body', "the upstream's response is not a JSON object")
      return body
    } catch (error) {
      if (error instanceof GatewayError) throw error
      if (signal.aborted) throw new GatewayError('upstream_timeout', 'the upstream did not respond in time')
      // The message of the error is not shown, because it may contain the URL, and some services require the key in the
      // URL.
      const code = (error as NodeJS.ErrnoException).code
      throw new GatewayError('do_request_failed', `the upstream cannot be reached${code ? ` (${code})` : ''}`)
    } finally {
      end()
    }
  }
}

function tooLarge(): GatewayError {
  return new GatewayError('bad_response_body', "the upstream's response is too large")
}
