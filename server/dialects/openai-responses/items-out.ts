import type { JsonObject } from '../../lib/json.ts'
import type {
  CacheMark,
  MediaPart,
  Message,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from '../neutral/conversation.ts'
import type { DroppedFields } from '../wire/dropped-fields.ts'
import { addressOf } from '../wire/media.ts'
import { annotationsOut } from './annotations.ts'
import { type Namespaces, spaceOut } from './namespaces.ts'

const dialect = 'openai-responses'

/** The messages of a conversation as items of `input`. Throws GatewayError for a part that no item can express. */
export function itemsOut(messages: readonly Message[], losses: DroppedFields, spaces: Namespaces): JsonObject[] {
  return messages.flatMap((message) => {
    losses.lose('speaker', message.name)
    return message.role === 'assistant' ? assistantItems(message.parts, losses, spaces) : userItems(message, losses)
  })
}

function userItems({ role, parts }: Message, losses: DroppedFields): JsonObject[] {
  const results = parts.flatMap((part) => (part.type === 'tool-result' ? [resultOut(part, losses)] : []))
  const own = parts.flatMap((part) => (part.type === 'native' && part.dialect === dialect ? [part.value] : []))
  const others = parts.filter(
    (part) => part.type !== 'tool-result' && !(part.type === 'native' && part.dialect === dialect),
  )
  const content = others.flatMap((part) => contentOut(part, losses))
  const items = [...results, ...own]
  if (content.length > 0 || items.length === 0)
    items.push(messageItem(role === 'system' ? 'developer' : role, others, content))
  return items
}

function messageItem(role: string, parts: readonly Part[], content: JsonObject[]): JsonObject {
  const [first] = content
  const isPlain = content.length === 1 && first && Object.keys(first).length === 2 && 'text' in first
  return { type: 'message', role, content: isPlain ? first['text'] : content, ...ownMessage(parts) }
}

/** The ids that a message had when it arrived. */
function ownMessage(parts: readonly Part[]): JsonObject {
  const [first] = parts
  const message =
    first?.type === 'text' && first.native?.dialect === dialect ? first.native.fields['message'] : undefined
  return (message as JsonObject | undefined) ?? {}
}

/** One part of a user's message. */
function contentOut(part: Part, losses: DroppedFields): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text, ...markOut(part.cache, losses), ...nativeOut(part, losses) }]
    case 'media':
      return [{ ...mediaOut(part, losses), ...markOut(part.cache, losses), ...losses.native(part.native) }]
    case 'native':
      if (part.text) return [{ type: 'input_text', text: part.text }]
      losses.foreign(part.value, 'message')
      return []
    default:
      return []
  }
}

function nativeOut(part: Part & { type: 'text' }, losses: DroppedFields): JsonObject {
  const { message: _message, ...rest } = losses.native(part.native)
  return rest
}

/** OpenAI caches automatically. Its own cache mark is sent back only to OpenAI. */
function markOut(mark: CacheMark | undefined, losses: DroppedFields): JsonObject {
  if (!mark) return {}
  if (!losses.isForeign) return { prompt_cache_breakpoint: { mode: 'explicit' } }
  losses.lose('cacheMark', mark)
  return {}
}

function mediaOut(part: MediaPart, losses: DroppedFields): JsonObject {
  const { media, source, name, detail } = part
  losses.lose('cite', part.cite || undefined)
  if (media === 'audio' || media === 'video') losses.refuse(part, media)
  if (source.kind === 'file' && losses.isForeign) losses.refuse(part, 'a file kept at a service')
  const address = addressOf(source)
  if (media === 'image') {
    const image = source.kind === 'file' ? { file_id: source.id } : { image_url: address }
    return { type: 'input_image', ...image, ...(detail && { detail }) }
  }
  if (source.kind === 'file') return { type: 'input_file', file_id: source.id }
  if (source.kind === 'url') return { type: 'input_file', file_url: address }
  return { type: 'input_file', filename: name ?? 'document.pdf', file_data: address }
}

function resultOut(part: ToolResultPart, losses: DroppedFields): JsonObject {
  losses.lose('isError', part.isError || undefined)
  losses.lose('cacheMark', losses.isForeign ? part.cache : undefined)
  const content = part.content.flatMap((each) => contentOut(each, losses))
  const [first] = content
  const isPlain = content.length === 1 && first && Object.keys(first).length === 2 && 'text' in first
  return {
    type: part.freeform ? 'custom_tool_call_output' : 'function_call_output',
    call_id: part.callId,
    output: content.length === 0 ? '' : isPlain ? first['text'] : content,
    ...losses.native(part.native),
  }
}

/** A model's turn. The text between two thoughts or calls is one message. */
function assistantItems(parts: readonly Part[], losses: DroppedFields, spaces: Namespaces): JsonObject[] {
  const items: JsonObject[] = []
  let textParts: Part[] = []
  const flush = () => {
    if (textParts.length > 0) items.push(messageOut(textParts, losses))
    textParts = []
  }
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') {
      const isOther = textParts.length > 0 && Object.keys(ownMessage([part])).length > 0
      if (isOther) flush()
      if (part.text !== '') textParts.push(part)
      continue
    }
    flush()
    const item = assistantItem(part, losses, spaces)
    if (item) items.push(item)
  }
  flush()
  return items
}

function messageOut(parts: readonly Part[], losses: DroppedFields): JsonObject {
  const content = parts.map((part): JsonObject => {
    if (part.type === 'refusal') return { type: 'refusal', refusal: part.text }
    if (part.type !== 'text') return {}
    const annotations = annotationsOut(part.citations ?? [], part.text.length)
    losses.lose('cacheMark', losses.isForeign ? part.cache : undefined)
    return { type: 'output_text', text: part.text, annotations, ...nativeOut(part, losses) }
  })
  return { type: 'message', role: 'assistant', content, ...ownMessage(parts) }
}

function assistantItem(part: Part, losses: DroppedFields, spaces: Namespaces): JsonObject | undefined {
  switch (part.type) {
    case 'tool-call':
      losses.lose('cacheMark', part.cache)
      return callItem(part, { ...spaceOut(spaces.get(part.name)), ...losses.native(part.native) })
    case 'reasoning':
      if (part.seal?.from !== dialect && (losses.isForeign || part.seal)) {
        losses.lose('thought', part)
        return undefined
      }
      return reasoningItem(part, losses.native(part.native))
    case 'native':
      if (part.dialect === dialect) return part.value
      if (part.text) return { type: 'message', role: 'assistant', content: part.text }
      losses.foreign(part.value, 'message')
      return undefined
    default:
      return undefined
  }
}

/** A call as an item. */
function callItem(part: ToolCallPart, native: JsonObject): JsonObject {
  const { id, name, input } = part
  if (part.freeform) return { type: 'custom_tool_call', call_id: id, name, input, ...native }
  return { type: 'function_call', call_id: id, name, arguments: input || '{}', ...native }
}

/** A thought as an item. */
function reasoningItem(part: ReasoningPart, native: JsonObject): JsonObject {
  const { text, full, seal } = part
  return {
    type: 'reasoning',
    summary: text === '' || full ? [] : [{ type: 'summary_text', text }],
    ...(full && { content: [{ type: 'reasoning_text', text }] }),
    ...(seal && { encrypted_content: seal.value }),
    ...native,
  }
}
