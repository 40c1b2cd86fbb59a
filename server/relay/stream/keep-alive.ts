import type { DialectName } from '../../dialects/neutral/conversation.ts'

const encoder = new TextEncoder()

/**
 * A comment in an event stream. It has no content. It prevents clients and proxies from treating a quiet connection as
 * dead.
 */
export const keepAlive: Uint8Array = encoder.encode(': keep-alive\n\n')

/** Google's libraries do not know comments: they fail at one, or lose what follows it. They accept an empty response. */
const emptyResponse: Uint8Array = encoder.encode('data: {}\n\n')

/** What to send on a quiet stream, in the form that clients of the dialect accept. */
export function keepAliveFor(dialect: DialectName): Uint8Array {
  return dialect === 'gemini' ? emptyResponse : keepAlive
}
