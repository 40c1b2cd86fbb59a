import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import type { Citation, NativePart, ReasoningPart, Seal, ToolCallPart } from '../neutral/conversation.ts'
import type { Frame } from '../neutral/dialect.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { Choice, Reply, ReplyPart, Stop } from '../neutral/reply.ts'
import { readUsage, usageOf } from '../openai-shared/openai-usage.ts'
import { wholeLogprob } from '../wire/logprobs.ts'
import { addressOf, sourceOf } from '../wire/media.ts'
import { tierOut } from '../wire/service-tier.ts'
import { freeformNames, unwrapFreeform } from '../wire/tool-input.ts'
import { annotationOut, citationsIn } from './annotations.ts'
import { soundType } from './parts-in.ts'
import { detailsOut, readDetails, sealOut, thoughtOf } from './reasoning.ts'
import { stopIn, stopOut } from './stop.ts'
import { usageOut } from './usage.ts'
import type { WireAnnotation, WireCall, WireCompletion, WireLogprobs, WireMessage } from './wire.ts'

const dialect = 'openai-chat'

/** A chat completion (OpenAI API reference, "The chat completion object"). */
export function decodeReply(wire: JsonObject, idSeed: string): Reply {
  const id = looseText(wire['id'])
  const model = looseText(wire['model'])
  const usage = readUsage(usageOf(wire))
  return {
    ...(id && { id }),
    ...(model && { model }),
    ...(typeof wire['created'] === 'number' && { createdAtSeconds: looseCount(wire['created']) }),
    choices: looseList(wire['choices']).map((choice) => choiceIn(choice, id || idSeed)),
    ...(usage && { usage }),
  }
}

function choiceIn(choice: JsonObject, idSeed: string): Choice {
  const message = looseObject(choice['message'])
  const parts = withLogprobs(messageParts(message, idSeed), logprobsIn(choice))
  return { parts, stop: stopOf(choice, parts) }
}

/** The log probabilities of a choice's text, from a non-streamed response or a chunk. */
export function logprobsIn(choice: JsonObject): readonly JsonObject[] {
  return looseList(looseObject(choice['logprobs'])['content'])
}

/** Adds the log probabilities to the text part. They cover the whole text of the choice, which is a single part. */
function withLogprobs(parts: ReplyPart[], logprobs: readonly JsonObject[]): ReplyPart[] {
  const at = parts.findIndex(({ type }) => type === 'text')
  if (logprobs.length === 0) return parts
  return parts.map((part, index) => (index === at && part.type === 'text' ? { ...part, logprobs } : part))
}

/**
 * The stop reason of a choice. Some services report "stop" even if there are calls, and this dialect has no finish
 * reason for a refusal by the model.
 */
export function stopOf(choice: JsonObject, parts: readonly Pick<ReplyPart, 'type'>[]): Stop {
  const stop = stopIn(looseText(choice['finish_reason']) || 'stop')
  if (stop.reason !== 'stop') return stop
  // vLLM and SGLang report the stop sequence that was reached in these fields. A number is the id of one of the model's
  // own stop tokens.
  const sequence = looseText(choice['stop_reason']) || looseText(choice['matched_stop'])
  if (sequence !== '') return { ...stop, reason: 'stop-sequence', sequence }
  if (parts.some(({ type }) => type === 'tool-call')) return { ...stop, reason: 'tool-calls' }
  return parts.some(({ type }) => type === 'refusal') ? { ...stop, reason: 'refusal' } : stop
}

function messageParts(message: JsonObject, idSeed: string): ReplyPart[] {
  const details = readDetails(message['reasoning_details'])
  const thought = thoughtOf(message)
  const isTold = details.parts.some(({ text }) => text !== '')
  const calls = looseList(message['tool_calls']).map((call, index) =>
    callIn(call, `${idSeed}_${index}`, details.callSeals),
  )
  const old = message['function_call']
  // Some services send every field, even if it is empty.
  if (isObject(old) && looseText(old['name'])) {
    const input = looseText(old['arguments'])
    calls.push({ type: 'tool-call', id: `call_${idSeed}`, name: looseText(old['name']), input })
  }
  const refusal = looseText(message['refusal'])
  return [
    ...(thought && !isTold ? [{ type: 'reasoning', text: thought } satisfies ReasoningPart] : []),
    ...details.parts,
    ...contentParts(message['content'], citationsIn(message['annotations']), details.textSeal),
    ...(refusal ? [{ type: 'refusal', text: refusal } as const] : []),
    ...media(message),
    ...calls,
  ]
}

