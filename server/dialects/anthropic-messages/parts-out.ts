import type { JsonObject } from '../../lib/json.ts'
import type { CacheMark, MediaPart, Part, Seal, ToolCallPart, ToolResultPart } from '../neutral/conversation.ts'
import type { DroppedFields } from '../wire/dropped-fields.ts'
import { fromBase64, unusualDetail } from '../wire/media.ts'
import { isBlank } from '../wire/spoken-turns.ts'
import { writeSeal } from '../wire/thought-signature.ts'
import { inputObject, wrapFreeform } from '../wire/tool-input.ts'
import { citationOut } from './citations.ts'
import type { WireRedactedThinking, WireThinking } from './wire.ts'

const dialect = 'anthropic-messages'

/** Parts as content blocks of an Anthropic request. Throws GatewayError for a part that no block can express. */
export function blocksOut(parts: readonly Part[], dropped: DroppedFields): JsonObject[] {
  return parts.flatMap((part) => blockOut(part, dropped))
}

function blockOut(part: Part, dropped: DroppedFields): JsonObject[] {
  switch (part.type) {
    case 'text': {
      // Anthropic refuses blocks that are only white space.
      if (isBlank(part.text)) return []
      const citations = (part.citations ?? []).flatMap((citation) => {
        const own = citation.native?.dialect === dialect ? citationOut(citation, part.text) : undefined
        return own ? [own] : []
      })
      return [
        {
          type: 'text',
          text: part.text,
          ...(citations.length > 0 && { citations }),
          ...cacheOut(part.cache),
          ...dropped.native(part.native),
        },
      ]
    }
    case 'media':
      return [mediaOut(part, dropped)]
    case 'tool-call':
      return [callOut(part, dropped)]
    case 'tool-result':
      return [resultOut(part, dropped)]
    case 'reasoning':
      if (part.seal?.from !== dialect) {
        dropped.lose('thought', part)
        return []
      }
      return [thinkingOut(part.text, part.redacted ?? false, part.seal)]
    case 'refusal':
      return isBlank(part.text) ? [] : [{ type: 'text', text: part.text }]
    default:
      if (part.dialect === dialect) return [part.value]
      if (part.text) return [{ type: 'text', text: part.text }]
      dropped.foreign(part.value, 'message')
      return []
  }
}

/** A thinking block, or a `redacted_thinking` block for redacted reasoning. */
export function thinkingOut(text: string, redacted: boolean, seal: Seal): WireThinking | WireRedactedThinking {
  const value = writeSeal(seal, dialect, redacted ? 'hidden' : 'thought')
  return redacted ? { type: 'redacted_thinking', data: value } : { type: 'thinking', thinking: text, signature: value }
}

/** The `cache_control` field for a cache breakpoint; an empty object if there is none. */
export function cacheOut(mark: CacheMark | undefined): JsonObject {
  if (!mark) return {}
  return { cache_control: { type: 'ephemeral', ...((mark.ttl === '5m' || mark.ttl === '1h') && { ttl: mark.ttl }) } }
}

function mediaOut(part: MediaPart, dropped: DroppedFields): JsonObject {
  const { media, source } = part
  if (media === 'audio' || media === 'video') dropped.refuse(part, media)
  dropped.lose('detail', unusualDetail(part))
  const rest = { ...cacheOut(part.cache), ...dropped.native(part.native) }
  if (source.kind === 'file' && dropped.isForeign) dropped.refuse(part, 'a file stored at a service')
  const common = {
    source:
      source.kind === 'url'
        ? { type: 'url', url: source.url }
        : source.kind === 'file'
          ? { type: 'file', file_id: source.id }
          : inlineOut(source.data, source.mediaType),
    ...rest,
  }
  if (media === 'image') return { type: 'image', ...common }
  return {
    type: 'document',
    ...(part.name && { title: part.name }),
    ...(part.cite !== undefined && { citations: { enabled: part.cite } }),
    ...common,
  }
}

function inlineOut(data: string, mediaType: string): JsonObject {
  const type = mediaType.split(';')[0] ?? mediaType
  // Documents are PDF or plain text; any other text format is sent as plain text.
  const isText = type.startsWith('text/') || type === 'application/json'
  if (isText) return { type: 'text', media_type: 'text/plain', data: fromBase64(data) }
  return { type: 'base64', media_type: type, data }
}

function callOut(part: ToolCallPart, dropped: DroppedFields): JsonObject {
  return {
    type: 'tool_use',
    id: part.id,
    name: part.name,
    input: part.freeform ? wrapFreeform(part.input) : inputObject(part.input),
    ...cacheOut(part.cache),
    ...dropped.native(part.native),
  }
}

function resultOut(part: ToolResultPart, dropped: DroppedFields): JsonObject {
  const blocks = blocksOut(part.content, dropped)
  const [first] = blocks
  const isPlain = blocks.length === 1 && first?.['type'] === 'text' && Object.keys(first).length === 2
  return {
    type: 'tool_result',
    tool_use_id: part.callId,
    ...(blocks.length > 0 && { content: isPlain ? first['text'] : blocks }),
    ...(part.isError && { is_error: true }),
    ...cacheOut(part.cache),
    ...dropped.native(part.native),
  }
}
