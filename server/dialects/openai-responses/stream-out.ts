import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import { errorOut } from '../failures/openai-failure.ts'
import type { Citation, ReasoningPart, TextPart, ToolCallPart } from '../neutral/conversation.ts'
import type { Frame, StreamEncoder } from '../neutral/dialect.ts'
import type { Failure, PartDetail, ReplyPart, Stop, StreamEvent } from '../neutral/reply.ts'
import { wholeLogprob } from '../wire/logprobs.ts'
import { freeformNames } from '../wire/tool-input.ts'
import { annotationsOut } from './annotations.ts'
import {
  failedOut,
  ItemNames,
  itemsOf,
  messageItem,
  type Phase,
  phaseOf,
  refusalContent,
  replyCall,
  sealItems,
  textContent,
  thoughtItem,
} from './reply.ts'
import { counted, finished, skeleton } from './skeleton.ts'
import { stopOut } from './stop.ts'
import type {
  WireCall,
  WireContent,
  WireEvent,
  WireEventType,
  WireMessage,
  WireReasoning,
  WireResponse,
} from './wire.ts'

type WireItem = WireMessage | WireReasoning | WireCall

/** An item that is being written. */
interface OpenItem {
  readonly id: string
  readonly at: number
  part: ReplyPart
  /** True once the content or summary part has begun. */
  hasContent: boolean
  annotations: number
  /** The citations of the item's text so far. */
  readonly citations: Citation[]
  /** The log probabilities of the item's text so far. */
  readonly logprobs: JsonObject[]
}

/** Writes a stream of response events (OpenAI API reference, "Streaming events" of the Responses API). */
export class ResponseStreamEncoder implements StreamEncoder {
  readonly #frame: Frame
  readonly #freeform: ReadonlySet<string>
  readonly #names: ItemNames
  readonly #open = new Map<number, OpenItem>()
  /** The indexes of parts that are audio. */
  readonly #sounds = new Set<number>()
  readonly #output: JsonObject[] = []
  #response: WireResponse | undefined
  #sequence = 0
  #stop: Stop = { reason: 'stop' }
  #usage: Usage | undefined

  constructor(frame: Frame) {
    this.#frame = frame
    this.#freeform = freeformNames(frame.request)
    this.#names = new ItemNames(frame)
  }

  push(event: StreamEvent): string {
    switch (event.type) {
      case 'start':
        if (event.usage) this.#usage = event.usage
        return this.#start(event.id, event.model, event.createdAtSeconds)
      case 'part':
        return event.choice > 0 ? '' : this.#start() + this.#begin(event.index, event.part)
      case 'delta':
        // Deltas of audio are not text. The caller can only read the transcript of the audio.
        return event.choice > 0 || this.#sounds.has(event.index) ? '' : this.#delta(event.index, event.text)
      case 'detail':
        return event.choice > 0 ? '' : this.#detail(event.index, event.detail)
      case 'part-end':
        return event.choice > 0 ? '' : this.#finish(event.index)
      case 'stop':
        if (event.choice === 0) this.#stop = event.stop
        return ''
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'error':
        return this.#start() + this.#fail(event.failure)
      case 'end':
        return this.#start() + this.#end()
      default:
        return ''
    }
  }

  #written<T extends WireEventType>(type: T, rest: WireEvent<T>): string {
    const event = { type, sequence_number: this.#sequence++, ...rest }
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
  }

  #start(id?: string, model?: string, createdAtSeconds?: number): string {
    if (this.#response) return ''
    this.#response = skeleton(this.#frame, id, model, createdAtSeconds)
    const rest = { response: this.#response }
    return this.#written('response.created', rest) + this.#written('response.in_progress', rest)
  }

  /** Writes a complete item at once. */
  #whole(item: JsonObject): string {
    const at = this.#output.push(item) - 1
    const rest = { output_index: at, item }
    return this.#written('response.output_item.added', rest) + this.#written('response.output_item.done', rest)
  }

