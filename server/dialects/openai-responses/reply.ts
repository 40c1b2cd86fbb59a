import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, Part, ReasoningPart, Seal, TextPart } from '../neutral/conversation.ts'
import type { Frame } from '../neutral/dialect.ts'
import { looseCount, looseList, looseText } from '../neutral/fields.ts'
import type { Failure, Reply, ReplyPart } from '../neutral/reply.ts'
import { readUsage, usageOf } from '../openai-shared/openai-usage.ts'
import { wholeLogprob } from '../wire/logprobs.ts'
import { readSeal, writeSeal } from '../wire/thought-signature.ts'
import { freeformNames, unwrapFreeform } from '../wire/tool-input.ts'
import { annotationsOut, citationsIn } from './annotations.ts'
import { type Namespaces, namespacesOf, spaceOut } from './namespaces.ts'
import { finished, skeleton } from './skeleton.ts'
import { stopIn, stopOut } from './stop.ts'
import type {
  WireCall,
  WireContent,
  WireImage,
  WireMessage,
  WireReasoning,
  WireRefusal,
  WireResponse,
  WireText,
} from './wire.ts'

const dialect = 'openai-responses'

/**
 * A response object (OpenAI API reference, "The response object"). A response without output, or one whose output has
 * not been generated yet, has no choices.
 */
export function decodeReply(wire: JsonObject): Reply {
  const id = looseText(wire['id'])
  const model = looseText(wire['model'])
  const usage = readUsage(usageOf(wire))
  const parts = looseList(wire['output']).flatMap(outputIn)
  return {
    ...(id && { id }),
    ...(model && { model }),
    ...(typeof wire['created_at'] === 'number' && { createdAtSeconds: looseCount(Math.floor(wire['created_at'])) }),
    choices: Array.isArray(wire['output']) && !isToCome(wire, parts) ? [{ parts, stop: stopIn(wire, parts) }] : [],
    ...(usage && { usage }),
  }
}

/** True if the service has only accepted the request and is still working on it. */
function isToCome({ status }: JsonObject, parts: readonly ReplyPart[]): boolean {
  return parts.length === 0 && (status === 'queued' || status === 'in_progress')
}

/** The parts of one output item. */
export function outputIn(item: JsonObject): ReplyPart[] {
  switch (item['type']) {
    case 'message':
      return looseList(item['content']).map((content) => inPhase(contentIn(content), item['phase']))
    case 'function_call':
    case 'custom_tool_call':
      return [callIn(item)]
    case 'reasoning':
      return [reasoningIn(item)]
    case 'image_generation_call': {
      const data = looseText(item['result'])
      const mediaType = `image/${looseText(item['output_format']) || 'png'}`
      if (data === '') return []
      return [{ type: 'media', media: 'image', source: { kind: 'inline', data, mediaType } }]
    }
    default:
      return [{ type: 'native', dialect, value: item }]
  }
}

/** A text with the phase of its message. */
function inPhase(part: ReplyPart, phase: unknown): ReplyPart {
  if (part.type !== 'text' || typeof phase !== 'string') return part
  return { ...part, native: { dialect, fields: { phase } } }
}

/** A part of a message. */
export function contentIn(content: JsonObject): ReplyPart {
  if (content['type'] === 'refusal') return { type: 'refusal', text: looseText(content['refusal']) }
  const citations = citationsIn(content['annotations'])
  const logprobs = looseList(content['logprobs'])
  return {
    type: 'text',
    text: looseText(content['text']),
    ...(citations.length > 0 && { citations }),
    ...(logprobs.length > 0 && { logprobs }),
  }
}

/** A call. Its input may still follow. */
export function callIn(item: JsonObject): ReplyPart & { type: 'tool-call' } {
  const isFreeform = item['type'] === 'custom_tool_call'
  return {
    type: 'tool-call',
    id: looseText(item['call_id']) || looseText(item['id']),
    name: looseText(item['name']),
    input: looseText(item[isFreeform ? 'input' : 'arguments']),
    ...(isFreeform && { freeform: true }),
  }
}

/** A reasoning part. */
function reasoningIn(item: JsonObject): ReasoningPart {
  const content = looseList(item['content']).map((each) => looseText(each['text']))
  const summary = looseList(item['summary']).map((each) => looseText(each['text']))
  const sealed = looseText(item['encrypted_content'])
  return {
    type: 'reasoning',
    text: content.length > 0 ? content.join('') : summary.join('\n\n'),
    ...(content.length > 0 && { full: true }),
    ...(sealed && { seal: readSeal(sealed, dialect) }),
  }
}

/**
 * A non-streamed response for a caller of the Responses API. It contains only the first choice, because the dialect
 * allows only one.
 */
export function encodeReply(reply: Reply, frame: Frame): WireResponse {
  const [choice] = reply.choices
  const freeform = freeformNames(frame.request)
  const names = new ItemNames(frame)
  const output = (choice?.parts ?? []).flatMap((part) => itemsOf(part, names, freeform))
  const response = { ...skeleton(frame, reply.id, reply.model, reply.createdAtSeconds), output }
  return finished(response, stopOut(choice?.stop ?? { reason: 'stop' }), reply, frame)
}

/** Gives every item of an answer a unique id. */
export class ItemNames {
  /** True if all reasoning gets an encrypted form, regardless of the service that produced it. */
  readonly sealsThoughts: boolean
  readonly #id: string
  readonly #spaces: Namespaces
  #count = 0

