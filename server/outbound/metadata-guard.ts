import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isMetadataHost } from '../lib/network/metadata-address.ts'

/** Resolves the addresses of a name; rejects or returns none for an unknown name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Resolves names as the system does. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

/** True if a host is a cloud's metadata service, by its name or by its current addresses. */
export async function leadsToMetadata(hostname: string, resolve: Resolve = systemResolve): Promise<boolean> {
  if (isMetadataHost(hostname)) return true
  if (isAddress(hostname)) return false
  // A name that is unknown here may be known to a proxy, so a name that does not resolve is not refused.
  const addresses = await resolve(hostname).catch(() => [])
  return addresses.some(isMetadataHost)
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** Caches which hosts are not a metadata service, for calls that are too frequent to look the host up each time. */
export interface MetadataGuard {
  /**
   * Returns undefined if the URL may be called. Otherwise the host is being looked up, and the promise rejects if the
   * URL must not be called.
   */
  check(url: string): Promise<void> | undefined
}

/** How long a result is fresh. An older result is looked up again in the background while calls continue. */
const freshMs = 30_000
/** The age from which a result is no longer used. */
const staleMs = 300_000
const mostHosts = 10_000

interface Known {
  /** Infinity for an IP address, for which the result never changes. */
  checkedAtMs: number
  checking: Promise<void> | undefined
}

/** `resolve` replaces the system's name resolution. */
export function createMetadataGuard(nowMs: () => number, resolve: Resolve = systemResolve): MetadataGuard {
  const origins = new Map<string, Known>()

  async function look(origin: string, known: Known): Promise<void> {
    try {
      const { hostname } = new URL(origin)
      if (await leadsToMetadata(hostname, resolve)) {
        origins.delete(origin)
        throw new Error('the URL leads to a cloud metadata service')
      }
      known.checkedAtMs = isAddress(hostname) ? Number.POSITIVE_INFINITY : nowMs()
    } finally {
      known.checking = undefined
    }
  }

  return {
    check(url) {
      // The URL up to its path, which is the same for all calls of a channel and is found without parsing.
      const end = url.indexOf('/', url.indexOf('://') + 3)
      const origin = end < 0 ? url : url.slice(0, end)
      let known = origins.get(origin)
      if (!known) {
        if (origins.size >= mostHosts) origins.clear()
        known = { checkedAtMs: Number.NEGATIVE_INFINITY, checking: undefined }
        origins.set(origin, known)
      }
      const ageMs = nowMs() - known.checkedAtMs
      if (ageMs < freshMs) return undefined
      known.checking ??= look(origin, known)
      if (ageMs >= staleMs) return known.checking
      // If the new result is a refusal, the next call is refused.
      known.checking.catch(() => undefined)
      return undefined
    },
  }
}