  #begin(index: number, part: ReplyPart): string {
    const seals = part.type === 'text' || part.type === 'tool-call' ? sealItems(part.seal, this.#names) : []
    const before = seals.map((item) => this.#whole(item)).join('')
    if (part.type === 'native' || (part.type === 'media' && part.media !== 'audio'))
      return (
        before +
        itemsOf(part, this.#names, this.#freeform)
          .map((item) => this.#whole(item))
          .join('')
      )
    if (part.type === 'media') this.#sounds.add(index)
    // The index is reserved now. The item is put there when it is complete.
    const at = this.#output.push({}) - 1
    const item = this.#item(part)
    const open: OpenItem = {
      id: item.id,
      at,
      part: emptied(part),
      hasContent: false,
      annotations: 0,
      citations: [],
      logprobs: [],
    }
    this.#open.set(index, open)
    const added = this.#written('response.output_item.added', { output_index: at, item })
    const first = part.type === 'tool-call' ? part.input : 'text' in part ? (part.text ?? '') : ''
    const { citations, logprobs }: Partial<TextPart> = part.type === 'text' ? part : {}
    const detail = { ...(citations && { citations }), ...(logprobs && { logprobs }) }
    const sealed = part.type === 'reasoning' && part.seal ? { seal: part.seal } : {}
    return before + added + this.#delta(index, first) + this.#detail(index, { ...detail, ...sealed })
  }

  /** The item in its initial state. */
  #item(part: ReplyPart): WireItem {
    if (part.type === 'tool-call') {
      const item = replyCall(part, this.#names, this.#freeform)
      const begun = { ...item, status: 'in_progress' } as const
      return begun.type === 'custom_tool_call' ? { ...begun, input: '' } : { ...begun, arguments: '' }
    }
    if (part.type === 'reasoning') return thoughtItem({ type: 'reasoning', text: '' }, this.#names.next('rs'), false)
    const id = this.#names.next('msg')
    return { id, type: 'message', status: 'in_progress', role: 'assistant', content: [], ...phaseIn(part) }
  }

  #delta(index: number, text: string): string {
    const open = this.#open.get(index)
    if (!open || text === '') return ''
    const { part } = open
    const at = { item_id: open.id, output_index: open.at }
    switch (part.type) {
      case 'tool-call': {
        open.part = { ...part, input: part.input + text }
        if (part.freeform) return this.#written('response.custom_tool_call_input.delta', { ...at, delta: text })
        // If free text arrives wrapped in JSON, it is decoded and written once the JSON is complete.
        if (this.#freeform.has(part.name)) return ''
        return this.#written('response.function_call_arguments.delta', { ...at, delta: text })
      }
      case 'reasoning':
        open.part = { ...part, text: part.text + text }
        return this.#thought(open, part.full ?? false, text)
      case 'text':
      case 'refusal': {
        const begun = this.#content(open)
        open.part = { ...part, text: part.text + text }
        const rest = { ...at, content_index: 0, delta: text }
        return part.type === 'text'
          ? begun + this.#written('response.output_text.delta', { ...rest, logprobs: [] })
          : begun + this.#written('response.refusal.delta', rest)
      }
      default:
        return ''
    }
  }

  #thought(open: OpenItem, full: boolean, delta: string): string {
    const at = { item_id: open.id, output_index: open.at }
    const begun = open.hasContent
    open.hasContent = true
    if (full) {
      const part = { type: 'reasoning_text', text: '' }
      const start = begun ? '' : this.#written('response.content_part.added', { ...at, content_index: 0, part })
      return start + this.#written('response.reasoning_text.delta', { ...at, content_index: 0, delta })
    }
    const part = { type: 'summary_text', text: '' }
    const start = begun ? '' : this.#written('response.reasoning_summary_part.added', { ...at, summary_index: 0, part })
    return start + this.#written('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta })
  }

  #content(open: OpenItem): string {
    if (open.hasContent) return ''
    open.hasContent = true
    const part = open.part.type === 'refusal' ? refusalContent('') : textContent({ text: '' })
    const at = { item_id: open.id, output_index: open.at, content_index: 0 }
    return this.#written('response.content_part.added', { ...at, part })
  }

  #detail(index: number, { seal, citations, transcript, logprobs }: PartDetail): string {
    const open = this.#open.get(index)
    if (!open) return ''
    const { part } = open
    if (transcript) {
      // The caller can at least read the transcript of the model's speech.
      open.part = { type: 'text', text: part.type === 'text' ? part.text : '' }
      open.citations.length = 0
      return this.#delta(index, transcript)
    }
    if (seal && (part.type === 'reasoning' || part.type === 'text' || part.type === 'tool-call'))
      open.part = { ...part, seal }
    if (open.part.type !== 'text') return ''
    return this.#logprobs(open, logprobs) + this.#cited(open, open.part, citations)
  }

  /** Writes the log probabilities of the most recent text. */
  #logprobs(open: OpenItem, logprobs: readonly JsonObject[] = []): string {
    if (logprobs.length === 0) return ''
    for (const each of logprobs) open.logprobs.push(each)
    const at = { item_id: open.id, output_index: open.at, content_index: 0 }
    const rest = { ...at, delta: '', logprobs: logprobs.map(wholeLogprob) }
    return this.#content(open) + this.#written('response.output_text.delta', rest)
  }

