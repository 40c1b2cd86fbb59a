import type { JsonObject } from '../../lib/json.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { MediaPart, Message, Part, Seal, ToolResultPart } from '../neutral/conversation.ts'
import { longestParsedResult } from '../neutral/request-limits.ts'
import type { DroppedFields } from '../wire/dropped-fields.ts'
import { guessedType, unusualDetail } from '../wire/media.ts'
import { inputObject, wrapFreeform } from '../wire/tool-input.ts'
import { type ModelTraits, unsignedCall } from './model.ts'

const dialect = 'gemini'

/** The context for writing the parts of a request. */
export interface PartsContext {
  readonly dropped: DroppedFields
  readonly traits: ModelTraits
  /** Maps the id of each call to its name, because a function response must name its function. */
  readonly callNames: ReadonlyMap<string, string>
}

/** Maps the id of each call in a conversation to its name. */
export function callNamesOf(messages: readonly Message[]): Map<string, string> {
  const calls = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [part] : [])))
  return new Map(calls.map(({ id, name }) => [id, name]))
}

/** The parts of a Content. Throws GatewayError for a part that Google does not accept. */
export function partsOut(parts: readonly Part[], context: PartsContext): JsonObject[] {
  let calls = 0
  return parts.flatMap((part) => {
    if (part.type === 'tool-call') calls++
    return partOut(part, context, calls === 1)
  })
}

function partOut(part: Part, context: PartsContext, isFirstCall: boolean): JsonObject[] {
  const { dropped, traits } = context
  switch (part.type) {
    case 'text':
      dropped.lose('cacheMark', part.cache)
      if (part.text === '' && part.seal?.from !== dialect) return []
      return [{ text: part.text, ...signature(part.seal), ...dropped.native(part.native) }]
    case 'media':
      return [{ ...mediaOut(part, dropped), ...signature(part.seal), ...dropped.native(part.native) }]
    case 'tool-call': {
      dropped.lose('cacheMark', part.cache)
      const args = part.freeform ? wrapFreeform(part.input) : inputObject(part.input)
      // Google signs only the first of several parallel calls. Only the first call therefore gets the placeholder if it
      // has no signature.
      const own = part.seal?.from === dialect ? signature(part.seal) : {}
      const needed = traits.signedCalls && isFirstCall ? { thoughtSignature: unsignedCall } : {}
      const native = dropped.native(part.native)
      return [{ functionCall: { ...idOut(part.id, dropped), name: part.name, args }, ...needed, ...own, ...native }]
    }
    case 'tool-result':
      return resultOut(part, context)
    case 'reasoning':
      if (part.seal && part.seal.from !== dialect) {
        dropped.lose('thought', part)
        return []
      }
      return [{ text: part.text, thought: true, ...signature(part.seal), ...dropped.native(part.native) }]
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }]
    default:
      if (part.dialect === dialect) return [part.value]
      if (part.text) return [{ text: part.text }]
      dropped.foreign(part.value, 'message')
      return []
  }
}

/**
 * In a history from a Gemini caller, calls may have no id. For these calls we assigned an id, which is not sent to
 * Google.
 */
function idOut(id: string, dropped: DroppedFields): JsonObject {
  return dropped.isForeign || !/^call_\d+$/.test(id) ? { id } : {}
}

function signature(seal: Seal | undefined): JsonObject {
  return seal?.from === dialect ? { thoughtSignature: seal.value } : {}
}

function mediaOut(part: MediaPart, dropped: DroppedFields): JsonObject {
  const { source, media } = part
  dropped.lose('cacheMark', part.cache)
  dropped.lose('cite', part.cite || undefined)
  dropped.lose('detail', unusualDetail(part))
  const name = part.name ? { displayName: part.name } : {}
  if (source.kind === 'inline') return { inlineData: { mimeType: source.mediaType, data: source.data, ...name } }
  if (source.kind === 'url')
    return { fileData: { mimeType: source.mediaType ?? guessedType(source.url, media), fileUri: source.url, ...name } }
  if (dropped.isForeign) dropped.refuse(part, 'a file stored at a service')
  // Vertex AI requires the type of a file in Google's storage.
  return { fileData: { ...(source.mediaType && { mimeType: source.mediaType }), fileUri: source.id, ...name } }
}

function resultOut(part: ToolResultPart, context: PartsContext): JsonObject[] {
  const { dropped, traits, callNames } = context
  dropped.lose('cacheMark', part.cache)
  const texts = part.content.flatMap((each) => {
    if (each.type === 'text') dropped.lose('cacheMark', each.cache)
    if (each.type === 'native' && each.text === undefined) dropped.foreign(each.value, 'message')
    return each.type === 'media' ? [] : [each.text ?? '']
  })
  const media = part.content.flatMap((each) => (each.type === 'media' ? [mediaOut(each, dropped)] : []))
  const response = {
    functionResponse: {
      ...idOut(part.callId, dropped),
      name: callNames.get(part.callId) ?? part.callId,
      response: responseOut(texts.join('\n'), part.isError ?? false),
      ...(media.length > 0 && traits.mediaInResults && { parts: media }),
      ...dropped.native(part.native),
    },
  }
  return traits.mediaInResults ? [response] : [response, ...media]
}

/**
 * A function response must be an object. A result that is an object is sent as it is. Any other result is put into the
 * field that Google uses for it.
 */
function responseOut(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text }
  const value = text.length <= longestParsedResult ? tryParse(text) : undefined
  return isObject(value) ? value : { output: text }
}
