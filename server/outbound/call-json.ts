import { readAtMost } from '../lib/bytes/read-at-most.ts'
import { fetchPlain } from '../lib/network/fetch-plain.ts'
import { runningSignal } from '../lib/running-timer.ts'
import { unlessAborted } from '../lib/unless-aborted.ts'
import { leadsToMetadata } from './metadata-guard.ts'

const usualLimits = { timeMs: 5_000, answerBytes: 64 * 1024 }

/**
 * The failure of a call to an external service. `refused`: the service declined, and the message may be shown to the
 * person who made the request. `unavailable`: the service could not be reached or its response could not be understood,
 * and the cause is for the server's log.
 */
export class OutboundError extends Error {
  readonly kind: 'refused' | 'unavailable'

  constructor(kind: OutboundError['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

interface JsonCall {
  method: 'GET' | 'POST'
  headers?: Readonly<Record<string, string>>
  body?: string
}

/**
 * Calls a service that the operator set up and parses its response, whatever the status. The service may be in a
 * private network. Cloud metadata services are never called, even if another name resolves to them. Redirects are not
 * followed, because that would send secrets to another server.
 */
export async function callJson(service: string, url: string, call: JsonCall, limits = usualLimits): Promise<unknown> {
  const { signal, end } = runningSignal(limits.timeMs)
  try {
    await refuseMetadata(url, signal)
    const response = await fetchPlain(url, {
      method: call.method,
      headers: { accept: 'application/json', ...call.headers },
      ...(call.body !== undefined && { body: call.body }),
      redirect: 'manual',
      // Connections are not reused. Calls are rare, so the service might close an idle connection just as the next
      // request is sent on it.
      keepalive: false,
      signal,
    })
    const most = limits.answerBytes
    const text = await readAtMost(response.body, most, () => new Error(`the answer is longer than ${most} bytes`))
    try {
      return JSON.parse(text.toString())
    } catch {
      throw new Error(`the answer (status ${response.status}) is not JSON`)
    }
  } catch (error) {
    throw new OutboundError('unavailable', `${service} cannot be reached, please try again later.`, error)
  } finally {
    end()
  }
}

async function refuseMetadata(url: string, signal: AbortSignal): Promise<void> {
  const { hostname, protocol } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error('the URL must begin with http:// or https://')
  if (await unlessAborted(leadsToMetadata(hostname), signal)) {
    throw new Error('the URL leads to a cloud metadata service')
  }
}
