import { anthropicMessages } from './anthropic-messages/index.ts'
import { gemini } from './gemini/index.ts'
import type { DialectName } from './neutral/conversation.ts'
import type { Dialect } from './neutral/dialect.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'

/** The dialects that callers can use, by name. */
export const callerDialects: Readonly<Record<DialectName, Dialect>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}
