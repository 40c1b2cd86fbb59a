import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { TextBuffer } from '../metering/text-buffer.ts'
import type { Citation } from '../neutral/conversation.ts'
import { looseList, looseText } from '../neutral/fields.ts'
import type { PartDetail, ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { readSeal } from '../wire/thought-signature.ts'
import { outputIn } from './reply.ts'
import type { StreamItem, StreamPart, StreamPiece } from './stream-items.ts'

type Call = ReplyPart & { type: 'tool-call' }

/** The separator between the paragraphs of a reasoning summary. */
const gap = '\n\n'

/**
 * Converts items to events. Each text is reported only once. When a complete text repeats the pieces before it, only
 * its new part is reported. Reported text cannot be withdrawn, so nothing is added if the complete text does not begin
 * with the reported text.
 */
export class StreamTeller {
  /** The types of all parts so far. */
  readonly kinds = new Set<ReplyPart['type']>()
  /** True if part of a call's input was already reported and the complete input then turned out to be different. */
  isContradictory = false
  #events: StreamEvent[] = []
  #parts = 0
  /** The last completed item whose parts have not ended yet. */
  #closing: StreamItem | undefined

  /** The events since `take` was last called. */
  take(): StreamEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  /** Begins a call. Its input may still follow. */
  call(item: StreamItem, call: Call): void {
    if (item.pieces.has('input')) return
    const piece = this.#begin(item, 'input', { ...call, input: '' })
    piece.held = call.input
    if (item.early !== '') this.#say(piece, item.early)
    item.early = ''
  }

  /** Begins a reasoning part, unless it has already begun. */
  thought(item: StreamItem, isFull = false): StreamPart {
    const [known] = item.pieces.values()
    const part = { type: 'reasoning', text: '', ...(isFull && { full: true }) } as const
    return known?.part ?? this.#begin(item, 'thought', part).part
  }

  /** Reports a content part of a message, from its start or end event. */
  content(item: StreamItem, key: string, part: ReplyPart): void {
    const known = item.pieces.get(key)
    if (!known) {
      this.#begin(item, key, part)
      return
    }
    if (part.type !== 'text' && part.type !== 'refusal') return
    this.#rest(known, part.text)
    if (part.type !== 'text') return
    this.cited(item, key, (part.citations ?? []).slice(known.part.citations))
    this.probable(item, key, (part.logprobs ?? []).slice(known.part.logprobs))
  }

  /** Reports more of a piece. If the service sent no start of the piece, `more` begins the piece. */
  more(item: StreamItem, key: string, text: string, type: 'text' | 'refusal' = 'text'): void {
    const piece = this.#piece(item, key, type)
    if (!piece) {
      item.early += text
      return
    }
    if (text === '') return
    // If deltas follow, a JSON object in the start event was only a placeholder, so it is not reported.
    if (piece.held !== '' && !isObject(tryParse(piece.held))) this.#say(piece, piece.held)
    piece.held = ''
    this.#say(piece, text)
  }

  /** Handles a complete repetition of a piece. No more of the piece follows. */
  repeated(item: StreamItem, key: string, whole: string, type: 'text' | 'refusal' = 'text'): void {
    const piece = whole === '' ? item.pieces.get(key) : this.#piece(item, key, type)
    if (!piece) {
      if (whole.length > item.early.length) item.early = whole
      return
    }
    this.#rest(piece, whole)
    if (item.type === 'function_call' && isOther(piece.text.toString(), whole)) this.isContradictory = true
    if (piece.part.type !== 'reasoning') this.#detail(piece.part, { isWhole: true })
  }

  /** Reports new citations. */
  cited(item: StreamItem, key: string, citations: readonly Citation[]): void {
    const part = this.#piece(item, key, 'text')?.part
    if (!part || citations.length === 0) return
    part.citations += citations.length
    this.#detail(part, { citations })
  }

  /** Reports new log probabilities. */
  probable(item: StreamItem, key: string, logprobs: readonly JsonObject[]): void {
    const part = item.pieces.get(key)?.part
    if (!part || logprobs.length === 0) return
    part.logprobs += logprobs.length
    this.#detail(part, { logprobs })
  }

  /** Handles a complete repetition of an item, either in its own end event or in the end event of the answer. */
  whole(item: StreamItem, wire: JsonObject): void {
    const parts = outputIn(wire)
    if (wire['type'] === 'message') {
      for (const [at, part] of parts.entries()) this.content(item, String(at), part)
      return
    }
    const [first] = parts
    if (first?.type === 'tool-call') this.#wholeCall(item, first)
    else if (first?.type === 'reasoning') this.#wholeThought(item, wire, first.full ?? false)
    else if (first && item.pieces.size === 0) this.#end(this.#begin(item, 'whole', first).part)
  }

  /**
   * Marks an item as complete. Its parts end only when the next item begins, because the end event of the answer may
   * add to them.
   */
  done(item: StreamItem): void {
    item.isDone = true
    if (item.type === 'message' || item.type === 'reasoning') this.#closing = item
    else this.close(item)
  }

  /** Ends an item. Nothing more of it follows. */
  close(item: StreamItem): void {
    item.isDone = true
    for (const piece of item.pieces.values()) {
      if (piece.held !== '' && piece.text.length === 0) this.#say(piece, piece.held)
      piece.held = ''
      this.#end(piece.part)
    }
  }

  /** True if the reported text of an item is the text of the complete item or a prefix of it. */
  hasTold(item: StreamItem, wire: JsonObject): boolean {
    const wholes = outputIn(wire).map((part) =>
      part.type === 'tool-call' ? part.input : 'text' in part ? part.text : '',
    )
    const pieces = [...item.pieces.values()].filter((piece) => piece.text.length > 0)
    const compared = item.type === 'reasoning' ? pieces.slice(0, 1) : pieces
    return compared.every((piece, at) => (wholes[at] ?? '').startsWith(piece.text.toString()))
  }

  #wholeCall(item: StreamItem, call: Call): void {
    this.call(item, call)
    this.repeated(item, 'input', call.input)
  }

  #wholeThought(item: StreamItem, wire: JsonObject, isFull: boolean): void {
    const part = this.thought(item, isFull)
    const key = [...item.pieces].find(([, { text }]) => text.length > 0)?.[0]
    const isSummary = key ? key.startsWith('summary') : !isFull
    for (const [at, each] of looseList(wire[isSummary ? 'summary' : 'content']).entries())
      this.repeated(item, `${isSummary ? 'summary' : 'text'} ${at}`, looseText(each['text']))
    const seal = looseText(wire['encrypted_content'])
    if (seal === '' || part.isSealed) return
    part.isSealed = true
    this.#detail(part, { seal: readSeal(seal, 'openai-responses') })
  }

  /** The piece with this key. A missing piece is begun, unless it belongs to a call whose name is not known yet. */
  #piece(item: StreamItem, key: string, type: 'text' | 'refusal'): StreamPiece | undefined {
    const known = item.pieces.get(key)
    if (known) return known
    if (item.type === 'message') return this.#begin(item, key, { type, text: '' })
    if (item.type !== 'reasoning') return undefined
    const piece = { text: new TextBuffer(), part: this.thought(item, key.startsWith('text')), held: '' }
    // The paragraphs of a summary form one reasoning part.
    if (key.startsWith('summary') && [...item.pieces.values()].some(({ text }) => text.length > 0))
      this.#events.push({ type: 'delta', choice: 0, index: piece.part.index, text: gap })
    item.pieces.set(key, piece)
    return piece
  }

  #begin(item: StreamItem, key: string, part: ReplyPart): StreamPiece {
    // The content parts of a message come one after another, so the start of one ends the previous ones.
    if (item.type === 'message') for (const { part: before } of item.pieces.values()) this.#end(before)
    const piece: StreamPiece = { text: new TextBuffer(), part: this.#part(part), held: '' }
    if (part.type === 'text' || part.type === 'refusal') piece.text.add(part.text)
    item.pieces.set(key, piece)
    return piece
  }

  #part(part: ReplyPart): StreamPart {
    const closing = this.#closing
    this.#closing = undefined
    if (closing) this.close(closing)
    const index = this.#parts++
    this.kinds.add(part.type)
    this.#events.push({ type: 'part', choice: 0, index, part })
    const { citations, logprobs } = part.type === 'text' ? part : {}
    return {
      index,
      type: part.type,
      isEnded: false,
      citations: citations?.length ?? 0,
      logprobs: logprobs?.length ?? 0,
      isSealed: false,
    }
  }

  /** Reports the part of a complete text that has not been reported yet. */
  #rest(piece: StreamPiece, whole: string): void {
    const { text } = piece
    if (whole.length <= text.length || !whole.startsWith(text.toString())) return
    const rest = whole.slice(text.length)
    piece.held = ''
    this.#say(piece, rest)
  }

  /** Reports more of a piece. If its part has ended, the text continues in a new part. */
  #say(piece: StreamPiece, text: string): void {
    const { part } = piece
    if (part.isEnded) {
      if (part.type !== 'text' && part.type !== 'refusal') return
      piece.part = { ...this.#part({ type: part.type, text: '' }), citations: part.citations, logprobs: part.logprobs }
    }
    piece.text.add(text)
    this.#events.push({ type: 'delta', choice: 0, index: piece.part.index, text })
  }

  #detail(part: StreamPart, detail: PartDetail): void {
    if (!part.isEnded) this.#events.push({ type: 'detail', choice: 0, index: part.index, detail })
  }

  #end(part: StreamPart): void {
    if (part.isEnded) return
    part.isEnded = true
    this.#events.push({ type: 'part-end', choice: 0, index: part.index })
  }
}

/** True if the reported input differs from the complete input and is not a complete JSON object. */
function isOther(input: string, whole: string): boolean {
  return whole !== '' && input !== whole && !isObject(tryParse(input))
}