  constructor({ id, request }: Frame) {
    this.#id = id
    this.sealsThoughts = wantsSealed(request)
    this.#spaces = namespacesOf(request.tools)
  }

  /** The namespace of a tool, found by the tool's flat name. */
  space(name: string): ReturnType<Namespaces['get']> {
    return this.#spaces.get(name)
  }

  next(prefix: 'msg' | 'fc' | 'ctc' | 'rs' | 'ig'): string {
    return `${prefix}_${this.#id}_${this.#count++}`
  }
}

/** The items of one part; empty if the dialect cannot express the part. */
export function itemsOf(part: Part, names: ItemNames, freeform: ReadonlySet<string>): JsonObject[] {
  switch (part.type) {
    case 'text':
      if (part.text === '') return sealItems(part.seal, names, 'before')
      return [...sealItems(part.seal, names), messageItem(names.next('msg'), textContent(part), phaseOf(part))]
    case 'refusal':
      return [messageItem(names.next('msg'), refusalContent(part.text))]
    case 'reasoning':
      return [thoughtItem(part, names.next('rs'), names.sealsThoughts)]
    case 'tool-call':
      return [...sealItems(part.seal, names), replyCall(part, names, freeform)]
    case 'media':
      return mediaItems(part, names)
    case 'native':
      return part.dialect === dialect ? [part.value] : []
    default:
      return []
  }
}

/** A message item with one content part. */
export function messageItem(id: string, content: WireContent, phase: Phase = {}): WireMessage {
  return { id, type: 'message', status: 'completed', role: 'assistant', content: [content], ...phase }
}

/** The phase of a message, if the service reports it: commentary or final answer. */
export type Phase = Pick<WireMessage, 'phase'>

/** The phase of the message that a text came from. */
export function phaseOf({ native }: Omit<TextPart, 'type'>): Phase {
  const phase = native?.dialect === dialect ? native.fields['phase'] : undefined
  return phase === 'commentary' || phase === 'final_answer' ? { phase } : {}
}

/** A refusal as a content part. */
export function refusalContent(refusal: string): WireRefusal {
  return { type: 'refusal', refusal }
}

/** A text as a content part. */
export function textContent({ text, citations = [], logprobs = [] }: Omit<TextPart, 'type'>): WireText {
  const annotations = annotationsOut(citations, text.length)
  return { type: 'output_text', text, annotations, logprobs: logprobs.map(wholeLogprob) }
}

/** The state to send for reasoning that the service did not encrypt: a state with an empty value. */
const unsealed: Seal = { from: 'openai-chat', value: '' }

/**
 * True if the caller requested the encrypted form of reasoning. Such a caller sends back only reasoning that has one.
 */
function wantsSealed({ native }: Conversation): boolean {
  const include = native?.dialect === dialect ? native.fields['include'] : undefined
  return Array.isArray(include) && include.includes('reasoning.encrypted_content')
}

/** Reasoning as an item. */
export function thoughtItem(part: ReasoningPart, id: string, isSealed: boolean): WireReasoning {
  const { text, full, redacted, seal = isSealed ? unsealed : undefined } = part
  const sealed = seal && writeSeal(seal, dialect, redacted ? 'hidden' : 'thought')
  return {
    id,
    type: 'reasoning',
    summary: text === '' || full ? [] : [{ type: 'summary_text', text }],
    ...(full && { content: [{ type: 'reasoning_text', text }] }),
    ...(sealed && { encrypted_content: sealed }),
  }
}

/**
 * The state of another service that belongs to a text or a call, as a separate item before or after it. Callers send
 * such items back unchanged.
 */
export function sealItems(
  seal: Seal | undefined,
  names: ItemNames,
  owner: 'next' | 'before' = 'next',
): WireReasoning[] {
  if (!seal || seal.from === dialect) return []
  return [{ id: names.next('rs'), type: 'reasoning', summary: [], encrypted_content: writeSeal(seal, dialect, owner) }]
}

/** A call as an item. If the caller's tool takes free text, the input becomes free text again. */
export function replyCall(
  part: Part & { type: 'tool-call' },
  names: ItemNames,
  freeform: ReadonlySet<string>,
): WireCall {
  const isFreeform = part.freeform ?? freeform.has(part.name)
  const input = isFreeform && !part.freeform ? unwrapFreeform(part.input) : part.input
  const own = {
    id: names.next(isFreeform ? 'ctc' : 'fc'),
    call_id: part.id,
    name: part.name,
    status: 'completed',
    ...spaceOut(names.space(part.name)),
  } as const
  return isFreeform
    ? { ...own, type: 'custom_tool_call', input }
    : { ...own, type: 'function_call', arguments: input || '{}' }
}

function mediaItems(part: Part & { type: 'media' }, names: ItemNames): JsonObject[] {
  if (part.source.kind !== 'inline') return []
  // The caller can at least read the transcript of the model's speech.
  if (part.media === 'audio' && part.transcript)
    return [messageItem(names.next('msg'), textContent({ text: part.transcript }))]
  if (part.media !== 'image') return []
  const image: WireImage = {
    id: names.next('ig'),
    type: 'image_generation_call',
    status: 'completed',
    result: part.source.data,
  }
  return [image]
}

/** The status and error of a response that failed partway. */
export function failedOut(failure: Failure): Pick<WireResponse, 'error'> & { status: 'failed' } {
  return { status: 'failed', error: { code: failure.code ?? 'server_error', message: failure.message } }
}
