import { conversationOf, type RelayCall } from '../call/call.ts'
import type { AttemptFailed } from './retry-policy.ts'

/** How services speak of thoughts that they cannot take back: Anthropic, OpenAI, Google, in this order. */
const words =
  /`(?:redacted_)?thinking`|(?:signature|data)`? in `?(?:redacted_)?thinking|thinking\.signature|encrypted[_ ]content|item with id '?rs_|thought[_ ]?signature/i

/**
 * True where a service refuses the state of thought in a conversation: it was made by another service, by another account
 * of the same one, or under a key that is gone. Who made it cannot be seen from outside.
 */
export function isAboutThoughts({ status, error, failure }: AttemptFailed, call: RelayCall): boolean {
  // Chat that is passed on as it is has no state of thought that the gateway could leave out.
  if (call.mode !== 'chat' || (call.dialect === 'openai-chat' && !failure)) return false
  if ((status !== 400 && status !== 404) || !words.test(error.message)) return false
  return conversationOf(call).messages.some(({ parts }) =>
    parts.some((part) => part.type === 'reasoning' || part.type === 'tool-call' || ('seal' in part && part.seal)),
  )
}
