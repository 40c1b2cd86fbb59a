import type { JsonObject } from '../../lib/json.ts'
import type { MediaPart, MediaSource, NativePart, Part, Seal, TextPart, ToolResultPart } from '../conversation.ts'
import { type Fields, missingField } from '../fields.ts'
import { mediaOf } from '../media.ts'
import { attachSeals, type LooseSeal, readSeal, readThought } from '../seal.ts'
import { protoEach, protoMember } from './proto.ts'

const dialect = 'gemini'

/** Gives ids to calls without one, and finds the call that an answer without one belongs to. */
export class CallIds {
  #count = 0
  readonly #open: { name: string; id: string }[] = []

  call(name: string, given: string | undefined): string {
    const id = given ?? `call_${++this.#count}`
    this.#open.push({ name, id })
    return id
  }

  /** The oldest call of that name that has no answer. */
  result(name: string, given: string | undefined): string {
    const at = this.#open.findIndex((call) => (given === undefined ? call.name === name : call.id === given))
    const [call] = at >= 0 ? this.#open.splice(at, 1) : []
    return call?.id ?? given ?? `call_${++this.#count}`
  }
}

/** The parts of a Content. Throws GatewayError with the place of a part at fault. */
export function partsIn(content: Fields, ids: CallIds): Part[] {
  return attachSeals((protoEach(content, 'parts') ?? []).map((part) => partIn(part, ids)))
}

function partIn(part: Fields, ids: CallIds): Part | LooseSeal {
  const signature = part.text('thoughtSignature')
  const seal = signature === undefined ? {} : { seal: readSeal(signature, dialect) }
  const text = part.text('text')
  if (text !== undefined) return textIn(part, text, signature, seal)
  const inline = protoMember(part, 'inlineData')
  const file = protoMember(part, 'fileData')
  if (inline || file) return mediaIn(part, inline, file, seal)
  const call = protoMember(part, 'functionCall')
  if (call) {
    const name = call.needText('name')
    return {
      type: 'tool-call',
      id: ids.call(name, call.text('id')),
      name,
      input: JSON.stringify(call.object('args') ?? {}),
      ...seal,
      ...part.native(dialect),
    }
  }
  const response = protoMember(part, 'functionResponse')
  if (response) return resultIn(part, response, ids)
  if (signature !== undefined && Object.keys(part.value).length === 1) return { type: 'text', text: '', ...seal }
  return { type: 'native', dialect, value: part.value, ...codeText(part) }
}

function textIn(part: Fields, text: string, signature: string | undefined, seal: { seal?: Seal }): Part | LooseSeal {
  if (part.flag('thought')) {
    const thought = { type: 'reasoning', text, ...part.native(dialect) } as const
    return signature === undefined ? thought : readThought(thought, signature, dialect)
  }
  return { type: 'text', text, ...seal, ...part.native(dialect) }
}

function mediaIn(part: Fields, inline: Fields | undefined, file: Fields | undefined, seal: { seal?: Seal }): MediaPart {
  const owner = inline ?? file
  const mediaType = owner?.text('mimeType') ?? ''
  const name = owner?.text('displayName')
  part.raw('inlineData')
  part.raw('fileData')
  return {
    type: 'media',
    media: mediaOf(mediaType),
    source: sourceIn(inline, file, mediaType),
    ...(name && { name }),
    ...seal,
    ...part.native(dialect),
  }
}

function sourceIn(inline: Fields | undefined, file: Fields | undefined, mediaType: string): MediaSource {
  if (inline)
    return { kind: 'inline', data: inline.needText('data'), mediaType: mediaType || 'application/octet-stream' }
  const uri = file?.needText('fileUri') ?? ''
  // Files of Google's own store have addresses that only Google can open.
  const isOwn = /^(?:gs:|https:\/\/generativelanguage\.googleapis\.com\/)/.test(uri)
  return isOwn ? { kind: 'file', id: uri } : { kind: 'url', url: uri, ...(mediaType && { mediaType }) }
}

function resultIn(part: Fields, response: Fields, ids: CallIds): ToolResultPart {
  const name = response.needText('name')
  const value = response.object('response')
  if (value === undefined) throw missingField(response.at('response'))
  const media = (protoEach(response, 'parts') ?? []).map((each) =>
    mediaIn(each, protoMember(each, 'inlineData'), protoMember(each, 'fileData'), {}),
  )
  const { text, isError } = resultText(value)
  const callId = ids.result(name, response.text('id'))
  part.raw('functionResponse')
  return {
    type: 'tool-result',
    callId,
    content: [{ type: 'text', text } satisfies TextPart, ...media],
    ...(isError && { isError }),
    ...response.native(dialect),
  }
}

/** `output` and `error` are Google's names for what a function gave (Gemini API, "FunctionResponse"). */
function resultText(value: JsonObject): { text: string; isError: boolean } {
  const names = Object.keys(value)
  const only = names.length === 1 ? value[names[0] ?? ''] : undefined
  if (names[0] === 'output' && typeof only === 'string') return { text: only, isError: false }
  if (names[0] === 'error' && names.length === 1)
    return { text: typeof only === 'string' ? only : JSON.stringify(only), isError: true }
  return { text: JSON.stringify(value), isError: false }
}

/** Code that Google ran, and what it printed, for dialects that show neither. */
function codeText(part: Fields): Pick<NativePart, 'text'> {
  const code = protoMember(part, 'executableCode')?.text('code')
  const output = protoMember(part, 'codeExecutionResult')?.text('output')
  const text = code ?? output
  return text ? { text: `\n\`\`\`\n${text}\n\`\`\`\n` } : {}
}
