import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Repair, RepairOptions } from '../neutral/repair.ts'
import { ownState } from '../wire/thought-signature.ts'
import { modelTraits, unsignedCall } from './model.ts'
import { spellingIn } from './protobuf-names.ts'

const dialect = 'gemini'
const signatures = ['thoughtSignature', 'thought_signature'] as const
const calls = ['functionCall', 'function_call'] as const

/**
 * Repairs a Google request. It removes signatures made by other services. If Gemini did not sign the first call of a
 * turn, that call gets Google's placeholder, which newer Gemini models require.
 */
export function repairContents(body: JsonObject, text: string, options: RepairOptions): Repair {
  const contents = body['contents']
  const needsSigned = options.withoutThoughts === true || modelTraits(options.model).signedCalls
  const mayHold = text.includes('hought') || (needsSigned && (text.includes(calls[0]) || text.includes(calls[1])))
  if (!Array.isArray(contents) || !mayHold) return { edits: {}, dropped: [] }
  const dropped = new Set<string>()
  const remaining = (contents as unknown[]).flatMap((content) => {
    const repaired = repairContent(content, needsSigned, options.withoutThoughts === true, dropped)
    return repaired === undefined ? [] : [repaired]
  })
  const isChanged = remaining.length !== contents.length || remaining.some((content, at) => content !== contents[at])
  return { edits: isChanged ? { contents: remaining } : {}, dropped: [...dropped] }
}

function repairContent(content: unknown, needsSigned: boolean, without: boolean, dropped: Set<string>): unknown {
  if (!isObject(content) || content['role'] !== 'model' || !Array.isArray(content['parts'])) return content
  const parts = content['parts'] as unknown[]
  let isFirstCall = true
  const remaining = parts.flatMap((part) => {
    if (!isObject(part)) return [part]
    const own = withOwnSignature(part, without, dropped)
    const isCall = calls.some((name) => isObject(part[name]))
    if (!own || !isCall) return own ? [own] : []
    const isUnsigned = signatures.every((name) => own[name] === undefined)
    const signed = isFirstCall && needsSigned && isUnsigned ? { ...own, [signatures[0]]: unsignedCall } : own
    isFirstCall = false
    return [signed]
  })
  if (remaining.length === parts.length && remaining.every((part, at) => part === parts[at])) return content
  return remaining.length === 0 ? undefined : { ...content, parts: remaining }
}

/**
 * The part, either with Gemini's own signature or without one; undefined if the part is only another service's thought.
 */
function withOwnSignature(part: JsonObject, without: boolean, dropped: Set<string>): JsonObject | undefined {
  const name = spellingIn(part, 'thoughtSignature')
  const signature = part[name]
  const isThought = part['thought'] === true
  if (without && isThought) {
    dropped.add('contents.thought')
    return undefined
  }
  if (signature === undefined) return part
  const own = without && signature !== unsignedCall ? undefined : ownState(signature, dialect)
  if (own === signature) return part
  const { [name]: _signature, ...rest } = part
  if (own !== undefined) return { ...rest, [name]: own }
  if (signature === '' || signature === null) return rest
  dropped.add(isThought ? 'contents.thought' : 'contents.parts.thoughtSignature')
  const saysNothing = Object.keys(rest).every((each) => each === 'text') && !rest['text']
  return isThought || saysNothing ? undefined : rest
}
