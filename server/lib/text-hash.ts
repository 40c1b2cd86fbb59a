import { createHash } from 'node:crypto'

/** SHA-256 of a text as lower-case hex: the same in every process, and different for different texts. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