/** Reads the content of a message. It is a text or, in Mistral's API, a list of text and reasoning parts. */
function contentParts(content: unknown, citations: readonly Citation[], seal: Seal | undefined): ReplyPart[] {
  const rest = { ...(citations.length > 0 && { citations }), ...(seal && { seal }) }
  if (typeof content === 'string') return content === '' && !seal ? [] : [{ type: 'text', text: content, ...rest }]
  const parts = looseList(content).map((part): ReplyPart => {
    if (part['type'] === 'thinking') {
      const text = looseList(part['thinking']).map((each) => looseText(each['text']))
      return { type: 'reasoning', text: text.join('') }
    }
    if (part['type'] === 'text') return { type: 'text', text: looseText(part['text']), ...rest }
    return { type: 'native', dialect, value: part } satisfies NativePart
  })
  return parts.length === 0 && seal ? [{ type: 'text', text: '', seal }] : parts
}

function media(message: JsonObject): ReplyPart[] {
  const audio = message['audio']
  const images = looseList(message['images']).map((image): ReplyPart => {
    const source = sourceOf(looseText(looseObject(image['image_url'])['url']))
    return { type: 'media', media: 'image', source }
  })
  const transcript = looseText(looseObject(audio)['transcript'])
  if (!isObject(audio) || (looseText(audio['data']) === '' && transcript === '')) return images
  const { id, expires_at } = audio
  const sound: ReplyPart = {
    type: 'media',
    media: 'audio',
    source: {
      kind: 'inline',
      data: looseText(audio['data']),
      mediaType: soundType(looseText(audio['format']) || 'wav'),
    },
    ...(transcript && { transcript }),
    native: { dialect, fields: { id, expires_at } },
  }
  return [...images, sound]
}

/** A call in an answer. `seed` is used to create an id for a call that has none. */
function callIn(call: JsonObject, seed: string, seals: ReadonlyMap<string, Seal>): ToolCallPart {
  const id = looseText(call['id']) || `call_${seed}`
  const seal = seals.get(id) ?? googleSeal(call)
  const custom = freeformIn(call)
  if (custom) {
    return { type: 'tool-call', id, name: looseText(custom['name']), input: looseText(custom['input']), freeform: true }
  }
  const called = looseObject(call['function'])
  const input = isObject(called['arguments']) ? stringify(called['arguments']) : looseText(called['arguments'])
  return { type: 'tool-call', id, name: looseText(called['name']), input, ...(seal && { seal }) }
}

/**
 * The `custom` object of a call to a tool with free-text input. Some services send an empty one with each function
 * call.
 */
export function freeformIn(call: JsonObject): JsonObject | undefined {
  const custom = call['custom']
  return isObject(custom) && !isObject(call['function']) ? custom : undefined
}

/** The signature of a call in Google's OpenAI-compatible API. */
export function googleSeal(call: JsonObject): Seal | undefined {
  const value = looseText(looseObject(looseObject(call['extra_content'])['google'])['thought_signature'])
  return value ? { from: 'gemini', value } : undefined
}

/** A non-streamed response for a caller of OpenAI's chat. */
export function encodeReply(reply: Reply, frame: Frame): WireCompletion {
  const freeform = freeformNames(frame.request)
  return {
    id: completionId(reply.id ?? frame.id),
    object: 'chat.completion',
    created: reply.createdAtSeconds ?? frame.createdAtSeconds,
    model: reply.model ?? frame.model,
    choices: reply.choices.map((choice, index) => ({
      index,
      message: messageOut(choice.parts, freeform, frame.request.oldFunctions),
      logprobs: logprobsOut(choice.parts.flatMap((part) => (part.type === 'text' ? (part.logprobs ?? []) : []))),
      finish_reason: stopOut(choice.stop, frame.request.oldFunctions),
    })),
    ...(reply.usage && { usage: usageOut(reply.usage) }),
    ...tierOut(reply.usage),
  }
}

