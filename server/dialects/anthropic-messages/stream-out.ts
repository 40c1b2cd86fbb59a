import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Frame, StreamEncoder } from '../neutral/dialect.ts'
import type { Failure, PartDetail, ReplyPart, Stop, StreamEvent } from '../neutral/reply.ts'
import { writeSeal } from '../wire/thought-signature.ts'
import { citationOut } from './citations.ts'
import { encodeFailure } from './failure.ts'
import { ObjectScan } from './json-object-scanner.ts'
import { type PartEvent, type WaitingPart, WaitingParts } from './pending-parts.ts'
import { headOf, replyBlocksOut, sealOut, textOut } from './reply.ts'
import { stopDetailsOut, stopOut } from './stop.ts'
import { lastUsageOut, usageOut } from './usage.ts'
import type { WireBlockDelta, WireEvent, WireEventType } from './wire.ts'

const dialect = 'anthropic-messages'

/** The block that is being written. */
interface OpenBlock {
  /** The part's index. */
  readonly part: number
  /**
   * The index of the block itself. It is undefined if the dialect cannot express the part, or if the part has no
   * content yet.
   */
  block: number | undefined
  /** The start of a block that is not written until it has content. */
  late: JsonObject | undefined
  readonly head: ReplyPart
  text: string
  /** Detects when the input of a call is complete. */
  readonly input: ObjectScan
}

/**
 * Writes a stream of message events (Anthropic docs, "Streaming messages"). Callers expect one block at a time, so
 * events of other parts wait until the open block is closed.
 */
export class MessageStreamEncoder implements StreamEncoder {
  readonly #frame: Frame
  #started = false
  #blocks = 0
  #open: OpenBlock | undefined
  readonly #waiting = new WaitingParts()
  readonly #closed = new Set<number>()
  #stop: Stop = { reason: 'stop' }
  #usage: Usage

  constructor(frame: Frame) {
    this.#frame = frame
    // `frame.promptTokens` is used until the service reports its own count. Client programs use this count to show how
    // full the context is.
    this.#usage = { promptTokens: frame.promptTokens ?? 0, completionTokens: 0 }
  }

  push(event: StreamEvent): string {
    switch (event.type) {
      case 'start':
        return this.#start(event.id, event.model, event.usage)
      case 'part':
      case 'delta':
      case 'detail':
      case 'part-end':
        // The dialect supports only one choice.
        return event.choice > 0 ? '' : this.#start() + this.#part(event)
      case 'stop':
        if (event.choice === 0) this.#stop = event.stop
        return ''
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'ping':
        return this.#started ? sent('ping', {}) : ''
      case 'error':
        return this.#fail(event.failure)
      default:
        return this.#start() + this.#end()
    }
  }

  #start(id?: string, model?: string, usage?: Usage): string {
    if (this.#started) return ''
    this.#started = true
    if (usage) this.#usage = usage
    const message = { ...headOf(this.#frame, id, model), usage: usageOut(this.#usage) }
    return written('message_start', { message })
  }

  #part(event: PartEvent): string {
    const open = this.#open
    if (open && event.index !== open.part) {
      if (event.type === 'part' && isWhole(open)) return this.#close() + this.#openBlock(event.index, event.part)
      if (!this.#closed.has(event.index)) this.#waiting.add(event)
      return ''
    }
    const out = this.#own(event)
    return open && event.type === 'part-end' ? out + this.#next() : out
  }

  /** Writes an event of the open part. If the event starts a part, opens the part. */
  #own(event: PartEvent): string {
    const open = this.#open
    if (event.type === 'part') return this.#openBlock(event.index, event.part)
    if (!open) return ''
    if (event.type === 'delta') return this.#delta(open, event.text)
    if (event.type === 'detail') return this.#detail(open, event.detail)
    return this.#close()
  }

  #openBlock(part: number, head: ReplyPart): string {
    if (this.#closed.has(part)) return ''
    const isSealed = head.type === 'tool-call' || (head.type === 'text' && head.text !== '')
    const before = isSealed ? sealOut(head.seal, 'next') : []
    const out = before.map((block) => this.#wholeBlock(block)).join('')
    const block = startOf(head)
    const open: OpenBlock = { part, block: undefined, late: block, head, text: '', input: new ObjectScan() }
    this.#open = open
    // A text may turn out to be empty, and the API refuses an empty block that is sent back to it. The block is
    // therefore started only when it has content.
    const start = head.type === 'text' || head.type === 'refusal' ? '' : this.#begun(open)
    const first =
      head.type === 'tool-call' ? head.input : head.type === 'native' || head.type === 'media' ? '' : head.text
    const detail =
      head.type === 'reasoning' ? { seal: head.seal } : head.type === 'text' ? { citations: head.citations } : {}
    return (
      out +
      start +
      this.#delta(open, first) +
      this.#detail(open, head.type === 'reasoning' && head.redacted ? {} : detail)
    )
  }

  /** Writes the start of a block, unless it has already been written. */
  #begun(open: OpenBlock): string {
    if (!open.late) return ''
    const index = this.#blocks++
    const start = written('content_block_start', { index, content_block: open.late })
    open.block = index
    open.late = undefined
    return start
  }

  #wholeBlock(block: JsonObject): string {
    const index = this.#blocks++
    return written('content_block_start', { index, content_block: block }) + written('content_block_stop', { index })
  }

