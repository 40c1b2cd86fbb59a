import type { Token } from '../../contract/api/token.ts'

/** True if the key is not known, because only its hash was imported and the token has not been used since. */
export function isKeyUnknown(token: Pick<Token, 'key'>): boolean {
  return token.key === ''
}

/** The key as API clients send it; a placeholder if it is not known. */
export function keyOf(token: Pick<Token, 'key'>): string {
  return isKeyUnknown(token) ? 'sk-…' : `sk-${token.key}`
}

/** The key with everything except its end hidden. */
export function maskedKey(token: Pick<Token, 'key'>): string {
  return `sk-••••${token.key.slice(-4)}`
}
