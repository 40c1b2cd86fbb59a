import { createHash } from 'node:crypto'

/**
 * The number of something that LiteLLM names by a text. It depends on the text alone, so that a later run finds the same
 * one, and 48 bits are enough for no two to be equal.
 */
export function numberOf(kind: 'user' | 'team' | 'token' | 'channel', name: string): number {
  const hex = createHash('sha256').update(`${kind}\0${name}`).digest('hex').slice(0, 12)
  return Number.parseInt(hex, 16) + 1
}
