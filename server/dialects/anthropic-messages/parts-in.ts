import type {
  CacheMark,
  MediaPart,
  MediaSource,
  NativePart,
  Part,
  TextPart,
  ToolResultPart,
} from '../neutral/conversation.ts'
import { type Fields, looseObject, missingField, wrongField } from '../neutral/fields.ts'
import { mediaOf, toBase64 } from '../wire/media.ts'
import { attachSeals, type LooseSeal, readThought } from '../wire/thought-signature.ts'
import { citationsIn } from './citations.ts'

const dialect = 'anthropic-messages'

/** The `content` of a message: text or blocks. Throws GatewayError with the path of the invalid block. */
export function contentIn(owner: Fields, needed: boolean): Part[] {
  const content = owner.raw('content')
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content === undefined && needed) throw missingField(owner.at('content'))
  if (content !== undefined && !Array.isArray(content))
    throw wrongField(owner.at('content'), 'text or a list of blocks')
  return attachSeals((owner.each('content') ?? []).map(blockIn))
}

/** A cache breakpoint, if the object has one. */
export function cacheIn(owner: Fields): { cache?: CacheMark } {
  const mark = owner.fields('cache_control')
  return mark ? { cache: { ttl: mark.text('ttl') ?? '' } } : {}
}

function blockIn(block: Fields): Part | LooseSeal {
  switch (block.needText('type')) {
    case 'text':
      return textIn(block)
    case 'image':
      return { type: 'media', media: 'image', ...mediaIn(block) }
    case 'document':
      return documentIn(block)
    case 'thinking': {
      const thought = { type: 'reasoning', text: block.needText('thinking') } as const
      return readThought(thought, block.text('signature') ?? '', dialect)
    }
    case 'redacted_thinking':
      return readThought({ type: 'reasoning', text: '', redacted: true }, block.needText('data'), dialect)
    case 'tool_use':
      if (isDirect(block.value['caller'])) block.raw('caller')
      return {
        type: 'tool-call',
        id: block.needText('id'),
        name: block.needText('name'),
        input: JSON.stringify(block.object('input') ?? {}),
        ...cacheIn(block),
        ...block.native(dialect),
      }
    case 'tool_result':
      return resultIn(block)
    case 'search_result':
      return searchResultIn(block)
    default:
      return { type: 'native', dialect, value: block.whole() }
  }
}

/**
 * True if the model itself made the tool call, and not code that the model runs in a sandbox. A missing `caller` means
 * that the model itself made it.
 */
export function isDirect(caller: unknown): boolean {
  return caller === undefined || caller === null || looseObject(caller)['type'] === 'direct'
}

/** A text block. */
export function textIn(block: Fields): TextPart {
  return {
    type: 'text',
    text: block.needText('text'),
    ...cacheIn(block),
    ...citationsIn(block.list('citations')),
    ...native(block),
  }
}

function native(block: Fields) {
  block.raw('type')
  return block.native(dialect)
}

function mediaIn(block: Fields): Pick<MediaPart, 'source' | 'cache' | 'native'> {
  const source = block.fields('source')
  if (!source) throw missingField(block.at('source'))
  return { source: sourceIn(source), ...cacheIn(block), ...native(block) }
}

function sourceIn(source: Fields): MediaSource {
  const type = source.needText('type')
  switch (type) {
    case 'base64':
      return { kind: 'inline', data: source.needText('data'), mediaType: source.needText('media_type') }
    case 'text':
      return {
        kind: 'inline',
        data: toBase64(source.needText('data')),
        mediaType: source.text('media_type') ?? 'text/plain',
      }
    case 'url':
      return { kind: 'url', url: source.needText('url') }
    case 'file':
      return { kind: 'file', id: source.needText('file_id') }
    default:
      throw wrongField(source.at('type'), 'base64, text, url or file')
  }
}

function documentIn(block: Fields): Part {
  if (block.fields('source')?.text('type') === 'content') return blocksIn(block)
  const name = block.text('title')
  const cite = block.fields('citations')?.flag('enabled')
  const media = mediaIn(block)
  const type = media.source.kind === 'inline' ? mediaOf(media.source.mediaType) : 'document'
  return { type: 'media', media: type, ...media, ...(name && { name }), ...(cite !== undefined && { cite }) }
}

/**
 * A document whose content is a list of blocks. It has no file data to send to other services, so they receive the
 * blocks.
 */
function blocksIn(block: Fields): NativePart {
  const source = block.fields('source')
  const content = source && contentIn(source, false)
  // Other services never cite such a document. `enabled: false` asks for that, so it is not reported as dropped.
  if (block.fields('citations')?.value['enabled'] === false) block.fields('citations')?.flag('enabled')
  return spelled(block, [block.text('title'), block.text('context')], content ?? [])
}

/** A result of a search that the caller ran itself. */
function searchResultIn(block: Fields): NativePart {
  return spelled(block, [block.text('title'), block.text('source')], contentIn(block, false))
}

/** A block of a type that only Anthropic has. Other services receive `heads` as texts, followed by `content`. */
function spelled(block: Fields, heads: readonly (string | undefined)[], content: readonly Part[]): NativePart {
  block.raw('type')
  const texts = heads.flatMap((text) => (text ? [{ type: 'text', text } satisfies TextPart] : []))
  const contentParts = content.filter((part) => part.type === 'text' || part.type === 'media')
  return { type: 'native', dialect, value: block.keep(), parts: [...texts, ...contentParts] }
}

function resultIn(block: Fields): ToolResultPart {
  const isError = block.flag('is_error')
  return {
    type: 'tool-result',
    callId: block.needText('tool_use_id'),
    content: contentIn(block, false).filter(
      (part): part is TextPart | MediaPart | NativePart =>
        part.type === 'text' || part.type === 'media' || part.type === 'native',
    ),
    ...(isError !== undefined && { isError }),
    ...cacheIn(block),
    ...native(block),
  }
}
