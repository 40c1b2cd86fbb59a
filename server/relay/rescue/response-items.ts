import { looseList, looseObject } from '../../dialects/neutral/fields.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'

/** An output item that has begun. */
interface Item {
  readonly id: unknown
  readonly type: unknown
  /** The index of its last content part; undefined = none has begun. */
  content: number | undefined
  /** The complete item; undefined until it has ended. */
  done: JsonObject | undefined
}

/**
 * Fields of a response that describe how it ended. The other fields repeat the request. They have the values that were
 * sent at the beginning of the stream.
 */
const endFields = ['status', 'usage', 'completed_at', 'incomplete_details', 'error'] as const

/**
 * Tracks the ids and indexes of the output items in a Responses API stream that is passed on unchanged. The gateway's
 * encoder may give the same items different ids and indexes, so those of its events are replaced.
 */
export class ResponseItems {
  #sequence: number | undefined
  #response: JsonObject | undefined
  readonly #items = new Map<number, Item>()
  /** The item that the gateway's events have begun but not ended. */
  #shadowOpen: { at: number; type: unknown } | undefined
  #isAdopted = false
  /** Maps the index of an item in the gateway's events to its index in the stream. */
  readonly #numbers = new Map<number, number>()

  note(data: string): void {
    const event = tryParse(data)
    if (!isObject(event)) return
    const { sequence_number: sequence, type } = event
    if (typeof sequence === 'number') this.#sequence = sequence
    if (type === 'response.created') this.#response = looseObject(event['response'])
    const at = typeof event['output_index'] === 'number' ? event['output_index'] : undefined
    if (at === undefined) return
    if (type === 'response.output_item.added') this.#begin(at, looseObject(event['item']))
    const item = this.#items.get(at)
    if (!item) return
    if (typeof event['content_index'] === 'number') item.content = event['content_index']
    if (type === 'response.output_item.done') item.done = looseObject(event['item'])
  }

  /**
   * True if a part has ended in the stream, but not in the gateway's events. This can happen because the decoder
   * reports the end of a part only when the next part begins.
   */
  get hasEnded(): boolean {
    const open = this.#shadowOpen
    return (
      open !== undefined && [...this.#items.values()].findLast(({ type }) => type === open.type)?.done !== undefined
    )
  }

  shadow({ type, output_index: at, item }: JsonObject): void {
    if (typeof at !== 'number') return
    if (type === 'response.output_item.added') this.#shadowOpen = { at, type: looseObject(item)['type'] }
    else if (type === 'response.output_item.done') this.#shadowOpen = undefined
  }

  renamed(event: JsonObject): JsonObject[] {
    if (!this.#isAdopted) this.#adopt()
    const changed = isObject(event['response'])
      ? { ...event, response: this.#ended(event['response']) }
      : typeof event['output_index'] === 'number'
        ? this.#ofItem(event, event['output_index'])
        : event
    if (!changed) return []
    if (this.#sequence === undefined) return [changed]
    return [{ ...changed, sequence_number: ++this.#sequence }]
  }

  #begin(at: number, { id, type }: JsonObject): Item {
    const item: Item = { id, type, content: undefined, done: undefined }
    this.#items.set(at, item)
    return item
  }

  get #open(): number | undefined {
    return [...this.#items].findLast(([, { done }]) => !done)?.[0]
  }

  /**
   * Maps the item that is open in the gateway's events to the item that is open in the stream. They are the same item.
   */
  #adopt(): void {
    this.#isAdopted = true
    const open = this.#open
    if (this.#shadowOpen && open !== undefined) this.#numbers.set(this.#shadowOpen.at, open)
  }

  /** An event of an item, with the ids of the stream. Undefined if the stream has already sent it. */
  #ofItem(event: JsonObject, shadowAt: number): JsonObject | undefined {
    const { type } = event
    const own = looseObject(event['item'])
    const open = this.#open
    let at = this.#numbers.get(shadowAt)
    if (at === undefined) {
      const isBegun = open !== undefined && this.#items.get(open)?.type === own['type']
      at = isBegun ? open : Math.max(-1, ...this.#items.keys()) + 1
      this.#numbers.set(shadowAt, at)
      if (isBegun) return undefined
    }
    const item = this.#items.get(at) ?? this.#begin(at, own)
    if (type === 'response.content_part.added') {
      if (item.content !== undefined) return undefined
      item.content = 0
    }
    if (type === 'response.output_item.done') item.done = { ...own, id: item.id }
    return {
      ...event,
      output_index: at,
      ...('item_id' in event && { item_id: item.id }),
      ...('content_index' in event && item.content !== undefined && { content_index: item.content }),
      ...('item' in event && { item: { ...own, id: item.id } }),
    }
  }

  /** Returns the final response with the output items as they were sent to the caller. */
  #ended(response: JsonObject): JsonObject {
    const items = [...this.#items].sort(([one], [other]) => one - other).flatMap(([, { done }]) => (done ? [done] : []))
    const end = Object.fromEntries(endFields.filter((name) => name in response).map((name) => [name, response[name]]))
    const output = items.length > 0 ? items : looseList(response['output'])
    return { ...(this.#response ?? response), ...end, output }
  }
}
