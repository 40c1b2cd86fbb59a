import type { markExpired } from '../store/accounts/callers.ts'
import type { Store } from '../store/store.ts'

/** Marks tokens as used up or expired, in the background. */
export function tokenMarker(store: Store, warn: (message: string) => void) {
  return (how: typeof markExpired) => (tokenId: number) => {
    markAndTell(store, tokenId, how).catch((error) => warn(`token ${tokenId} could not be marked: ${String(error)}`))
  }
}

async function markAndTell(store: Store, tokenId: number, how: typeof markExpired): Promise<void> {
  const changed = await store.write((trx) => how(trx, tokenId))
  if (changed) await store.notices.publish({ topic: 'token', id: tokenId })
}
