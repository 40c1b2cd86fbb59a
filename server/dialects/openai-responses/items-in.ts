import type { JsonObject } from '../../lib/json.ts'
import type { MediaPart, Message, NativePart, Part, TextPart, ToolResultPart } from '../neutral/conversation.ts'
import { Fields, missingField, wrongField } from '../neutral/fields.ts'
import { cacheIn } from '../openai-shared/openai-request.ts'
import { sourceOf } from '../wire/media.ts'
import { attachSeals, type LooseSeal, readThought } from '../wire/thought-signature.ts'
import { citationsIn } from './annotations.ts'
import type { FlatNames } from './namespaces.ts'

const dialect = 'openai-responses'

/**
 * Reads `input`: a text, or items. Consecutive items from one side become one turn. Throws GatewayError with the path
 * of the invalid item.
 */
export function inputIn(body: Fields, names: FlatNames): { system: TextPart[]; messages: Message[] } {
  const input = body.raw('input')
  if (input === undefined) throw missingField('input')
  if (typeof input === 'string')
    return { system: [], messages: [{ role: 'user', parts: [{ type: 'text', text: input }] }] }
  if (!Array.isArray(input)) throw wrongField('input', 'text or a list of items')
  const system: TextPart[] = []
  const turns: Turn[] = []
  for (const item of body.each('input') ?? []) {
    const { role, parts, isMessage } = itemIn(item, names)
    if (role === 'system' && turns.length === 0) {
      // Parts are added one by one, because a caller may send more parts than JavaScript allows as arguments of one
      // call.
      for (const part of textsOnly(parts, item)) system.push(part)
      continue
    }
    const last = turns.at(-1)
    // Everything that the model did between two user turns is one turn. The results of parallel calls are also one
    // turn.
    const goesOn = last?.role === role && (role === 'assistant' || (!isMessage && !last.isMessage))
    if (last && goesOn) for (const part of parts) last.parts.push(part)
    else turns.push({ role, parts, isMessage })
  }
  if (turns.length === 0 && system.length === 0) throw missingField('input')
  return { system, messages: turns.map(({ role, parts }) => ({ role, parts: attachSeals(parts) })) }
}

interface Turn {
  role: Message['role']
  parts: (Part | LooseSeal)[]
  /** True if the turn began with a message item; false if it began with another item, such as the output of a tool. */
  isMessage: boolean
}

function textsOnly(parts: readonly (Part | LooseSeal)[], item: Fields): TextPart[] {
  return parts.map((part) => {
    if (part.type === 'text') return part
    throw wrongField(item.at('content'), 'text only')
  })
}

function itemIn(item: Fields, names: FlatNames): Turn {
  const type = item.text('type') ?? 'message'
  switch (type) {
    case 'message':
      return messageIn(item)
    case 'function_call':
    case 'custom_tool_call':
      return { role: 'assistant', parts: [callIn(item, names, type === 'custom_tool_call')], isMessage: false }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', parts: [resultIn(item, type === 'custom_tool_call_output')], isMessage: false }
    case 'reasoning':
      return { role: 'assistant', parts: [reasoningIn(item)], isMessage: false }
    default: {
      // The types of all results that a caller sends end in `_output` or `_response`.
      const role = /_output$|_response$/.test(type) ? 'user' : 'assistant'
      return { role, parts: [{ type: 'native', dialect, value: item.whole() }], isMessage: false }
    }
  }
}

function messageIn(item: Fields): Turn {
  const role = item.word('role', ['user', 'assistant', 'system', 'developer'])
  if (!role) throw missingField(item.at('role'))
  const content = contentIn(item, 'content')
  // The message's own fields (its id and its phase) are kept with its first text.
  const { native } = item.native(dialect)
  const parts = native ? content.map((part, index) => (index === 0 ? withNative(part, native.fields) : part)) : content
  return { role: role === 'developer' ? 'system' : role, parts, isMessage: true }
}

