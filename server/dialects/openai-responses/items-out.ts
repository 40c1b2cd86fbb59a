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
export function itemsOut(messages: readonly Message[], dropped: DroppedFields, spaces: Namespaces): JsonObject[] {
  return messages.flatMap((message) => {
    dropped.lose('speaker', message.name)
    return message.role === 'assistant' ? assistantItems(message.parts, dropped, spaces) : userItems(message, dropped)
  })
}

function userItems({ role, parts }: Message, dropped: DroppedFields): JsonObject[] {
  const results = parts.flatMap((part) => (part.type === 'tool-result' ? [resultOut(part, dropped)] : []))
  const own = parts.flatMap((part) => (part.type === 'native' && part.dialect === dialect ? [part.value] : []))
  const others = parts.filter(
    (part) => part.type !== 'tool-result' && !(part.type === 'native' && part.dialect === dialect),
  )
  const content = others.flatMap((part) => contentOut(part, dropped))
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

/** The fields of the message itself (its id and its phase), unchanged. They were stored with its first text. */
function ownMessage(parts: readonly Part[]): JsonObject {
  const [first] = parts
  const message =
    first?.type === 'text' && first.native?.dialect === dialect ? first.native.fields['message'] : undefined
  return (message as JsonObject | undefined) ?? {}
}

/** One part of a user's message. */
function contentOut(part: Part, dropped: DroppedFields): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text, ...markOut(part.cache, dropped), ...nativeOut(part, dropped) }]
    case 'media':
      return [{ ...mediaOut(part, dropped), ...markOut(part.cache, dropped), ...dropped.native(part.native) }]
    case 'native':
      if (part.text) return [{ type: 'input_text', text: part.text }]
      dropped.foreign(part.value, 'message')
      return []
    default:
      return []
  }
}

function nativeOut(part: Part & { type: 'text' }, dropped: DroppedFields): JsonObject {
  const { message: _message, ...rest } = dropped.native(part.native)
  return rest
}

/**
 * A cache breakpoint. It is written only if it came from a caller of this dialect. A breakpoint from another dialect is
 * dropped, because OpenAI caches automatically.
 */
function markOut(mark: CacheMark | undefined, dropped: DroppedFields): JsonObject {
  if (!mark) return {}
  if (!dropped.isForeign) return { prompt_cache_breakpoint: { mode: 'explicit' } }
  dropped.lose('cacheMark', mark)
  return {}
}

function mediaOut(part: MediaPart, dropped: DroppedFields): JsonObject {
  const { media, source, name, detail } = part
  dropped.lose('cite', part.cite || undefined)
  if (media === 'audio' || media === 'video') dropped.refuse(part, media)
  if (source.kind === 'file' && dropped.isForeign) dropped.refuse(part, 'a file stored at a service')
  const address = addressOf(source)
  if (media === 'image') {
    const image = source.kind === 'file' ? { file_id: source.id } : { image_url: address }
    return { type: 'input_image', ...image, ...(detail && { detail }) }
  }
  if (source.kind === 'file') return { type: 'input_file', file_id: source.id }
  if (source.kind === 'url') return { type: 'input_file', file_url: address }
  return { type: 'input_file', filename: name ?? 'document.pdf', file_data: address }
}

function resultOut(part: ToolResultPart, dropped: DroppedFields): JsonObject {
  dropped.lose('isError', part.isError || undefined)
  dropped.lose('cacheMark', dropped.isForeign ? part.cache : undefined)
  const content = part.content.flatMap((each) => contentOut(each, dropped))
  const [first] = content
  const isPlain = content.length === 1 && first && Object.keys(first).length === 2 && 'text' in first
  return {
    type: part.freeform ? 'custom_tool_call_output' : 'function_call_output',
    call_id: part.callId,
    output: content.length === 0 ? '' : isPlain ? first['text'] : content,
    ...dropped.native(part.native),
  }
}

/** A model's turn. The text between two reasoning parts or calls is one message. */
function assistantItems(parts: readonly Part[], dropped: DroppedFields, spaces: Namespaces): JsonObject[] {
  const items: JsonObject[] = []
  let textParts: Part[] = []
  const flush = () => {
    if (textParts.length > 0) items.push(messageOut(textParts, dropped))
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
    const item = assistantItem(part, dropped, spaces)
    if (item) items.push(item)
  }
  flush()
  return items
}

function messageOut(parts: readonly Part[], dropped: DroppedFields): JsonObject {
  const content = parts.map((part): JsonObject => {
    if (part.type === 'refusal') return { type: 'refusal', refusal: part.text }
    if (part.type !== 'text') return {}
    const annotations = annotationsOut(part.citations ?? [], part.text.length)
    dropped.lose('cacheMark', dropped.isForeign ? part.cache : undefined)
    return { type: 'output_text', text: part.text, annotations, ...nativeOut(part, dropped) }
  })
  return { type: 'message', role: 'assistant', content, ...ownMessage(parts) }
}

function assistantItem(part: Part, dropped: DroppedFields, spaces: Namespaces): JsonObject | undefined {
  switch (part.type) {
    case 'tool-call':
      dropped.lose('cacheMark', part.cache)
      return callItem(part, { ...spaceOut(spaces.get(part.name)), ...dropped.native(part.native) })
    case 'reasoning':
      if (part.seal?.from !== dialect && (dropped.isForeign || part.seal)) {
        dropped.lose('thought', part)
        return undefined
      }
      return reasoningItem(part, dropped.native(part.native))
    case 'native':
      if (part.dialect === dialect) return part.value
      if (part.text) return { type: 'message', role: 'assistant', content: part.text }
      dropped.foreign(part.value, 'message')
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

/** A reasoning part as an item. */
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
