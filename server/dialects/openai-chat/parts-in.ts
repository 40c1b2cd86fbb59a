import { isObject } from '../../lib/json.ts'
import type { MediaPart, Part, ReasoningPart, RefusalPart, TextPart, ToolCallPart } from '../neutral/conversation.ts'
import { Fields, missingField, wrongField } from '../neutral/fields.ts'
import { cacheIn } from '../openai-shared/openai-request.ts'
import { sourceOf } from '../wire/media.ts'
import { citationsIn } from './annotations.ts'
import { detailsIn } from './reasoning.ts'

const dialect = 'openai-chat'

/** The `content` of a message: text or parts. Throws GatewayError with the path of the invalid part. */
export function contentIn(message: Fields): Part[] {
  const content = message.raw('content')
  if (content === undefined || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw wrongField(message.at('content'), 'text or a list of parts')
  return (content as unknown[]).map((part, index) => {
    const path = `${message.at('content')}[${index}]`
    return typeof part === 'string' ? { type: 'text', text: part } : partIn(message.within(new Fields(part, path)))
  })
}

function partIn(part: Fields): Part {
  const type = part.needText('type')
  switch (type) {
    case 'text':
      return { type: 'text', text: part.needText('text'), ...cacheIn(part), ...part.native(dialect) }
    case 'refusal':
      return { type: 'refusal', text: part.needText('refusal') }
    case 'image_url':
      return imageIn(part)
    case 'input_audio': {
      const sound = need(part, 'input_audio')
      const format = sound.needText('format')
      const source = { kind: 'inline', data: sound.needText('data'), mediaType: soundType(format) } as const
      return { type: 'media', media: 'audio', source, ...cacheIn(part), ...part.native(dialect) }
    }
    case 'file':
      return fileIn(part)
    // OpenAI does not have these kinds of parts, but other services do.
    case 'video_url':
    case 'file_url': {
      const url = part.raw(type)
      const address = isObject(url) ? need(part, type).needText('url') : part.needText(type)
      const media = type === 'video_url' ? 'video' : 'document'
      return { type: 'media', media, source: sourceOf(address), ...part.native(dialect) }
    }
    // Mistral's models return their reasoning as part of the content.
    case 'thinking':
      return thinkingIn(part)
    default:
      throw wrongField(part.at('type'), 'text, image_url, input_audio, file, video_url, refusal or thinking')
  }
}

function need(part: Fields, name: string): Fields {
  const inner = part.fields(name)
  if (!inner) throw missingField(part.at(name))
  return inner
}

function imageIn(part: Fields): MediaPart {
  // Many services also accept the URL itself in place of the object.
  const bare = part.raw('image_url')
  const image = typeof bare === 'string' ? undefined : need(part, 'image_url')
  const detail = image?.text('detail')
  const address = typeof bare === 'string' ? bare : (image?.needText('url') ?? '')
  return {
    type: 'media',
    media: 'image',
    source: sourceOf(address),
    ...(detail && { detail }),
    ...cacheIn(part),
    ...part.native(dialect),
  }
}

function fileIn(part: Fields): MediaPart {
  const file = need(part, 'file')
  const id = file.text('file_id')
  const data = file.text('file_data')
  const name = file.text('filename')
  if (id === undefined && data === undefined) throw missingField(file.at('file_data'))
  return {
    type: 'media',
    media: 'document',
    // Data without a media type is treated as a PDF, because OpenAI's chat at first accepted only PDF files.
    source: id !== undefined ? { kind: 'file', id } : fileSource(data ?? ''),
    ...(name && { name }),
    ...cacheIn(part),
    ...part.native(dialect),
  }
}

function fileSource(data: string): MediaPart['source'] {
  if (/^(?:data:|https?:\/\/)/.test(data)) return sourceOf(data, 'application/pdf')
  return { kind: 'inline', data, mediaType: 'application/pdf' }
}

function thinkingIn(part: Fields): ReasoningPart {
  const thinking = part.raw('thinking')
  if (typeof thinking === 'string') return { type: 'reasoning', text: thinking }
  const texts = (part.each('thinking') ?? []).map((each) => each.text('text') ?? '')
  return { type: 'reasoning', text: texts.join('') }
}

/** The media type for the name of an audio format. */
export function soundType(format: string): string {
  if (format.includes('/')) return format
  return { mp3: 'audio/mpeg', pcm16: 'audio/pcm', m4a: 'audio/mp4' }[format] ?? `audio/${format}`
}

/** All parts of an assistant message in the order in which a model produces them: reasoning, text, calls. */
export function assistantParts(message: Fields, callId: () => string): Part[] {
  const refusal = message.text('refusal')
  const details = detailsIn(message)
  const calls = (message.each('tool_calls') ?? []).map((call) => callIn(call, details.callSeals))
  const old = message.fields('function_call')
  const content = contentIn(message)
  const citations = citationsIn(message.list('annotations'))
  const parts: Part[] = [
    ...details.parts,
    ...content.map((part) => (part.type === 'text' && citations.length > 0 ? { ...part, citations } : part)),
    ...(refusal ? [{ type: 'refusal', text: refusal } satisfies RefusalPart] : []),
    ...calls,
  ]
  if (old)
    parts.push({ type: 'tool-call', id: callId(), name: old.needText('name'), input: old.text('arguments') ?? '' })
  return details.textSeal ? sealText(parts, details.textSeal) : parts
}

function sealText(parts: readonly Part[], seal: NonNullable<TextPart['seal']>): Part[] {
  const at = parts.findLastIndex(({ type }) => type === 'text')
  if (at < 0) return [...parts, { type: 'text', text: '', seal }]
  return parts.map((part, index) => (index === at && part.type === 'text' ? { ...part, seal } : part))
}

function callIn(call: Fields, seals: ReadonlyMap<string, TextPart['seal']>): ToolCallPart {
  const id = call.needText('id')
  const type = call.text('type')
  const seal = seals.get(id) ?? googleSeal(call)
  call.raw('index')
  if (type === 'custom') {
    const custom = need(call, 'custom')
    const input = custom.text('input') ?? ''
    return { type: 'tool-call', id, name: custom.needText('name'), input, freeform: true, ...call.native(dialect) }
  }
  const called = need(call, 'function')
  return {
    type: 'tool-call',
    id,
    name: called.needText('name'),
    input: called.text('arguments') ?? '',
    ...(seal && { seal }),
    ...cacheIn(call),
    ...call.native(dialect),
  }
}

/** The signature of a call in Google's OpenAI-compatible API (Gemini API, "Thought signatures"). */
function googleSeal(call: Fields): TextPart['seal'] {
  const value = call.fields('extra_content')?.fields('google')?.text('thought_signature')
  return value === undefined ? undefined : { from: 'gemini', value }
}
