import type { Token } from '../../contract/api/token.ts'

/** True if the key is unknown. If only the hash of a key was imported, the key is unknown until the token is used. */
export function isKeyUnknown(token: Pick<Token, 'key'>): boolean {
  return token.key === ''
}

/** The key as API clients send it; a placeholder if it is not known. */
export function keyOf(token: Pick<Token, 'key'>): string {
  return isKeyUnknown(token) ? 'sk-…' : `sk-${token.key}`
}

/** The key with only its end visible. */
export function maskedKey(token: Pick<Token, 'key'>): string {
  return `sk-••••${token.key.slice(-4)}`
}
