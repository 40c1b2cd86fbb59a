import { createHash } from 'node:crypto'

/** The SHA-256 of a text in lower-case hex. It is the same in every process, and different for different texts. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