  #cited(open: OpenItem, text: TextPart, citations: PartDetail['citations']): string {
    if (!citations) return ''
    for (const citation of citations) open.citations.push(citation)
    const begun = this.#content(open)
    const at = { item_id: open.id, output_index: open.at, content_index: 0 }
    const added = annotationsOut(citations, text.text.length)
    return (
      begun +
      added
        .map((annotation) => {
          const rest = { ...at, annotation_index: open.annotations++, annotation }
          return this.#written('response.output_text.annotation.added', rest)
        })
        .join('')
    )
  }

  #finish(index: number): string {
    const open = this.#open.get(index)
    if (!open) return ''
    this.#open.delete(index)
    const { part } = open
    const before = this.#closing(open)
    const item = this.#closed(open)
    this.#output[open.at] = item
    const done = before + this.#written('response.output_item.done', { output_index: open.at, item })
    // A signature that arrives after its text or call is written as a separate item that follows the part.
    const seals = part.type === 'text' || part.type === 'tool-call' ? sealItems(part.seal, this.#names, 'before') : []
    return done + seals.map((seal) => this.#whole(seal)).join('')
  }

  /** The complete item, under the id with which it started. */
  #closed(open: OpenItem): WireItem {
    const { id, part } = open
    if (part.type === 'tool-call') return this.#call(id, part)
    return part.type === 'reasoning'
      ? thoughtItem(part, id, this.#names.sealsThoughts)
      : messageItem(id, contentOf(open), phaseIn(part))
  }

  #call(id: string, part: ToolCallPart): WireCall {
    const input = part.input === '' && !part.freeform && !this.#freeform.has(part.name) ? '{}' : part.input
    return { ...replyCall({ ...part, input }, this.#names, this.#freeform), id }
  }

  /** The events that repeat content that was already sent in pieces. */
  #closing(open: OpenItem): string {
    const { part } = open
    if (part.type === 'tool-call') return this.#callDone(open, part)
    return part.type === 'reasoning' ? this.#thoughtDone(open, part) : this.#contentDone(open)
  }

  #callDone(open: OpenItem, part: ToolCallPart): string {
    const at = { item_id: open.id, output_index: open.at }
    const item = this.#call(open.id, part)
    if (item.type === 'custom_tool_call') {
      const { input } = item
      const late = part.freeform ? '' : this.#written('response.custom_tool_call_input.delta', { ...at, delta: input })
      return late + this.#written('response.custom_tool_call_input.done', { ...at, input })
    }
    const late =
      part.input === '' ? this.#written('response.function_call_arguments.delta', { ...at, delta: '{}' }) : ''
    // No published schema has a `name` in this event, but the service sends one.
    const rest = { ...at, arguments: item.arguments, name: item.name }
    return late + this.#written('response.function_call_arguments.done', rest)
  }

  #thoughtDone(open: OpenItem, { text, full }: ReasoningPart): string {
    if (!open.hasContent) return ''
    const at = { item_id: open.id, output_index: open.at }
    if (full) {
      const own = { ...at, content_index: 0 }
      return (
        this.#written('response.reasoning_text.done', { ...own, text }) +
        this.#written('response.content_part.done', { ...own, part: { type: 'reasoning_text', text } })
      )
    }
    const own = { ...at, summary_index: 0 }
    return (
      this.#written('response.reasoning_summary_text.done', { ...own, text }) +
      this.#written('response.reasoning_summary_part.done', { ...own, part: { type: 'summary_text', text } })
    )
  }

  #contentDone(open: OpenItem): string {
    const begun = this.#content(open)
    const part = contentOf(open)
    const own = { item_id: open.id, output_index: open.at, content_index: 0 }
    const done =
      part.type === 'refusal'
        ? this.#written('response.refusal.done', { ...own, refusal: part.refusal })
        : this.#written('response.output_text.done', { ...own, text: part.text, logprobs: part.logprobs })
    return begun + done + this.#written('response.content_part.done', { ...own, part })
  }

  /** The response with all items that are complete. */
  #final(): WireResponse {
    const output = this.#output.filter((item) => Object.keys(item).length > 0)
    return { ...(this.#response ?? skeleton(this.#frame)), output }
  }

  #end(): string {
    const open = [...this.#open.keys()].map((index) => this.#finish(index)).join('')
    const stop = stopOut(this.#stop)
    const response = finished(this.#final(), stop, { ...(this.#usage && { usage: this.#usage }) }, this.#frame)
    return (
      open + this.#written(stop.status === 'completed' ? 'response.completed' : 'response.incomplete', { response })
    )
  }

  /** Writes two events, because some client programs react to `error` and others wait for `response.failed`. */
  #fail(failure: Failure): string {
    const error = errorOut(failure, this.#frame.id)
    const { code, message, param } = error
    return (
      this.#written('error', { code, message, param, error }) +
      this.#written('response.failed', { response: { ...counted(this.#final(), this.#usage), ...failedOut(failure) } })
    )
  }
}

/** The content of a message so far. */
function contentOf({ part, citations, logprobs }: OpenItem): WireContent {
  if (part.type === 'refusal') return refusalContent(part.text)
  return textContent({ text: part.type === 'text' ? part.text : '', citations, logprobs })
}

function phaseIn(part: ReplyPart): Phase {
  return part.type === 'text' ? phaseOf(part) : {}
}

/** The part in its initial state, without the text that is written as its first delta. */
function emptied(part: ReplyPart): ReplyPart {
  if (part.type === 'tool-call') return { ...part, input: '', seal: undefined }
  if (part.type === 'text') return { type: 'text', text: '', ...(part.native && { native: part.native }) }
  if (part.type === 'reasoning') return { ...part, text: '', seal: undefined }
  return part.type === 'refusal' ? { ...part, text: '' } : part
}
