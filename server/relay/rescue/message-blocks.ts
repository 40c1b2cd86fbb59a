import { looseObject } from '../../dialects/neutral/fields.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'

/** A block that has begun but not ended. */
interface OpenBlock {
  readonly index: number
  readonly type: unknown
}

/**
 * Tracks the indexes of the content blocks in a Messages API stream that is passed on unchanged. The gateway's encoder
 * may give the same blocks different indexes, so the indexes of its events are replaced.
 */
export class MessageBlocks {
  readonly hasEnded = false
  #passed = 0
  #passedOpen: OpenBlock | undefined
  #shadowOpen: OpenBlock | undefined
  /** Maps the index of a block in the gateway's events to its index in the stream. */
  readonly #numbers = new Map<number, number>()

  note(data: string): void {
    // Skip all events except those that begin or end a block.
    if (!data.includes('content_block_st')) return
    const event = tryParse(data)
    if (!isObject(event)) return
    const index = typeof event['index'] === 'number' ? event['index'] : this.#passed
    if (event['type'] === 'content_block_start') {
      this.#passed = Math.max(this.#passed, index + 1)
      this.#passedOpen = { index, type: looseObject(event['content_block'])['type'] }
    } else if (event['type'] === 'content_block_stop') this.#passedOpen = undefined
  }

  shadow({ type, index, content_block: block }: JsonObject): void {
    if (typeof index !== 'number') return
    if (type === 'content_block_start') this.#shadowOpen = { index, type: looseObject(block)['type'] }
    else if (type === 'content_block_stop') this.#shadowOpen = undefined
  }

  renamed(event: JsonObject): JsonObject[] {
    this.#adopt()
    const { type, index } = event
    if (typeof index !== 'number') return type === 'message_delta' ? [...this.#stopped(), event] : [event]
    if (type !== 'content_block_start') {
      const number = this.#numbers.get(index) ?? index
      if (type === 'content_block_stop' && this.#passedOpen?.index === number) this.#passedOpen = undefined
      return [{ ...event, index: number }]
    }
    const open = this.#passedOpen
    // The caller has already received the start of this block, but no content. Do not send the start again.
    if (open && open.type === looseObject(event['content_block'])['type']) {
      this.#numbers.set(index, open.index)
      return []
    }
    const before = this.#stopped()
    const number = this.#passed++
    this.#numbers.set(index, number)
    this.#passedOpen = { index: number, type: looseObject(event['content_block'])['type'] }
    return [...before, { ...event, index: number }]
  }

  /**
   * Maps the block that is open in the gateway's events to the block that is open in the stream. They are the same
   * block.
   */
  #adopt(): void {
    if (this.#shadowOpen && this.#passedOpen) this.#numbers.set(this.#shadowOpen.index, this.#passedOpen.index)
    this.#shadowOpen = undefined
  }

  #stopped(): JsonObject[] {
    const open = this.#passedOpen
    this.#passedOpen = undefined
    return open ? [{ type: 'content_block_stop', index: open.index }] : []
  }
}
