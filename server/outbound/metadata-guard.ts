import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isMetadataHost } from '../lib/network/metadata-address.ts'

/** Resolves a name to its addresses. Rejects or returns an empty list for an unknown name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Resolves names as the system does. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

/** True if a host is a cloud's metadata service, by its name or by its current addresses. */
export async function leadsToMetadata(hostname: string, resolve: Resolve = systemResolve): Promise<boolean> {
  if (isMetadataHost(hostname)) return true
  if (isAddress(hostname)) return false
  // A name that does not resolve is not refused, because a proxy may be able to resolve it.
  const addresses = await resolve(hostname).catch(() => [])
  return addresses.some(isMetadataHost)
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** Remembers which hosts are not a metadata service, for calls that are too frequent to look up the host each time. */
export interface MetadataGuard {
  /**
   * Returns undefined if the URL may be called. If the host must be looked up first, returns a promise, which rejects
   * if the URL must not be called.
   */
  check(url: string): Promise<void> | undefined
}

/**
 * How long a result is fresh. After this time, the host is looked up again in the background, and calls use the old
 * result in the meantime.
 */
const freshMs = 30_000
/** The age from which a result is not used, and calls wait for a new lookup. */
const staleMs = 300_000
const mostHosts = 10_000

interface Known {
  /** When the host was checked. Infinity for an IP address, because its result never changes. */
  checkedAtMs: number
  checking: Promise<void> | undefined
}

/** Creates a guard without results. Tests pass `resolve` in place of the system's name resolution. */
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
      // The URL without its path. It is the same for all calls of a channel, and finding it does not require parsing
      // the URL.
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
      // If this lookup finds a metadata service, the current call continues and the next call is refused.
      known.checking.catch(() => undefined)
      return undefined
    },
  }
}
