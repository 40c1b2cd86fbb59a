import type { DialectName } from '../../dialects/neutral/conversation.ts'

const encoder = new TextEncoder()

/**
 * A comment in an event stream. It has no content. It prevents clients and proxies from treating a quiet connection as
 * dead.
 */
export const keepAlive: Uint8Array = encoder.encode(': keep-alive\n\n')

/**
 * A blank line, the keep-alive for clients of Google's API. Some of Google's libraries drop everything after a comment.
 * An event with an empty response cannot be used either, because clients would add it to the history of a chat as a
 * turn without an answer.
 */
const blankLine: Uint8Array = encoder.encode('\n\n')

/** The keep-alive for a stream, in the form that clients of the dialect accept. */
export function keepAliveFor(dialect: DialectName): Uint8Array {
  return dialect === 'gemini' ? blankLine : keepAlive
}
