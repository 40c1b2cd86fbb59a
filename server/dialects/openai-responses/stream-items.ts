import type { JsonObject } from '../../lib/json.ts'
import type { TextBuffer } from '../metering/text-buffer.ts'
import { looseText } from '../neutral/fields.ts'
import type { ReplyPart } from '../neutral/reply.ts'

/** A part of the answer that has begun. */
export interface StreamPart {
  readonly index: number
  readonly type: ReplyPart['type']
  isEnded: boolean
  /**
   * The counts of the citations and of the log probabilities that were passed on. `isSealed` is true once the signature
   * was passed on.
   */
  citations: number
  logprobs: number
  isSealed: boolean
}

/** A text that the service numbers separately: a content part, a summary part, or the input of a call. */
export interface StreamPiece {
  /** The text passed on so far. */
  readonly text: TextBuffer
  part: StreamPart
  /**
   * The input that arrived with the start of a call. It is a placeholder if deltas follow. Otherwise it is the complete
   * input.
   */
  held: string
}

/** The state of one output item so far. */
export interface StreamItem {
  readonly type: string
  callId: string
  readonly pieces: Map<string, StreamPiece>
  /** Input of a call whose name has not arrived. */
  early: string
  /** True once the item's start event has arrived, not only deltas. */
  hasBegun: boolean
  /** The indexes of the content parts whose start events have arrived. */
  readonly begunContents: Set<string>
  isDone: boolean
  /** True once the item has been matched with an item of the output that the last event repeats. */
  isClaimed: boolean
}

/**
 * Finds the item to which an event refers. Some services omit the index or the id. Others give all items the same
 * index, or give an item a different id in every event.
 */
export class StreamItems {
  readonly #all: StreamItem[] = []
  readonly #byId = new Map<string, StreamItem>()
  readonly #byIndex = new Map<number, StreamItem>()

  get all(): readonly StreamItem[] {
    return this.#all
  }

  /** The item to which a delta, or any other event within an item, belongs. */
  within(event: JsonObject, type: string): StreamItem {
    const id = looseText(event['item_id'])
    const outputIndex = outputIndexOf(event)
    const known = this.#byId.get(id) ?? this.#open(outputIndex, type)
    return known?.type === type ? known : this.#new(type, id, '', outputIndex)
  }

  /** The item that starts with this event. */
  begun(event: JsonObject, item: JsonObject): StreamItem {
    const id = looseText(item['id'])
    const type = looseText(item['type'])
    const open = this.#open(outputIndexOf(event), type)
    const candidate = this.#byId.get(id) ?? (open?.hasBegun ? undefined : open)
    const known =
      candidate?.type === type ? candidate : this.#new(type, id, looseText(item['call_id']), outputIndexOf(event))
    this.#name(known, item)
    known.hasBegun = true
    return known
  }

  /** The item that this event ends. The event repeats the whole item. */
  done(event: JsonObject, item: JsonObject): StreamItem {
    const id = looseText(item['id'])
    const type = looseText(item['type'])
    const outputIndex = outputIndexOf(event)
    const open = this.#open(outputIndex, type)
    const known = this.#byId.get(id) ?? (open && isSameCall(open, item) ? open : undefined)
    if (known?.type !== type) return this.#new(type, id, looseText(item['call_id']), outputIndex)
    this.#name(known, item)
    return known
  }

  /**
   * The item at `outputIndex` in the output of the last event. `isTold` returns true if the text of the item seems to
   * have been passed on already.
   */
  claimed(item: JsonObject, outputIndex: number, isTold: (known: StreamItem) => boolean): StreamItem {
    const type = looseText(item['type'])
    const isFree = (known: StreamItem | undefined): known is StreamItem =>
      known?.type === type && !known.isClaimed && isSameCall(known, item)
    const byId = this.#byId.get(looseText(item['id']))
    const byIndex = this.#byIndex.get(outputIndex)
    const match = isFree(byId)
      ? byId
      : isFree(byIndex)
        ? byIndex
        : this.#all.find((known) => isFree(known) && (hasCallId(known, item) || isTold(known)))
    const known = match ?? this.#new(type, looseText(item['id']), looseText(item['call_id']), undefined)
    known.isClaimed = true
    return known
  }

  /**
   * The item with this index and type that has not ended. Without an index, this is the last item of the type that has
   * not ended.
   */
  #open(outputIndex: number | undefined, type: string): StreamItem | undefined {
    if (outputIndex === undefined) return this.#all.findLast((item) => item.type === type && !item.isDone)
    const known = this.#byIndex.get(outputIndex)
    return known?.type === type && !known.isDone ? known : undefined
  }

  #name(known: StreamItem, item: JsonObject): void {
    const id = looseText(item['id'])
    if (id !== '') this.#byId.set(id, known)
    known.callId ||= looseText(item['call_id'])
  }

  #new(type: string, id: string, callId: string, outputIndex: number | undefined): StreamItem {
    const item: StreamItem = {
      type,
      callId,
      pieces: new Map(),
      early: '',
      hasBegun: false,
      begunContents: new Set(),
      isDone: false,
      isClaimed: false,
    }
    this.#all.push(item)
    if (id !== '') this.#byId.set(id, item)
    if (outputIndex !== undefined) this.#byIndex.set(outputIndex, item)
    return item
  }
}

function outputIndexOf(event: JsonObject): number | undefined {
  const outputIndex = event['output_index']
  return typeof outputIndex === 'number' ? outputIndex : undefined
}

function hasCallId(known: StreamItem, item: JsonObject): boolean {
  return known.callId !== '' && known.callId === item['call_id']
}

/** Calls with different ids are different calls, whatever their index. */
function isSameCall(known: StreamItem, item: JsonObject): boolean {
  const callId = looseText(item['call_id'])
  return known.callId === '' || callId === '' || known.callId === callId
}