  #delta(open: OpenBlock, text: string): string {
    if (text === '') return ''
    const begun = this.#begun(open)
    if (open.block === undefined) return ''
    open.text += text
    if (open.head.type === 'tool-call') open.input.add(text)
    switch (open.head.type) {
      case 'text':
      case 'refusal':
        return begun + this.#written(open.block, { type: 'text_delta', text })
      case 'reasoning':
        return begun + this.#written(open.block, { type: 'thinking_delta', thinking: text })
      case 'tool-call':
        return begun + this.#written(open.block, { type: 'input_json_delta', partial_json: text })
      default:
        return begun
    }
  }

  #detail(open: OpenBlock, detail: PartDetail): string {
    const { head } = open
    let out = detail.citations && detail.citations.length > 0 ? this.#begun(open) : ''
    const { block } = open
    if (block === undefined) return out
    if (detail.seal && head.type === 'reasoning')
      out += this.#written(block, { type: 'signature_delta', signature: writeSeal(detail.seal, dialect) })
    if (detail.transcript) out += this.#written(block, { type: 'text_delta', text: detail.transcript })
    for (const each of head.type === 'text' ? (detail.citations ?? []) : []) {
      const citation = citationOut(each, open.text)
      if (citation) out += this.#written(block, { type: 'citations_delta', citation })
    }
    // A signature that arrives after its tool call is written as a block after the call. A signature that arrives after
    // a text is dropped, because client programs treat the last block as the answer.
    if (detail.seal && head.type === 'tool-call')
      out +=
        this.#close() +
        sealOut(detail.seal, 'before')
          .map((each) => this.#wholeBlock(each))
          .join('')
    return out
  }

  #written(index: number, delta: WireBlockDelta): string {
    return written('content_block_delta', { index, delta })
  }

  #close(): string {
    const open = this.#open
    this.#open = undefined
    if (!open) return ''
    this.#closed.add(open.part)
    if (open.block === undefined) return ''
    return written('content_block_stop', { index: open.block })
  }

  /** Writes the events that waited for the block that has just been closed. */
  #next(): string {
    const out: string[] = []
    let part = this.#waiting.after(-1)
    while (part) part = this.#replay(part, out)
    return out.join('')
  }

  /** Writes the events of a part that waited. If its block was closed, returns the next waiting part. */
  #replay(part: WaitingPart, out: string[]): WaitingPart | undefined {
    this.#waiting.take(part)
    let last = part.order
    for (const { order, event } of part.events) {
      const follower = this.#follower(last)
      if (follower && follower.order < order) {
        out.push(this.#close())
        return follower
      }
      out.push(this.#own(event))
      last = order
      if (!this.#open) return this.#waiting.after(event.type === 'part-end' ? -1 : last)
    }
    const follower = this.#follower(last)
    if (follower) out.push(this.#close())
    return follower
  }

  /**
   * The next part to write if the open part is a call whose input is complete: the first waiting part after `order`.
   * Undefined if the open part is not such a call.
   */
  #follower(order: number): WaitingPart | undefined {
    return this.#open && isWhole(this.#open) ? this.#waiting.after(order) : undefined
  }

  #end(): string {
    let out = this.#close()
    while (this.#waiting.after(-1)) out += this.#next() + this.#close()
    const delta = {
      stop_reason: stopOut(this.#stop),
      stop_sequence: this.#stop.sequence ?? null,
      stop_details: stopDetailsOut(this.#stop),
      container: null,
    }
    return out + written('message_delta', { delta, usage: lastUsageOut(this.#usage) }) + written('message_stop', {})
  }

  #fail(failure: Failure): string {
    const { type: _type, ...error } = encodeFailure(failure, this.#frame.id)
    return sent('error', error)
  }
}

/** True for a call whose input is a complete JSON object, to which nothing can be added. */
function isWhole({ head, text, input }: OpenBlock): boolean {
  return head.type === 'tool-call' && input.isWhole(text)
}

/** The start of a part's block; undefined if the dialect cannot express the part. */
function startOf(head: ReplyPart): JsonObject | undefined {
  switch (head.type) {
    case 'text':
    case 'refusal':
      return textOut('')
    case 'reasoning':
      return head.redacted ? replyBlocksOut(head)[0] : { type: 'thinking', thinking: '', signature: '' }
    case 'tool-call':
      return { ...replyBlocksOut({ ...head, seal: undefined })[0], input: {} }
    case 'media':
      // The caller can at least read the transcript of the model's speech.
      return head.media === 'audio' ? textOut('') : undefined
    default:
      return head.dialect === dialect ? head.value : undefined
  }
}

function written<T extends WireEventType>(type: T, rest: WireEvent<T>): string {
  return sent(type, rest)
}

function sent(type: string, rest: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
}
