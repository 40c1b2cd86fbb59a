import type { Secrets } from '../../lib/secrets/secrets.ts'
import { foreignKeyHash, presentedKeyHash } from '../../lib/secrets/token-key.ts'
import { type CallerRow, findByOldKey, findCaller } from '../../store/accounts/callers.ts'
import { learnKey } from '../../store/accounts/tokens.ts'
import type { Store } from '../../store/store.ts'

/**
 * Looks up tokens by key, with a cache. A token is dropped from the cache as soon as the token or its owner changes.
 */
export interface TokenCache {
  find(key: string): Promise<CallerRow | undefined>
  /** The token, if it is in memory. */
  known(key: string): CallerRow | undefined
}

interface Entry {
  row: CallerRow
  /** After this time, the row must be read from the database again. */
  untilMs: number
}

/** The maximum age of an entry, in milliseconds. It limits the effect of a lost change notice. */
const lifeMs = 30_000
const mostEntries = 20_000

export function createTokenCache(store: Store, secrets: Secrets, nowMs: () => number): TokenCache {
  const entries = new Map<string, Entry>()
  // The number of change notices. A row that was read before a notice must not be cached after it.
  let changes = 0
  store.notices.subscribe((notice) => {
    if (notice !== 'reconnected' && notice.topic !== 'token' && notice.topic !== 'user') return
    changes++
    if (notice === 'reconnected' || notice.id === 0) entries.clear()
    else {
      for (const [key, { row }] of entries) {
        if ((notice.topic === 'token' ? row.tokenId : row.userId) === notice.id) entries.delete(key)
      }
    }
  })
  const known = (key: string) => {
    const entry = entries.get(key)
    return entry && nowMs() < entry.untilMs ? entry.row : undefined
  }
  /**
   * Finds a token that was imported with only the SHA-256 of its key. The key is then stored with the token. The next
   * look-up therefore needs only one query, and the console can show the key.
   */
  async function findForeign(key: string): Promise<CallerRow | undefined> {
    const from = foreignKeyHash(key, secrets)
    const to = presentedKeyHash(key, secrets)
    // Both hashes are looked up, because another call may have stored the key in the meantime.
    const row = await findCaller(store.read, from, to)
    if (row) await store.write((trx) => learnKey(trx, row.tokenId, { from, to, sealed: secrets.seal(key, 'token') }))
    return row
  }
  /**
   * Finds a token by a key that has been replaced. The cache keeps the token only as long as the old key is valid, so
   * calls with the old key need no extra check.
   */
  async function findOld(key: string): Promise<Entry | undefined> {
    const hashes = [presentedKeyHash(key, secrets), foreignKeyHash(key, secrets)]
    const found = await findByOldKey(store.read, hashes, Math.floor(nowMs() / 1000))
    return found && { row: found.row, untilMs: Math.min(nowMs() + lifeMs, found.untilSeconds * 1000) }
  }
  return {
    known,
    async find(key) {
      const cachedRow = known(key)
      if (cachedRow) return cachedRow
      const before = changes
      const row = (await findCaller(store.read, presentedKeyHash(key, secrets))) ?? (await findForeign(key))
      const entry = row ? { row, untilMs: nowMs() + lifeMs } : await findOld(key)
      if (!entry) {
        entries.delete(key)
        return undefined
      }
      if (before === changes) {
        if (entries.size >= mostEntries) entries.clear()
        entries.set(key, entry)
      }
      return entry.row
    },
  }
}
