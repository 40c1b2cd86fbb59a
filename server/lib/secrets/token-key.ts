import { createHash } from 'node:crypto'
import type { Secrets } from './secrets.ts'

/**
 * The form in which a key is stored if only its hash is known. It cannot be mistaken for a key, because keys that the
 * gateway creates contain no colon.
 */
const hashForm = /^sha256:(?<hex>[0-9a-f]{64})$/

/** The stored form of a key if only its SHA-256 is known. `hex` is the SHA-256 of the whole key, including `sk-`. */
export const hashedKey = (hex: string) => `sha256:${hex}`

/** True if only the SHA-256 of a stored key is known. */
export const isHashedKey = (stored: string) => hashForm.test(stored)

/** The hash by which a stored key is looked up. */
export function storedKeyHash(stored: string, secrets: Secrets): string {
  const hex = hashForm.exec(stored)?.groups?.['hex']
  return hex === undefined ? presentedKeyHash(stored, secrets) : secrets.fingerprint(hex, 'token-key-sha256')
}

/**
 * The hash by which a key from a caller is looked up. `key` has no `sk-`. If a caller presents a stored hash as a key,
 * no token is found.
 */
export function presentedKeyHash(key: string, secrets: Secrets): string {
  return secrets.fingerprint(key, 'token-key')
}

/** The hash by which a caller's key is looked up if the key was imported as a SHA-256 hash. */
export function foreignKeyHash(key: string, secrets: Secrets): string {
  return secrets.fingerprint(createHash('sha256').update(`sk-${key}`).digest('hex'), 'token-key-sha256')
}
