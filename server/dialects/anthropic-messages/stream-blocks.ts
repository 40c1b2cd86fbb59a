import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { TextBuffer } from '../metering/text-buffer.ts'
import { looseObject, looseText } from '../neutral/fields.ts'
import type { ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { readSeal } from '../wire/thought-signature.ts'
import { citationIn } from './citations.ts'
import { replyBlockIn } from './reply.ts'

const dialect = 'anthropic-messages'

/** A block that has begun but not ended. */
interface OpenBlock {
  readonly type: ReplyPart['type']
  readonly text: TextBuffer
  /** The input that was sent with the start of a call. It is used if no deltas follow. */
  held: string
  isSealed: boolean
}

/**
 * Converts the blocks of one stream to parts. Some services repeat the complete block at its end. If the repetition
 * contains more than the deltas did, the additional content is reported once.
 */
export class StreamBlocks {
  /** True if part of a call's input was already sent on and the complete input then turned out to be different. */
  isContradictory = false
  /** True if a block has ended whose type exists only at Anthropic and whose input is not a JSON object. */
  hasBrokenInput = false
  readonly #open = new Map<number, OpenBlock>()
  /** Indexes of all blocks that have begun. */
  readonly #begun = new Set<number>()
  /** Open blocks whose types exist only at Anthropic. Each is passed on in one piece when its input is complete. */
  readonly #natives = new Map<number, { block: JsonObject; input: string }>()

  /** The start of a block. */
  start(index: number, block: JsonObject): StreamEvent[] {
    this.#begun.add(index)
    const part = replyBlockIn(block)
    if (part.type !== 'native') return this.#begin(index, part)
    this.#natives.set(index, { block, input: '' })
    return []
  }

  #begin(index: number, part: ReplyPart): StreamEvent[] {
    const open: OpenBlock = { type: part.type, text: new TextBuffer(), held: '', isSealed: 'seal' in part }
    this.#begun.add(index)
    this.#open.set(index, open)
    if (part.type === 'text' || part.type === 'reasoning') open.text.add(part.text)
    if (part.type !== 'tool-call') return [{ type: 'part', choice: 0, index, part }]
    if (part.input !== '{}') open.held = part.input
    return [{ type: 'part', choice: 0, index, part: { ...part, input: '' } }]
  }

  /** True for a block that has begun but not ended. */
  isOpen(index: number): boolean {
    return this.#open.has(index) || this.#natives.has(index)
  }

  /** True if any block has begun but not ended. */
  get hasOpen(): boolean {
    return this.#open.size > 0 || this.#natives.size > 0
  }

  /** A piece of a block. */
  delta(index: number, delta: JsonObject): StreamEvent[] {
    const at = { choice: 0, index } as const
    switch (delta['type']) {
      case 'text_delta':
        return this.#more(index, 'text', looseText(delta['text']))
      case 'thinking_delta':
        return this.#more(index, 'reasoning', looseText(delta['thinking']))
      case 'input_json_delta':
        return this.#input(index, looseText(delta['partial_json']))
      case 'signature_delta': {
        const open = this.#open.get(index)
        if (open) open.isSealed = true
        return [{ type: 'detail', ...at, detail: { seal: readSeal(looseText(delta['signature']), dialect) } }]
      }
      case 'citations_delta':
        return [{ type: 'detail', ...at, detail: { citations: [citationIn(looseObject(delta['citation']))] } }]
      default:
        return []
    }
  }

  /** The end of a block. Some services repeat the complete block in it. */
  stop(index: number, whole: unknown): StreamEvent[] {
    const native = this.#natives.get(index)
    if (native) {
      this.#natives.delete(index)
      const input = tryParse(native.input)
      this.hasBrokenInput ||= native.input !== '' && !isObject(input)
      const value = isObject(input) ? { ...native.block, input } : native.block
      return [
        { type: 'part', choice: 0, index, part: { type: 'native', dialect, value } },
        { type: 'part-end', choice: 0, index },
      ]
    }
    const rest = isObject(whole) ? this.#rest(index, whole) : []
    const open = this.#open.get(index)
    this.#open.delete(index)
    if (!open) return rest
    const held: StreamEvent[] = open.held === '' ? [] : [{ type: 'delta', choice: 0, index, text: open.held }]
    return [...rest, ...held, { type: 'part-end', choice: 0, index }]
  }

  /** The end of the response, which may repeat its complete content. */
  finish(content: readonly JsonObject[]): StreamEvent[] {
    const events: StreamEvent[] = []
    for (const [index, block] of content.entries()) {
      if (!this.#begun.has(index)) events.push(...this.start(index, block), ...this.stop(index, undefined))
      else if (this.#open.has(index)) events.push(...this.stop(index, block))
    }
    for (const index of [...this.#open.keys(), ...this.#natives.keys()]) events.push(...this.stop(index, undefined))
    return events
  }

  /**
   * Adds a piece to a text or reasoning part. If the service sent no start of the block, this method begins the block.
   */
  #more(index: number, type: 'text' | 'reasoning', text: string): StreamEvent[] {
    if (text === '') return []
    const begun = this.#begun.has(index) ? [] : this.#begin(index, { type, text: '' })
    this.#open.get(index)?.text.add(text)
    return [...begun, { type: 'delta', choice: 0, index, text }]
  }

  #input(index: number, text: string): StreamEvent[] {
    const native = this.#natives.get(index)
    if (native) native.input += text
    if (native || text === '') return []
    const open = this.#open.get(index)
    if (open) open.held = ''
    open?.text.add(text)
    return [{ type: 'delta', choice: 0, index, text }]
  }

  #rest(index: number, whole: JsonObject): StreamEvent[] {
    const part = replyBlockIn(whole)
    const open = this.#open.get(index)
    if (!open) return this.#begun.has(index) ? [] : this.start(index, whole)
    if (open.type !== part.type) return []
    const events: StreamEvent[] = []
    const text =
      part.type === 'tool-call' ? part.input : part.type === 'text' || part.type === 'reasoning' ? part.text : ''
    const textSoFar = open.text.toString()
    const isNew = text.length > textSoFar.length && text.startsWith(textSoFar)
    // An empty input at the end is ignored if the start of the call contained an input.
    if (isNew && !(text === '{}' && open.held !== '')) {
      open.held = ''
      events.push({ type: 'delta', choice: 0, index, text: text.slice(textSoFar.length) })
    } else if (part.type === 'tool-call' && textSoFar !== '' && !isObject(tryParse(textSoFar))) {
      this.isContradictory = true
    }
    if (part.type === 'reasoning' && part.seal && !open.isSealed)
      events.push({ type: 'detail', choice: 0, index, detail: { seal: part.seal } })
    return events
  }
}
