import { randomBase62 } from '../../lib/secrets/ids.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { presentedKeyHash } from '../../lib/secrets/token-key.ts'

const keyLength = 48

/** A new key for a token in its stored form: encrypted, and with the hash by which it is found. */
export function newKey(secrets: Secrets): { key: string; key_hash: string } {
  const key = randomBase62(keyLength)
  return { key: secrets.seal(key, 'token'), key_hash: presentedKeyHash(key, secrets) }
}
