import type { JsonObject } from '../../lib/json.ts'
import type { CacheMark, MediaPart, Part } from '../neutral/conversation.ts'
import type { EncodeOptions } from '../neutral/dialect.ts'
import type { DroppedFields } from '../wire/dropped-fields.ts'
import { addressOf, before, fromBase64 } from '../wire/media.ts'

const dialect = 'openai-chat'

/**
 * Parts as the `content` of a message. The content is a plain string if possible, because not every service accepts
 * lists.
 */
export function contentOut(parts: readonly Part[], dropped: DroppedFields, options: EncodeOptions): unknown {
  const list = parts.flatMap((part) => partOut(part, dropped, options))
  const isPlain = list.every((part) => part['type'] === 'text' && Object.keys(part).length === 2)
  if (list.length === 0) return ''
  const [first] = list
  return isPlain && list.length === 1 && first ? first['text'] : list
}

function partOut(part: Part, dropped: DroppedFields, options: EncodeOptions): JsonObject[] {
  switch (part.type) {
    case 'text':
      if (part.text === '') return []
      return [
        {
          type: 'text',
          text: part.text,
          ...cacheOut(part.cache, dropped, options),
          ...dropped.native(part.native),
        },
      ]
    case 'media':
      return [
        {
          ...mediaOut(part, dropped),
          ...cacheOut(part.cache, dropped, options),
          ...dropped.native(part.native),
        },
      ]
    case 'refusal':
      return [{ type: 'refusal', refusal: part.text }]
    case 'native':
      if (part.dialect === dialect) return [part.value]
      if (part.text) return [{ type: 'text', text: part.text }]
      dropped.foreign(part.value, 'message')
      return []
    default:
      return []
  }
}

/** A cache breakpoint, for services that accept Anthropic's cache breakpoints. OpenAI caches automatically. */
export function cacheOut(mark: CacheMark | undefined, dropped: DroppedFields, options: EncodeOptions): JsonObject {
  if (!mark) return {}
  if (options.cacheControl) return { cache_control: { type: 'ephemeral', ...(mark.ttl && { ttl: mark.ttl }) } }
  dropped.lose('cacheMark', mark)
  return {}
}

function mediaOut(part: MediaPart, dropped: DroppedFields): JsonObject {
  const { media, source } = part
  dropped.lose('cite', part.cite || undefined)
  if (source.kind === 'file') {
    if (dropped.isForeign || media !== 'document') dropped.refuse(part, 'a file stored at a service')
    return { type: 'file', file: { file_id: source.id } }
  }
  const address = addressOf(source) ?? ''
  if (media === 'image')
    return { type: 'image_url', image_url: { url: address, ...(part.detail && { detail: part.detail }) } }
  if (media === 'video') return { type: 'video_url', video_url: { url: address } }
  // OpenAI accepts no URLs here, but some services that use its dialect do.
  if (source.kind === 'url' && !dropped.isForeign) return { type: 'file_url', file_url: { url: address } }
  if (source.kind === 'url') dropped.refuse(part, 'a document or audio file by URL')
  if (media === 'audio')
    return { type: 'input_audio', input_audio: { data: source.data, format: soundFormat(source.mediaType) } }
  // The dialect accepts only PDFs as files. A text document is sent as text.
  if (/^(?:text\/|application\/json)/.test(source.mediaType))
    return { type: 'text', text: [part.name, fromBase64(source.data)].filter(Boolean).join('\n\n') }
  return { type: 'file', file: { filename: part.name ?? 'document.pdf', file_data: address } }
}

function soundFormat(mediaType: string): string {
  const name = before(mediaType.replace(/^audio\/(?:x-)?/, ''), ';')
  return { mpeg: 'mp3', wave: 'wav', pcm: 'pcm16' }[name] ?? name
}
