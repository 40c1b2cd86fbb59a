import type { JsonObject } from '../../lib/json.ts'
import type {
  CacheMark,
  MediaPart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from '../neutral/conversation.ts'
import type { DroppedFields } from '../wire/dropped-fields.ts'
import { inputObject, wrapFreeform } from '../wire/tool-input.ts'
import type { ModelTraits } from './model.ts'

/** The context for writing the blocks of a request. */
export interface BlockContext {
  readonly dropped: DroppedFields
  readonly traits: ModelTraits
}

/** Parts as ContentBlocks (Bedrock API reference). Throws GatewayError for a part that no block can express. */
export function blocksOut(parts: readonly Part[], context: BlockContext): JsonObject[] {
  const results = parts.filter(({ type }) => type === 'tool-result')
  // Results must come first in a turn, or the service does not find them.
  return [...results, ...parts.filter(({ type }) => type !== 'tool-result')].flatMap((part) => blockOut(part, context))
}

function blockOut(part: Part, context: BlockContext): JsonObject[] {
  const { dropped } = context
  switch (part.type) {
    case 'text':
      // The service refuses text that is only white space.
      return part.text.trim() === '' ? [] : [{ text: part.text }, ...cacheOut(part.cache, context)]
    case 'media':
      return [mediaOut(part, dropped), ...cacheOut(part.cache, context)]
    case 'tool-call':
      return [callOut(part), ...cacheOut(part.cache, context)]
    case 'tool-result':
      return [resultOut(part, context), ...cacheOut(part.cache, context)]
    case 'reasoning':
      return thoughtOut(part, context)
    case 'refusal':
      return part.text.trim() === '' ? [] : [{ text: part.text }]
    default:
      if (part.text?.trim()) return [{ text: part.text }]
      dropped.foreign(part.value, 'message')
      return []
  }
}

/** A cache breakpoint as a separate block after the content that it covers. Only some models support it. */
export function cacheOut(mark: CacheMark | undefined, { traits, dropped }: BlockContext): JsonObject[] {
  if (!mark) return []
  if (traits.caches) return [{ cachePoint: { type: 'default', ...(mark.ttl === '1h' && { ttl: '1h' }) } }]
  dropped.lose('cacheMark', mark)
  return []
}

function callOut(part: ToolCallPart): JsonObject {
  const input = part.freeform ? wrapFreeform(part.input) : inputObject(part.input)
  return { toolUse: { toolUseId: part.id, name: part.name, input } }
}

function resultOut(part: ToolResultPart, { dropped, traits }: BlockContext): JsonObject {
  const content = part.content.flatMap((each): JsonObject[] => {
    if (each.type === 'media') return [mediaOut(each, dropped)]
    return each.text ? [{ text: each.text }] : []
  })
  return {
    toolResult: {
      toolUseId: part.callId,
      content: content.length > 0 ? content : [{ text: '(no output)' }],
      ...(part.isError && traits.resultStatus && { status: 'error' }),
    },
  }
}

/** Only Claude accepts its earlier reasoning as input. Other models refuse reasoning in the history. */
function thoughtOut(part: ReasoningPart, { dropped, traits }: BlockContext): JsonObject[] {
  if (!traits.isClaude || part.seal?.from !== 'anthropic-messages') {
    dropped.lose('thought', part)
    return []
  }
  const { text, seal } = part
  if (part.redacted) return [{ reasoningContent: { redactedContent: seal.value } }]
  return [{ reasoningContent: { reasoningText: { text, signature: seal.value } } }]
}

const formats: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/markdown': 'md',
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/3gpp': 'three_gp',
  'image/jpg': 'jpeg',
}

function mediaOut(part: MediaPart, dropped: DroppedFields): JsonObject {
  const { media, source } = part
  if (source.kind === 'file') dropped.refuse(part, 'a file stored at a service')
  if (source.kind === 'url') {
    if (!source.url.startsWith('s3://')) dropped.refuse(part, `${media} by URL`)
    return mediaBlock(part, formatOf(source.mediaType ?? '', media), { s3Location: { uri: source.url } })
  }
  return mediaBlock(part, formatOf(source.mediaType, media), { bytes: source.data })
}

function mediaBlock(part: MediaPart, format: string, source: JsonObject): JsonObject {
  if (part.media !== 'document') return { [part.media]: { format, source } }
  const name = documentName(part.name)
  return { document: { format, name, source, ...(part.cite && { citations: { enabled: true } }) } }
}

function formatOf(mediaType: string, media: MediaPart['media']): string {
  const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? ''
  const known = formats[type]
  if (known) return known
  if (media !== 'document') return type.slice(type.indexOf('/') + 1) || 'png'
  return 'txt'
}

/** A document name may contain only letters, digits, single spaces and a few other characters. */
function documentName(name: string | undefined): string {
  const plain = (name ?? '')
    .replace(/\.[a-z0-9]+$/i, '')
    .replace(/[^A-Za-z0-9\s()[\]-]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.slice(0, 200) || 'document'
}
