import { type AnyCall, conversationOf } from '../call/call.ts'
import type { AttemptFailed } from './retry-policy.ts'

/** The terms that Anthropic, OpenAI and Google (in this order) use for reasoning that they cannot accept. */
const words =
  /`(?:redacted_)?thinking`|(?:signature|data)`? in `?(?:redacted_)?thinking|thinking\.signature|encrypted[_ ]content|item with id '?rs_|thought[_ ]?signature/i

/**
 * True if a service refuses the reasoning state in a conversation because that state came from another service, another
 * account or a key that no longer exists. Reasoning state is opaque, so the gateway cannot check its origin in advance.
 */
export function isAboutThoughts({ status, error, failure }: AttemptFailed, call: AnyCall): boolean {
  // If a conversation is passed on unchanged, the gateway cannot drop reasoning state from it.
  if (call.mode !== 'chat' || (call.dialect === 'openai-chat' && !failure)) return false
  if ((status !== 400 && status !== 404) || !words.test(error.message)) return false
  return conversationOf(call).messages.some(({ parts }) =>
    parts.some((part) => part.type === 'reasoning' || part.type === 'tool-call' || ('seal' in part && part.seal)),
  )
}
