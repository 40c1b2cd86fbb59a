import { sealedChannelKeys } from '../../store/channels/channels.ts'
import { keyLines } from '../../store/channels/key-lines.ts'
import type { ApiDeps } from '../deps.ts'

/** A shorter text is not treated as a key, because it would be feasible to guess it. */
const leastCharacters = 12
const keysPerTurn = 200

/**
 * The channels that have exactly this key. Keys are stored encrypted, so each is decrypted and compared by its keyed
 * hash.
 */
export async function channelsWithKey(
  { store, secrets, turns }: Pick<ApiDeps, 'store' | 'secrets' | 'turns'>,
  keyword: string,
): Promise<number[]> {
  if (keyword.length < leastCharacters) return []
  const hashOf = (key: string) => secrets.fingerprint(key, 'channel-key')
  const wanted = hashOf(keyword)
  const ids: number[] = []
  for (const [at, { id, key }] of (await sealedChannelKeys(store.read)).entries()) {
    if (at % keysPerTurn === 0) await turns.next()
    if (opened(secrets, key).some((line) => hashOf(line) === wanted)) ids.push(id)
  }
  return ids
}

/** A key that was encrypted under another secret key cannot be found. */
function opened(secrets: ApiDeps['secrets'], sealed: string): string[] {
  try {
    return keyLines(secrets.open(sealed, 'channel'))
  } catch {
    return []
  }
}
