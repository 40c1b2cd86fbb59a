import type { DialectName } from '../../dialects/neutral/conversation.ts'

const encoder = new TextEncoder()

/**
 * A comment in an event stream. It has no content. It prevents clients and proxies from treating a quiet connection as
 * dead.
 */
export const keepAlive: Uint8Array = encoder.encode(': keep-alive\n\n')

/**
 * A blank line. Some of Google's libraries lose everything after a comment, and an empty response would count as a turn
 * without an answer in the history of a chat.
 */
const blankLine: Uint8Array = encoder.encode('\n\n')

/** What to send on a quiet stream, in the form that clients of the dialect accept. */
export function keepAliveFor(dialect: DialectName): Uint8Array {
  return dialect === 'gemini' ? blankLine : keepAlive
}
