import type { Token } from '../../contract/api/token.ts'

/** The key as API clients send it. */
export function keyOf(token: Pick<Token, 'key'>): string {
  return `sk-${token.key}`
}

/** The key with everything except its end hidden. */
export function maskedKey(token: Pick<Token, 'key'>): string {
  return `sk-••••${token.key.slice(-4)}`
}
