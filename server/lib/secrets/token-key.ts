import { createHash } from 'node:crypto'
import type { Secrets } from './secrets.ts'

/** How a key is stored if only its hash is known. Keys that are made here have no colon. */
const hashForm = /^sha256:(?<hex>[0-9a-f]{64})$/

/** The stored form of a key if only the SHA-256 of the whole key, with its `sk-`, is known. */
export const hashedKey = (hex: string) => `sha256:${hex}`

/** True if only the SHA-256 of a stored key is known. */
export const isHashedKey = (stored: string) => hashForm.test(stored)

/** The hash by which a stored key is found. */
export function storedKeyHash(stored: string, secrets: Secrets): string {
  const hex = hashForm.exec(stored)?.groups?.['hex']
  return hex === undefined ? presentedKeyHash(stored, secrets) : secrets.fingerprint(hex, 'token-key-sha256')
}

/** The hash of a key as a caller presents it, without `sk-`. A hash that is presented as a key never finds its token. */
export function presentedKeyHash(key: string, secrets: Secrets): string {
  return secrets.fingerprint(key, 'token-key')
}

/** The hash under which a presented key is stored if only its SHA-256 was known. */
export function foreignKeyHash(key: string, secrets: Secrets): string {
  return secrets.fingerprint(createHash('sha256').update(`sk-${key}`).digest('hex'), 'token-key-sha256')
}
