import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { AccessToken, AccessTokens } from '../../providers/provider.ts'
import { storedToken, storeToken } from '../../store/channels/upstream-tokens.ts'
import type { Store } from '../../store/store.ts'

/** A token is not used in its last minute, because it must still be valid when the call arrives at the service. */
const marginMs = 60_000
/**
 * The maximum number of tokens in memory. No installation has as many keys in use, so some of the tokens beyond this
 * number belong to keys that no longer exist.
 */
const mostTokens = 1_000
const purpose = 'access-token'

/** Keeps the upstream tokens, with which providers log in, for all calls. */
export interface TokenKeeper extends AccessTokens {
  /**
   * Records that a service refused the token stored under `name`, for example because the token was revoked. The next
   * `get` requests a new token.
   */
  refused(name: string, value: string): void
}

interface Deps {
  store: Store
  secrets: Secrets
  nowMs(): number
  warn(message: string): void
}

/**
 * Keeps upstream tokens until shortly before they expire. They are kept in memory and, encrypted, in the database, so
 * that other nodes can use them. If the database cannot be reached, an extra token is requested, and the call still
 * succeeds.
 */
export function createAccessTokens({ store, secrets, nowMs, warn }: Deps): TokenKeeper {
  const tokens = new Map<string, AccessToken>()
  const making = new Map<string, Promise<AccessToken>>()
  /** The value that was refused last, for each name. The database may still contain that value. */
  const refused = new Map<string, string>()
  const isFresh = (token: AccessToken) => token.expiresAtMs - marginMs > nowMs()

  async function fromStore(hash: string): Promise<AccessToken | undefined> {
    const row = await storedToken(store.read, hash)
    if (!row) return undefined
    const token = { value: secrets.open(row.value, purpose), expiresAtMs: row.expiresTime * 1000 }
    return isFresh(token) ? token : undefined
  }

  async function share(hash: string, { value, expiresAtMs }: AccessToken): Promise<void> {
    const token = { value: secrets.seal(value, purpose), expiresTime: Math.floor(expiresAtMs / 1000) }
    await store.write((trx) => storeToken(trx, hash, token, Math.floor(nowMs() / 1000)))
  }

  async function renew(name: string, make: () => Promise<AccessToken>): Promise<AccessToken> {
    const hash = secrets.fingerprint(name, purpose)
    const complain = (error: unknown): undefined => {
      warn(`upstream tokens cannot be shared with other nodes: ${String(error)}`)
    }
    try {
      let token = await fromStore(hash).catch(complain)
      if (!token || token.value === refused.get(name)) {
        token = await make()
        await share(hash, token).catch(complain)
      }
      if (tokens.size >= mostTokens) tokens.clear()
      tokens.set(name, token)
      return token
    } finally {
      making.delete(name)
    }
  }

  return {
    async get(name, make) {
      const known = tokens.get(name)
      if (known && isFresh(known)) return known.value
      let work = making.get(name)
      if (!work) {
        work = renew(name, make)
        making.set(name, work)
      }
      return (await work).value
    },
    refused(name, value) {
      if (tokens.get(name)?.value === value) tokens.delete(name)
      if (refused.size >= mostTokens) refused.clear()
      refused.set(name, value)
    },
  }
}
