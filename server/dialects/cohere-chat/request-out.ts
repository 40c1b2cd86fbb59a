import type { JsonObject } from '../../lib/json.ts'
import { budgetOf, budgetWithin, effortOf } from '../models/reasoning-effort.ts'
import type { Conversation, MediaPart, Message, Part, ToolChoice, ToolResultPart } from '../neutral/conversation.ts'
import type { EncodedRequest } from '../neutral/dialect.ts'
import { DroppedFields } from '../wire/dropped-fields.ts'
import { addressOf, fromBase64 } from '../wire/media.ts'
import { plainTools } from '../wire/plain-tools.ts'
import { spelledOut } from '../wire/spelled-out.ts'
import { mustCall } from '../wire/tool-choice.ts'
import { wrapFreeform } from '../wire/tool-input.ts'

/** The context for writing the messages of a request. */
interface Context {
  readonly dropped: DroppedFields
  /** The documents of the request, which are sent in a field next to the messages. */
  readonly documents: JsonObject[]
  /** True if the model accepts its own reasoning back. */
  readonly thinks: boolean
}

/**
 * A Chat request for Cohere (API reference, "Chat", version 2). Throws GatewayError for anything that cannot be
 * expressed.
 */
export function encodeRequest(original: Conversation): EncodedRequest {
  const conversation = spelledOut(original, 'cohere-chat')
  const dropped = new DroppedFields(conversation, 'cohere-chat')
  const context: Context = { dropped, documents: [], thinks: /reasoning|command-a-plus/.test(conversation.model) }
  const { maxTokens, temperature, topP, topK, frequencyPenalty, presencePenalty, seed, stop } = conversation
  const messages = messagesOut(conversation, context)
  const offer = plainTools(conversation, dropped)
  const { tools } = offer
  const choice = tools.length > 0 ? choiceOut(offer.choice) : undefined
  dropped.loseWishesBut(conversation, 'frequencyPenalty', 'presencePenalty', 'seed', 'stop')
  const body: JsonObject = {
    model: conversation.model,
    messages,
    ...(conversation.stream && { stream: true }),
    ...(context.documents.length > 0 && { documents: context.documents }),
    ...(tools.length > 0 && { tools }),
    ...(choice && { tool_choice: choice }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature: dropped.within('temperature', temperature, 0, 1) }),
    // Cohere's range for `p` excludes both ends, and its penalties range from 0 to 1.
    ...(topP !== undefined && { p: dropped.within('topP', topP, 0.01, 0.99) }),
    ...(topK !== undefined && { k: dropped.within('topK', topK, 0, 500) }),
    ...(frequencyPenalty !== undefined && {
      frequency_penalty: dropped.within('frequencyPenalty', frequencyPenalty, 0, 1),
    }),
    ...(presencePenalty !== undefined && {
      presence_penalty: dropped.within('presencePenalty', presencePenalty, 0, 1),
    }),
    ...(seed !== undefined && { seed }),
    ...(stop && stop.length > 0 && { stop_sequences: stop.slice(0, 5) }),
    ...formatOut(conversation),
    ...thinkingOut(conversation, dropped),
  }
  if (stop && stop.length > 5) dropped.lose('stop', stop)
  return { body, dropped: dropped.names }
}

function messagesOut(conversation: Conversation, context: Context): JsonObject[] {
  const system = conversation.system.map(({ text }) => text).join('\n\n')
  for (const part of conversation.system) context.dropped.lose('cacheMark', part.cache)
  const messages = conversation.messages.flatMap((message) => messageOut(message, context))
  return system === '' ? messages : [{ role: 'system', content: system }, ...messages]
}

function messageOut(message: Message, context: Context): JsonObject[] {
  const { dropped } = context
  dropped.lose('speaker', message.name)
  if (message.role === 'assistant') return assistantOut(message.parts, context)
  const results = message.parts.flatMap((part) => (part.type === 'tool-result' ? [resultOut(part, dropped)] : []))
  const content = contentOut(message.parts, context)
  return content === '' ? results : [...results, { role: message.role, content }]
}

