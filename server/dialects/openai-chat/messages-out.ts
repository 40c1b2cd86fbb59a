import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, Message, Part, ToolCallPart, ToolResultPart } from '../neutral/conversation.ts'
import type { EncodeOptions } from '../neutral/dialect.ts'
import type { DroppedFields } from '../wire/dropped-fields.ts'
import { wrapFreeform } from '../wire/tool-input.ts'
import { cacheOut, contentOut } from './parts-out.ts'
import { detailsOut, sealOut } from './reasoning.ts'

/**
 * All messages of a request, beginning with the system message. Throws GatewayError for a part that the dialect cannot
 * express.
 */
export function messagesOut(conversation: Conversation, dropped: DroppedFields, options: EncodeOptions): JsonObject[] {
  return [
    ...systemOut(conversation, dropped, options),
    ...conversation.messages.flatMap((message) => messageOut(message, dropped, options)),
  ]
}

/**
 * The system prompt as one message, because some services accept neither several system messages nor lists of parts.
 */
function systemOut({ system }: Conversation, dropped: DroppedFields, options: EncodeOptions): JsonObject[] {
  if (system.length === 0) return []
  const hasMarks = options.cacheControl && system.some(({ cache }) => cache)
  const [first] = system
  const joined = { ...first, type: 'text', text: system.map(({ text }) => text).join('\n\n') } as const
  const mark = system.find(({ cache }) => cache)?.cache
  const parts = hasMarks ? system : [{ ...joined, cache: mark }]
  return [{ role: 'system', content: contentOut(parts, dropped, options) }]
}

function messageOut(message: Message, dropped: DroppedFields, options: EncodeOptions): JsonObject[] {
  const rest = { ...(message.name && { name: message.name }), ...dropped.native(message.native) }
  if (message.role === 'assistant') return [{ ...assistantOut(message.parts, dropped, options), ...rest }]
  if (message.role === 'system')
    return [{ role: 'system', content: contentOut(message.parts, dropped, options), ...rest }]
  const results = message.parts.filter((part) => part.type === 'tool-result')
  const others = message.parts.filter((part) => part.type !== 'tool-result')
  const out = results.map((result) => resultOut(result, dropped, options))
  // Tool results can only contain text. Their images and files follow in a user message.
  const shown = [...results.flatMap(attachments), ...others]
  if (shown.length > 0 || results.length === 0)
    out.push({ role: 'user', content: contentOut(shown, dropped, options), ...rest })
  return out
}

function resultOut(result: ToolResultPart, dropped: DroppedFields, options: EncodeOptions): JsonObject {
  dropped.lose('isError', result.isError || undefined)
  const texts = result.content.filter(({ type }) => type !== 'media')
  const content = contentOut(texts, dropped, options)
  return {
    role: 'tool',
    tool_call_id: result.callId,
    content: content === '' && texts.length < result.content.length ? `See attachments of ${result.callId}.` : content,
    ...cacheOut(result.cache, dropped, options),
    ...dropped.native(result.native),
  }
}

function attachments({ callId, content }: ToolResultPart): Part[] {
  const media = content.filter(({ type }) => type === 'media')
  return media.length === 0 ? [] : [{ type: 'text', text: `Attachments of ${callId}:` }, ...media]
}

function assistantOut(parts: readonly Part[], dropped: DroppedFields, options: EncodeOptions): JsonObject {
  const contentParts = parts.filter(({ type }) => type === 'text' || type === 'native' || type === 'media')
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : [])).join('')
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [callOut(part, dropped, options)] : []))
  const content = joinedTexts(contentOut(contentParts, dropped, options))
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
    ...thoughtsOut(parts, dropped, options),
    ...(refusal && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** Joins the texts of an assistant message into one. */
function joinedTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  const list = content as JsonObject[]
  const isPlain = list.every((part) => part['type'] === 'text' && Object.keys(part).length === 2)
  return isPlain ? list.map((part) => part['text']).join('') : list
}

function callOut(part: ToolCallPart, dropped: DroppedFields, options: EncodeOptions): JsonObject {
  const native = dropped.native(part.native)
  const { id, name, input, seal } = part
  if (part.freeform && options.freeformTools) return { id, type: 'custom', custom: { name, input }, ...native }
  const isSealed = seal?.from === 'gemini' && options.reasoningField !== undefined
  return {
    id,
    type: 'function',
    function: { name, arguments: part.freeform ? JSON.stringify(wrapFreeform(input)) : input || '{}' },
    ...(isSealed && { extra_content: { google: { thought_signature: seal.value } } }),
    ...cacheOut(part.cache, dropped, options),
    ...native,
  }
}

/** Earlier reasoning, in the format in which the service accepts it back. */
function thoughtsOut(parts: readonly Part[], dropped: DroppedFields, options: EncodeOptions): JsonObject {
  const thoughts = parts.filter((part) => part.type === 'reasoning')
  if (thoughts.length === 0) return {}
  const text = thoughts.map((part) => part.text).join('')
  switch (options.reasoningField) {
    case 'reasoning_content':
      return { reasoning_content: text }
    case 'reasoning_details': {
      const seals = parts.flatMap((part, index) =>
        part.type === 'tool-call' && part.seal ? [sealOut(part.seal, part.id, index)] : [],
      )
      return { reasoning: text, reasoning_details: [...thoughts.flatMap(detailsOut), ...seals] }
    }
    default:
      dropped.lose('thought', thoughts)
      return {}
  }
}
