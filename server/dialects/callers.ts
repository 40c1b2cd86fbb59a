import { anthropicMessages } from './anthropic-messages/index.ts'
import type { DialectName } from './conversation.ts'
import type { Dialect } from './dialect.ts'
import { gemini } from './gemini/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'

/** The dialects that callers speak, by name. */
export const callerDialects: Readonly<Record<DialectName, Dialect>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}