/** The texts and images of a user turn; a plain string if there are only texts. */
function contentOut(parts: readonly Part[], context: Context): unknown {
  const content = parts.flatMap((part): JsonObject[] => {
    if ('cache' in part) context.dropped.lose('cacheMark', part.cache)
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [{ type: 'text', text: part.text }]
      case 'media':
        return mediaOut(part, context)
      case 'native':
        if (part.text) return [{ type: 'text', text: part.text }]
        context.dropped.foreign(part.value, 'message')
        return []
      default:
        return []
    }
  })
  return content.every(({ type }) => type === 'text') ? content.map(({ text }) => text).join('\n') : content
}

function mediaOut(part: MediaPart, { dropped, documents }: Context): JsonObject[] {
  const { media, source } = part
  if (media === 'image' && source.kind !== 'file') {
    const url = addressOf(source)
    return [{ type: 'image_url', image_url: { url, ...(part.detail && { detail: part.detail }) } }]
  }
  if (media !== 'document' || source.kind !== 'inline' || !source.mediaType.startsWith('text/'))
    return dropped.refuse(part, media)
  const data = { ...(part.name && { title: part.name }), text: fromBase64(source.data) }
  documents.push({ id: `doc:${documents.length}`, data })
  return []
}

function resultOut(part: ToolResultPart, dropped: DroppedFields): JsonObject {
  dropped.lose('cacheMark', part.cache)
  const texts = part.content.flatMap((each) => {
    if (each.type === 'media') dropped.refuse(each, `${each.media} in the result of a tool`)
    return each.text ?? []
  })
  return { role: 'tool', tool_call_id: part.callId, content: texts.join('\n') }
}

/** For models that do not accept reasoning, reasoning before tool calls is sent as the tool plan. */
function assistantOut(parts: readonly Part[], context: Context): JsonObject[] {
  const { dropped, thinks } = context
  const text = parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : [])).join('')
  const calls = parts.flatMap((part) => {
    if (part.type !== 'tool-call') return []
    const input = part.freeform ? JSON.stringify(wrapFreeform(part.input)) : part.input || '{}'
    return [{ id: part.id, type: 'function', function: { name: part.name, arguments: input } }]
  })
  const thoughts = parts.flatMap((part) => (part.type === 'reasoning' && !part.seal && part.text ? [part.text] : []))
  const thought = thoughts.join('')
  const isPlan = thought !== '' && !thinks && calls.length > 0
  if (!thinks && !isPlan) dropped.lose('thought', thought || undefined)
  dropped.lose(
    'thought',
    parts.find((part) => part.type === 'reasoning' && part.seal),
  )
  const content =
    thinks && thought !== ''
      ? [{ type: 'thinking', thinking: thought }, ...(text === '' ? [] : [{ type: 'text', text }])]
      : text
  if (content === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      ...(content !== '' && { content }),
      ...(isPlan && { tool_plan: thought }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

function choiceOut(choice: ToolChoice | undefined): string | undefined {
  if (choice?.mode === 'none') return 'NONE'
  return mustCall(choice) ? 'REQUIRED' : undefined
}

function formatOut({ format }: Conversation): JsonObject {
  if (format?.type === 'json') return { response_format: { type: 'json_object' } }
  if (format?.type !== 'schema') return {}
  return { response_format: { type: 'json_object', json_schema: format.schema } }
}

function thinkingOut({ reasoning, model, maxTokens }: Conversation, dropped: DroppedFields): JsonObject {
  if (!reasoning) return {}
  if (!/reasoning|command-a-plus/.test(model)) {
    dropped.lose('reasoning', reasoning)
    return {}
  }
  if (effortOf(reasoning) === 'none') return { thinking: { type: 'disabled' } }
  const wanted = budgetOf(reasoning)
  const budget = wanted !== undefined && wanted > 0 ? budgetWithin(maxTokens, wanted) : undefined
  return { thinking: { type: 'enabled', ...(budget !== undefined && { token_budget: budget }) } }
}
