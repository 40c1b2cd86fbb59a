import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isMetadataHost } from '../lib/network/metadata-address.ts'

/** Resolves the addresses of a name; rejects or returns none for an unknown name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** As the system resolves names. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

/** True if a host is a cloud's metadata service, by its name or by its current addresses. */
export async function leadsToMetadata(hostname: string, resolve: Resolve = systemResolve): Promise<boolean> {
  if (isMetadataHost(hostname)) return true
  if (isAddress(hostname)) return false
  // A name that is unknown here may be known to a proxy; whether it resolves is not the question.
  const addresses = await resolve(hostname).catch(() => [])
  return addresses.some(isMetadataHost)
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** Caches which hosts are not a metadata service, for calls too frequent to look it up each time. */
export interface MetadataGuard {
  /**
   * Undefined if the URL may be called. Otherwise it is being looked up; the promise rejects if it must not be called.
   */
  check(url: string): Promise<void> | undefined
}

/** An answer is fresh for this long; after that it is looked up again in the background, while calls go on … */
const freshMs = 30_000
/** … until it is this old. */
const staleMs = 300_000
const mostHosts = 10_000

interface Known {
  /** Infinity for an IP address, which never changes its meaning. */
  checkedAtMs: number
  checking: Promise<void> | undefined
}

/** `resolve`: how names are resolved, if not by the system. */
export function createMetadataGuard(nowMs: () => number, resolve: Resolve = systemResolve): MetadataGuard {
  const origins = new Map<string, Known>()

  async function look(origin: string, known: Known): Promise<void> {
    try {
      const { hostname } = new URL(origin)
      if (await leadsToMetadata(hostname, resolve)) {
        origins.delete(origin)
        throw new Error('the address leads to the metadata service of a cloud')
      }
      known.checkedAtMs = isAddress(hostname) ? Number.POSITIVE_INFINITY : nowMs()
    } finally {
      known.checking = undefined
    }
  }

  return {
    check(url) {
      // Up to the path: the same for all calls of a channel, and found without parsing.
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
      // If the new answer is a refusal, the next call gets it.
      known.checking.catch(() => undefined)
      return undefined
    },
  }
}
