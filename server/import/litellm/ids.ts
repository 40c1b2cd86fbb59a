import { createHash } from 'node:crypto'

/**
 * A numeric id for an object that LiteLLM identifies by a text. It depends only on the text, so that a later run
 * computes the same id. It has 48 bits, so that two ids are practically never equal.
 */
export function numberOf(kind: 'user' | 'team' | 'token' | 'channel', name: string): number {
  const hex = createHash('sha256').update(`${kind}\0${name}`).digest('hex').slice(0, 12)
  return Number.parseInt(hex, 16) + 1
}
