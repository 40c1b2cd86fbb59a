import { sealedChannelKeys } from '../../store/channels/channels.ts'
import { keyLines } from '../../store/channels/key-lines.ts'
import type { ApiDeps } from '../deps.ts'

/** A text shorter than this is not treated as a key, because it could be guessed. */
const leastCharacters = 12
const keysPerTurn = 200

/**
 * The channels that have exactly this key. Because keys are stored encrypted, each is decrypted, and its keyed hash is
 * compared.
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

/** The decrypted keys of a channel. A key that was encrypted under another secret key is skipped. */
function opened(secrets: ApiDeps['secrets'], sealed: string): string[] {
  try {
    return keyLines(secrets.open(sealed, 'channel'))
  } catch {
    return []
  }
}
