import type { AccessToken, AccessTokens } from '../providers/provider.ts'

/** A token is not used in its last minute: the call that carries it takes a while to arrive. */
const marginMs = 60_000
/** More than there are keys; what grows beyond belongs to keys that are gone. */
const mostTokens = 1_000

/** Keeps access tokens in memory until shortly before they expire. */
export function createAccessTokens(nowMs: () => number): AccessTokens {
  const kept = new Map<string, AccessToken>()
  const making = new Map<string, Promise<AccessToken>>()

  async function renew(name: string, make: () => Promise<AccessToken>): Promise<AccessToken> {
    try {
      const token = await make()
      if (kept.size >= mostTokens) kept.clear()
      kept.set(name, token)
      return token
    } finally {
      making.delete(name)
    }
  }

  return {
    async get(name, make) {
      const known = kept.get(name)
      if (known && known.expiresAtMs - marginMs > nowMs()) return known.value
      let work = making.get(name)
      if (!work) {
        work = renew(name, make)
        making.set(name, work)
      }
      return (await work).value
    },
  }
}
