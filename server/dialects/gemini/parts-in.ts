import type { JsonObject } from '../../lib/json.ts'
import type {
  MediaPart,
  MediaSource,
  NativePart,
  Part,
  Seal,
  TextPart,
  ToolResultPart,
} from '../neutral/conversation.ts'
import { type Fields, missingField } from '../neutral/fields.ts'
import { mediaOf } from '../wire/media.ts'
import { attachSeals, type LooseSeal, readSeal, readThought } from '../wire/thought-signature.ts'
import { unsignedCall } from './model.ts'
import { protoEach, protoMember } from './protobuf-names.ts'

const dialect = 'gemini'

/** Gives an id to every call without one, and finds the call for a result without an id. */
export class CallIds {
  #count = 0
  /**
   * For each function name, the ids of its calls, oldest first. `passed` is the number of these calls that `result` has
   * already assigned to a result or skipped. It never looks at them again, so a request with very many calls is not
   * slow.
   */
  readonly #calls = new Map<string, { ids: string[]; passed: number }>()
  /** For each id, the number of calls that have no result. */
  readonly #open = new Map<string, number>()
  /**
   * For each id, the number of results that were sent with that id and whose call is not yet among the `passed` ones.
   */
  readonly #answered = new Map<string, number>()

  call(name: string, wireId: string | undefined): string {
    const id = wireId ?? `call_${++this.#count}`
    const named = this.#calls.get(name)
    if (named) named.ids.push(id)
    else this.#calls.set(name, { ids: [id], passed: 0 })
    addTo(this.#open, id, 1)
    return id
  }

  /** Returns the given id. If there is none, returns the id of the oldest call of that function that has no result. */
  result(name: string, wireId: string | undefined): string {
    if (wireId !== undefined) {
      if (addTo(this.#open, wireId, -1)) addTo(this.#answered, wireId, 1)
      return wireId
    }
    const named = this.#calls.get(name)
    while (named && named.passed < named.ids.length) {
      const id = named.ids[named.passed++] as string
      if (addTo(this.#answered, id, -1)) continue
      addTo(this.#open, id, -1)
      return id
    }
    return `call_${++this.#count}`
  }
}

/** Adds to a count. If the count would fall below 0, it is left unchanged and the result is false. */
function addTo(counts: Map<string, number>, id: string, by: number): boolean {
  const count = (counts.get(id) ?? 0) + by
  if (count < 0) return false
  counts.set(id, count)
  return true
}

/** The parts of a Content. Throws GatewayError with the path of the invalid part. */
export function partsIn(content: Fields, ids: CallIds): Part[] {
  return attachSeals((protoEach(content, 'parts') ?? []).map((part) => partIn(part, ids)))
}

function partIn(part: Fields, ids: CallIds): Part | LooseSeal {
  const signature = part.text('thoughtSignature')
  // Google's placeholder for a missing signature is not kept as a signature.
  const seal = signature === undefined || signature === unsignedCall ? {} : { seal: readSeal(signature, dialect) }
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
  const code = codeText(part)
  return { type: 'native', dialect, value: part.whole(), ...code }
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
  // Files in Google's own storage have URLs that only Google can open.
  const isOwn = /^(?:gs:|https:\/\/generativelanguage\.googleapis\.com\/)/.test(uri)
  const type = mediaType === '' ? {} : { mediaType }
  return isOwn ? { kind: 'file', id: uri, ...type } : { kind: 'url', url: uri, ...type }
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

/** `output` and `error` are Google's names for a function's result (Gemini API, "FunctionResponse"). */
function resultText(value: JsonObject): { text: string; isError: boolean } {
  const names = Object.keys(value)
  const only = names.length === 1 ? value[names[0] ?? ''] : undefined
  if (names[0] === 'output' && typeof only === 'string') return { text: only, isError: false }
  if (names[0] === 'error' && names.length === 1)
    return { text: typeof only === 'string' ? only : JSON.stringify(only), isError: true }
  return { text: JSON.stringify(value), isError: false }
}

/** The text of code that Google ran, or of its output, for dialects that support neither. */
function codeText(part: Fields): Pick<NativePart, 'text'> {
  const code = protoMember(part, 'executableCode')?.text('code')
  const output = protoMember(part, 'codeExecutionResult')?.text('output')
  const text = code ?? output
  return text ? { text: `\n\`\`\`\n${text}\n\`\`\`\n` } : {}
}