/** Log probabilities in the format of a choice; null if there are none. */
export function logprobsOut(logprobs: readonly JsonObject[]): WireLogprobs | null {
  return logprobs.length > 0 ? { content: logprobs.map(wholeLogprob), refusal: null } : null
}

/** The id of a response, in the format of OpenAI's ids. */
export function completionId(id: string): string {
  return id.startsWith('chatcmpl-') ? id : `chatcmpl-${id}`
}

function messageOut(parts: readonly ReplyPart[], freeform: ReadonlySet<string>, old: boolean | undefined): WireMessage {
  const text = joined(parts, 'text')
  const refusal = joined(parts, 'refusal')
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [callOut(part, freeform)] : []))
  const thought = joined(parts, 'reasoning')
  const details = detailsOf(parts)
  const annotations = annotationsOf(parts)
  return {
    role: 'assistant',
    content: parts.some(({ type }) => type === 'text') ? text : calls.length > 0 || refusal !== '' ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(thought && { reasoning_content: thought }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(annotations.length > 0 && { annotations }),
    ...mediaOut(parts),
    ...(calls.length > 0 && (old ? oldCall(calls) : { tool_calls: calls })),
  }
}

/** The function call in the format that preceded `tools`, which allows only one. */
function oldCall([first]: readonly WireCall[]): Pick<WireMessage, 'function_call'> {
  return first?.type === 'function' ? { function_call: first.function } : {}
}

function joined(parts: readonly ReplyPart[], type: 'text' | 'refusal' | 'reasoning'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('')
}

/** The call in the caller's format. If the caller's tool takes free text, the input becomes free text again. */
export function callOut(part: ToolCallPart, freeform: ReadonlySet<string>): WireCall {
  const { id, name, input, seal } = part
  if (part.freeform || freeform.has(name))
    return { id, type: 'custom', custom: { name, input: part.freeform ? input : unwrapFreeform(input) } }
  const google = seal?.from === 'gemini' ? { extra_content: { google: { thought_signature: seal.value } } } : {}
  return { id, type: 'function', function: { name, arguments: input || '{}' }, ...google }
}

/**
 * The state that a caller must send back unchanged so that the model can continue its thinking; empty if there is no
 * signature.
 */
export function detailsOf(parts: readonly ReplyPart[], first = 0): JsonObject[] {
  const isSealed = parts.some((part) => 'seal' in part && part.seal)
  if (!isSealed) return []
  return parts.flatMap((part, at): JsonObject[] => {
    const index = first + at
    if (part.type === 'reasoning') return detailsOut(part, index)
    if ((part.type === 'text' || part.type === 'tool-call') && part.seal)
      return [sealOut(part.seal, part.type === 'tool-call' ? part.id : undefined, index)]
    return []
  })
}

/** All citations, with positions relative to the whole text of the answer. */
export function annotationsOf(parts: readonly ReplyPart[]): WireAnnotation[] {
  const annotations: WireAnnotation[] = []
  let before = 0
  for (const part of parts) {
    if (part.type !== 'text') continue
    for (const citation of part.citations ?? []) {
      const annotation = annotationOut(citation, before, part.text.length)
      if (annotation) annotations.push(annotation)
    }
    before += part.text.length
  }
  return annotations
}

function mediaOut(parts: readonly ReplyPart[]): Pick<WireMessage, 'audio' | 'images'> {
  const sound = parts.find((part) => part.type === 'media' && part.media === 'audio')
  const images = parts.flatMap((part) => {
    const url = part.type === 'media' && part.media === 'image' ? addressOf(part.source) : undefined
    return url ? [{ type: 'image_url', image_url: { url } }] : []
  })
  return {
    ...(images.length > 0 && { images }),
    ...(sound?.type === 'media' &&
      sound.source.kind === 'inline' && {
        audio: {
          id: 'audio_1',
          data: sound.source.data,
          transcript: sound.transcript ?? '',
          expires_at: 0,
          ...(sound.native?.dialect === dialect && sound.native.fields),
        },
      }),
  }
}
