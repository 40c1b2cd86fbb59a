import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import type { Citation, Part, Seal, ToolCallPart } from '../neutral/conversation.ts'
import type { Frame } from '../neutral/dialect.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { Choice, Reply, ReplyPart, Stop } from '../neutral/reply.ts'
import { mediaOf } from '../wire/media.ts'
import { readSeal, writeSeal } from '../wire/thought-signature.ts'
import { inputObject } from '../wire/tool-input.ts'
import { citationsIn, groundingOut, withinPart } from './grounding.ts'
import { logprobsIn, logprobsOut } from './logprobs.ts'
import { unsignedCall } from './model.ts'
import { blockedStop, stopIn, stopOut } from './stop.ts'
import { usageIn, usageOut } from './usage.ts'
import type { WireAnswer, WireCandidate } from './wire.ts'

const dialect = 'gemini'

/** A GenerateContentResponse (Gemini API reference). Calls without an id get one derived from `idSeed`. */
export function decodeReply(wire: JsonObject, idSeed: string): Reply {
  const id = looseText(wire['responseId'])
  const model = looseText(wire['modelVersion'])
  const usage = usageIn(wire['usageMetadata'])
  const created = createdIn(wire['createTime'])
  const blocked = blockedIn(wire)
  const choices = looseList(wire['candidates']).map((candidate, index) =>
    choiceIn(candidate, `${id || idSeed}_${index}`),
  )
  return {
    ...(id && { id }),
    ...(model && { model }),
    ...(created !== undefined && { createdAtSeconds: created }),
    choices: choices.length === 0 && blocked ? [{ parts: [], stop: blocked }] : choices,
    ...(usage && { usage }),
  }
}

/** The reason why the prompt was refused; undefined if it was not refused. */
export function blockedIn(wire: JsonObject): Stop | undefined {
  const feedback = looseObject(wire['promptFeedback'])
  const reason = looseText(feedback['blockReason'])
  return reason ? blockedStop(reason, looseText(feedback['blockReasonMessage'])) : undefined
}

/** `createTime` in seconds since 1970. */
export function createdIn(time: unknown): number | undefined {
  const ms = Date.parse(looseText(time))
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}

function choiceIn(candidate: JsonObject, idSeed: string): Choice {
  const parts: ReplyPart[] = []
  for (const part of looseList(looseObject(candidate['content'])['parts'])) {
    const read = replyPartIn(part, `call_${idSeed}_${parts.length}`)
    const last = parts.at(-1)
    if (read.type !== 'text' || read.text !== '') parts.push(read)
    // Google ends some answers with an empty text, which may contain the signature of the preceding text.
    else if (read.seal && last?.type === 'text' && !last.seal) parts.splice(-1, 1, { ...last, seal: read.seal })
    else if (read.seal) parts.push(read)
  }
  cite(parts, candidate)
  tellLogprobs(parts, logprobsIn(candidate))
  const hasCalls = parts.some(({ type }) => type === 'tool-call')
  return { parts, stop: stopIn(looseText(candidate['finishReason']), looseText(candidate['finishMessage']), hasCalls) }
}

/** Log probabilities refer to the whole text of a candidate. They are added to its first text part. */
function tellLogprobs(parts: ReplyPart[], logprobs: readonly JsonObject[]): void {
  const at = parts.findIndex(({ type }) => type === 'text')
  const part = parts[at]
  if (logprobs.length > 0 && part?.type === 'text') parts[at] = { ...part, logprobs }
}

/** Google's offsets refer to the whole text of a candidate. A citation belongs to the part in which it begins. */
function cite(parts: ReplyPart[], candidate: JsonObject): void {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const all = citationsIn(candidate, text)
  if (all.length === 0) return
  const starts = [...new Set(all.map(({ start = 0 }) => start))].sort((a, b) => a - b)
  const owners = new Map<number, number>()
  const begins = new Map<number, number>()
  let before = 0
  let next = 0
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'text') continue
    begins.set(index, before)
    before += part.text.length
    for (let start = starts[next]; start !== undefined && start < before; start = starts[++next])
      owners.set(start, index)
  }
  const cited = Map.groupBy(all, ({ start = 0 }) => owners.get(start))
  for (const [index = -1, citations] of cited) {
    const part = parts[index]
    if (part?.type !== 'text') continue
    const begin = begins.get(index) ?? 0
    parts[index] = { ...part, citations: citations.map((each) => withinPart(each, begin, part.text.length)) }
  }
}