function withNative(part: Part, message: JsonObject): Part {
  if (part.type !== 'text') return part
  return { ...part, native: { dialect, fields: { ...part.native?.fields, message } } }
}

/** A text, or a list of parts. */
function contentIn(owner: Fields, name: string): Part[] {
  const content = owner.raw(name)
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content === undefined) throw missingField(owner.at(name))
  if (!Array.isArray(content)) throw wrongField(owner.at(name), 'text or a list of parts')
  return (content as unknown[]).map((part, index) =>
    partIn(owner.within(new Fields(part, `${owner.at(name)}[${index}]`))),
  )
}

function partIn(part: Fields): Part {
  switch (part.needText('type')) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const citations = citationsIn(part.list('annotations'))
      part.list('logprobs')
      return {
        type: 'text',
        text: part.needText('text'),
        ...(citations.length > 0 && { citations }),
        ...cacheIn(part),
        ...part.native(dialect),
      }
    }
    case 'refusal':
      return { type: 'refusal', text: part.needText('refusal') }
    case 'input_image':
      return imageIn(part)
    case 'input_file':
      return fileIn(part)
    case 'input_audio': {
      const sound = part.fields('input_audio')
      if (!sound) throw missingField(part.at('input_audio'))
      const mediaType = `audio/${sound.needText('format')}`
      const source = { kind: 'inline', data: sound.needText('data'), mediaType } as const
      return { type: 'media', media: 'audio', source, ...part.native(dialect) }
    }
    default:
      throw wrongField(part.at('type'), 'input_text, input_image, input_file, input_audio, output_text or refusal')
  }
}

function imageIn(part: Fields): MediaPart {
  const id = part.text('file_id')
  const url = part.text('image_url')
  const detail = part.text('detail')
  if (id === undefined && url === undefined) throw missingField(part.at('image_url'))
  return {
    type: 'media',
    media: 'image',
    source: id === undefined ? sourceOf(url ?? '') : { kind: 'file', id },
    ...(detail && { detail }),
    ...cacheIn(part),
    ...part.native(dialect),
  }
}

function fileIn(part: Fields): MediaPart {
  const id = part.text('file_id')
  const url = part.text('file_url')
  const data = part.text('file_data')
  const name = part.text('filename')
  if (id === undefined && url === undefined && data === undefined) throw missingField(part.at('file_data'))
  const address = url ?? (data?.startsWith('data:') ? data : `data:application/pdf;base64,${data}`)
  return {
    type: 'media',
    media: 'document',
    source: id === undefined ? sourceOf(address) : { kind: 'file', id },
    ...(name && { name }),
    ...cacheIn(part),
    ...part.native(dialect),
  }
}

function callIn(item: Fields, names: FlatNames, freeform: boolean): Part {
  return {
    type: 'tool-call',
    id: item.needText('call_id'),
    name: names.in(item),
    input: freeform ? item.needText('input') : (item.text('arguments') ?? ''),
    ...(freeform && { freeform }),
    ...item.native(dialect),
  }
}

function resultIn(item: Fields, freeform: boolean): ToolResultPart {
  const content = contentIn(item, 'output').filter(
    (part): part is TextPart | MediaPart | NativePart =>
      part.type === 'text' || part.type === 'media' || part.type === 'native',
  )
  return {
    type: 'tool-result',
    callId: item.needText('call_id'),
    content,
    ...(freeform && { freeform }),
    ...item.native(dialect),
  }
}

function reasoningIn(item: Fields): Part | LooseSeal {
  const summary = (item.each('summary') ?? []).map((each) => each.text('text') ?? '')
  const content = (item.each('content') ?? []).map((each) => each.text('text') ?? '')
  const sealed = item.text('encrypted_content')
  const thought = {
    type: 'reasoning',
    text: content.length > 0 ? content.join('') : summary.join('\n\n'),
    ...(content.length > 0 && { full: true }),
    ...item.native(dialect),
  } as const
  return sealed ? readThought(thought, sealed, dialect) : thought
}
