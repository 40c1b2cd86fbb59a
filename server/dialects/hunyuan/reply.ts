import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import { toSnake } from './names.ts'

/** A non-streamed response as a chat completion. Its content is in `Response`. */
export function replyIn(wire: JsonObject): JsonObject {
  const answer = looseObject(wire['Response'])
  return completion(answer, (choice) => ({ message: messageIn(choice['Message']) }))
}

/** An event of a stream as a chunk. Events have no `Response` wrapper. */
export function chunkIn(event: JsonObject): JsonObject {
  return completion(event, (choice) => ({ delta: messageIn(choice['Delta']) }))
}

function completion(answer: JsonObject, messageOf: (choice: JsonObject) => JsonObject): JsonObject {
  return {
    id: answer['Id'] ?? answer['RequestId'],
    created: answer['Created'],
    choices: looseList(answer['Choices']).map((choice) => ({
      index: looseCount(choice['Index']),
      ...messageOf(choice),
      finish_reason: reasonIn(looseText(choice['FinishReason'])),
    })),
    usage: usageIn(answer['Usage']),
  }
}

/** A message. The calls in a stream are distinguished by their ids. */
function messageIn(message: unknown): JsonObject {
  const { Role, Content, ReasoningContent, ToolCalls } = looseObject(message)
  return {
    role: Role,
    content: Content,
    ...(looseText(ReasoningContent) && { reasoning_content: ReasoningContent }),
    ...(looseList(ToolCalls).length > 0 && { tool_calls: toSnake(ToolCalls) }),
  }
}

function reasonIn(reason: string): string | null {
  if (reason === '') return null
  return reason === 'sensitive' ? 'content_filter' : reason
}

function usageIn(usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return undefined
  return {
    prompt_tokens: usage['PromptTokens'],
    completion_tokens: usage['CompletionTokens'] ?? 0,
    ...(usage['TotalTokens'] !== undefined && { total_tokens: usage['TotalTokens'] }),
  }
}