/** One part of an answer. `id` is used for a call that has no id. */
export function replyPartIn(part: JsonObject, id: string): ReplyPart {
  const signature = looseText(part['thoughtSignature'])
  // Google's placeholder for a missing signature is not kept as a signature.
  const seal = signature && signature !== unsignedCall ? { seal: readSeal(signature, dialect) } : {}
  if (typeof part['text'] === 'string') {
    const { text } = part
    if (part['thought'] === true) return { type: 'reasoning', text, ...seal }
    return { type: 'text', text, ...seal }
  }
  const inline = part['inlineData']
  if (isObject(inline)) {
    const mediaType = looseText(inline['mimeType'])
    const source = { kind: 'inline', data: looseText(inline['data']), mediaType } as const
    return { type: 'media', media: mediaOf(mediaType), source, ...seal }
  }
  const call = part['functionCall']
  if (isObject(call)) {
    const input = stringify(isObject(call['args']) ? call['args'] : {})
    return { type: 'tool-call', id: looseText(call['id']) || id, name: looseText(call['name']), input, ...seal }
  }
  return { type: 'native', dialect, value: part }
}

/** A non-streamed response for a Gemini caller. */
export function encodeReply(reply: Reply, frame: Frame): WireAnswer {
  return {
    candidates: reply.choices.map((choice, index): WireCandidate => {
      const text = choice.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const grounding = groundingOut(citationsOf(choice.parts), text)
      return {
        content: { role: 'model', parts: markedCalls(choice.parts).flatMap(replyPartOut) },
        finishReason: stopOut(choice.stop),
        ...finishMessage(choice.stop),
        index,
        ...logprobsOut(choice.parts.flatMap((part) => (part.type === 'text' ? (part.logprobs ?? []) : []))),
        ...(grounding && { groundingMetadata: grounding }),
      }
    }),
    ...(reply.usage && { usageMetadata: usageOut(reply.usage) }),
    ...answerNames(frame, reply.id, reply.model),
  }
}

/** Google's own explanation of its finish reason, as a field to spread. */
export function finishMessage({ raw }: Stop): Pick<WireCandidate, 'finishMessage'> {
  return raw?.dialect === dialect && raw.message ? { finishMessage: raw.message } : {}
}

export type AnswerNames = Pick<WireAnswer, 'modelVersion' | 'responseId'>

/** The fields that identify an answer and its model. */
export function answerNames(frame: Frame, id?: string, model?: string): AnswerNames {
  return { modelVersion: model ?? frame.model, responseId: id ?? frame.id }
}

/** The citations of all parts, with ranges that refer to the whole text of the answer. */
function citationsOf(parts: readonly ReplyPart[]): Citation[] {
  const out: Citation[] = []
  let before = 0
  for (const part of parts) {
    if (part.type !== 'text') continue
    for (const citation of part.citations ?? []) {
      const { start = 0, end = part.text.length } = citation
      out.push({ ...citation, start: before + start, end: before + end })
    }
    before += part.text.length
  }
  return out
}

/**
 * The parts, with Google's placeholder added to the first call if it has no signature. Gemini client programs do not
 * send the first call back if it has neither a signature nor the placeholder.
 */
function markedCalls(parts: readonly ReplyPart[]): ReplyPart[] {
  const first = parts.findIndex(({ type }) => type === 'tool-call')
  return parts.map((part, at) => (at === first && part.type === 'tool-call' ? marked(part) : part))
}

/** A call with a signature or the placeholder. */
export function marked(call: ToolCallPart): ToolCallPart {
  return { ...call, seal: call.seal ?? { from: dialect, value: unsignedCall } }
}

/** The wire parts of one part; empty if the dialect cannot express it. */
export function replyPartOut(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' && !part.seal ? [] : [{ text: part.text, ...signature(part.seal) }]
    case 'reasoning':
      return [{ text: part.text, thought: true, ...signature(part.seal, part.redacted ? 'hidden' : 'thought') }]
    case 'tool-call': {
      const args = inputObject(part.input)
      return [{ functionCall: { id: part.id, name: part.name, args }, ...signature(part.seal) }]
    }
    case 'media':
      if (part.source.kind !== 'inline') return []
      return [{ inlineData: { mimeType: part.source.mediaType, data: part.source.data }, ...signature(part.seal) }]
    case 'refusal':
      return [{ text: part.text }]
    case 'native':
      return part.dialect === dialect ? [part.value] : []
    default:
      return []
  }
}

function signature(seal: Seal | undefined, owner?: 'thought' | 'hidden'): JsonObject {
  return seal && seal.value !== '' ? { thoughtSignature: writeSeal(seal, dialect, owner) } : {}
}
