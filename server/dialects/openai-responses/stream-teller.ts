import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { TextBuffer } from '../metering/text-buffer.ts'
import type { Citation } from '../neutral/conversation.ts'
import { looseList, looseText } from '../neutral/fields.ts'
import type { PartDetail, ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { readSeal } from '../wire/thought-signature.ts'
import { outputIn } from './reply.ts'
import type { StreamItem, StreamPart, StreamPiece } from './stream-items.ts'

type Call = ReplyPart & { type: 'tool-call' }

/** The separator between the paragraphs of a thought's summary. */
const gap = '\n\n'

/**
 * Reports the parts of items as events, each text once: a repeated, whole text adds only what is new. Reported text
 * stays; if the whole text is different, nothing is added.
 */
export class StreamTeller {
  /** Kinds of the parts so far. */
  readonly kinds = new Set<ReplyPart['type']>()
  /** Part of a call's input was reported, and the complete input turned out to be different. */
  isContradictory = false
  #events: StreamEvent[] = []
  #parts = 0
  /** The last item that was complete; its parts have not ended yet. */
  #closing: StreamItem | undefined

  /** The events since the last call. */
  take(): StreamEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  /** A call begins; its input may still follow. */
  call(item: StreamItem, call: Call): void {
    if (item.pieces.has('input')) return
    const piece = this.#begin(item, 'input', { ...call, input: '' })
    piece.held = call.input
    if (item.early !== '') this.#say(piece, item.early)
    item.early = ''
  }

  /** A thought begins. */
  thought(item: StreamItem, isFull = false): StreamPart {
    const [known] = item.pieces.values()
    const part = { type: 'reasoning', text: '', ...(isFull && { full: true }) } as const
    return known?.part ?? this.#begin(item, 'thought', part).part
  }

  /** A content part of a message, from its start or end event. */
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

  /** More of a piece. If the service skipped the start of the piece, this begins it. */
  more(item: StreamItem, key: string, text: string, type: 'text' | 'refusal' = 'text'): void {
    const piece = this.#piece(item, key, type)
    if (!piece) {
      item.early += text
      return
    }
    if (text === '') return
    // A whole input at the start is a placeholder if pieces follow.
    if (piece.held !== '' && !isObject(tryParse(piece.held))) this.#say(piece, piece.held)
    piece.held = ''
    this.#say(piece, text)
  }

  /** A piece is repeated as a whole, and no more of it follows. */
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

  /** Citations that are new. */
  cited(item: StreamItem, key: string, citations: readonly Citation[]): void {
    const part = this.#piece(item, key, 'text')?.part
    if (!part || citations.length === 0) return
    part.citations += citations.length
    this.#detail(part, { citations })
  }

  /** Log probabilities that are new. */
  probable(item: StreamItem, key: string, logprobs: readonly JsonObject[]): void {
    const part = item.pieces.get(key)?.part
    if (!part || logprobs.length === 0) return
    part.logprobs += logprobs.length
    this.#detail(part, { logprobs })
  }

  /** An item as its own end event, or the answer's, repeats it. */
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

  /** The item is complete. Its parts end when the next item begins, since the answer's end may add to them. */
  done(item: StreamItem): void {
    item.isDone = true
    if (item.type === 'message' || item.type === 'reasoning') this.#closing = item
    else this.close(item)
  }

  /** No more of the item follows. */
  close(item: StreamItem): void {
    item.isDone = true
    for (const piece of item.pieces.values()) {
      if (piece.held !== '' && piece.text.length === 0) this.#say(piece, piece.held)
      piece.held = ''
      this.#end(piece.part)
    }
  }

  /** True if the reported text of an item is a prefix of a whole item's text, or all of it. */
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

  /** The piece with this key, begun if possible; a call cannot begin before its name is known. */
  #piece(item: StreamItem, key: string, type: 'text' | 'refusal'): StreamPiece | undefined {
    const known = item.pieces.get(key)
    if (known) return known
    if (item.type === 'message') return this.#begin(item, key, { type, text: '' })
    if (item.type !== 'reasoning') return undefined
    const piece = { text: new TextBuffer(), part: this.thought(item, key.startsWith('text')), held: '' }
    // The paragraphs of a summary are one thought.
    if (key.startsWith('summary') && [...item.pieces.values()].some(({ text }) => text.length > 0))
      this.#events.push({ type: 'delta', choice: 0, index: piece.part.index, text: gap })
    item.pieces.set(key, piece)
    return piece
  }

  #begin(item: StreamItem, key: string, part: ReplyPart): StreamPiece {
    // The content parts of a message follow one another.
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

  /** Reports the part of a whole text that was not reported yet. */
  #rest(piece: StreamPiece, whole: string): void {
    const { text } = piece
    if (whole.length <= text.length || !whole.startsWith(text.toString())) return
    const rest = whole.slice(text.length)
    piece.held = ''
    this.#say(piece, rest)
  }

  /** More of a piece; if its part has ended, the text continues in a new part. */
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

/** True if the reported input is not complete JSON and differs from the whole input. */
function isOther(input: string, whole: string): boolean {
  return whole !== '' && input !== whole && !isObject(tryParse(input))
}
