import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { StreamDecoder } from '../neutral/dialect.ts'
import { brokenOff, contradictory, unreadable, unreadableEvent } from '../neutral/failure.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { StreamEvent } from '../neutral/reply.ts'
import { decodeFailure } from './failure.ts'
import { stopIn } from './stop.ts'
import { StreamBlocks } from './stream-blocks.ts'
import { laterUsage, usageIn } from './usage.ts'

/** Decodes a stream of message events (Anthropic docs, "Streaming messages"). */
export class MessageStreamDecoder implements StreamDecoder {
  #usage: JsonObject = {}
  #ended = false
  /** True once an event could not be read. */
  #hasGap = false
  readonly #blocks = new StreamBlocks()
  /** The complete content, if the start or the end of the message contains it. */
  #content: JsonObject[] = []

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '') return []
    const event = tryParse(data)
    if (!isObject(event)) {
      this.#hasGap = true
      return [unreadableEvent]
    }
    const index = looseCount(event['index'])
    switch (event['type']) {
      case 'message_start':
        return this.#start(looseObject(event['message']))
      case 'content_block_start':
        return this.#blocks.start(index, looseObject(event['content_block']))
      case 'content_block_delta':
        // The start of this block was in an unreadable event, so client programs could not process the rest of the
        // block.
        if (this.#hasGap && !this.#blocks.isOpen(index)) return this.#incomplete()
        return this.#blocks.delta(index, looseObject(event['delta']))
      case 'content_block_stop':
        if (this.#hasGap && !this.#blocks.isOpen(index)) return this.#incomplete()
        return this.#withFailure(this.#blocks.stop(index, event['content_block']))
      case 'message_delta':
        return this.#messageDelta(event)
      case 'message_stop':
        return this.#stop(looseObject(event['message']))
      case 'error':
        return this.#end([{ type: 'error', failure: decodeFailure(0, event) }])
      case 'ping':
        return [{ type: 'ping' }]
      default:
        return []
    }
  }

  finish(): StreamEvent[] {
    return this.#ended ? [] : this.#end([{ type: 'error', failure: brokenOff }])
  }

  #end(events: StreamEvent[]): StreamEvent[] {
    this.#ended = true
    return events
  }

  #incomplete(): StreamEvent[] {
    return this.#end([{ type: 'error', failure: unreadable }])
  }

  /**
   * True if an unreadable event contained the end of a block, or a piece of a block whose type exists only at
   * Anthropic.
   */
  #isIncompleteAtEnd(): boolean {
    return this.#hasGap && (this.#blocks.hasOpen || this.#blocks.hasBrokenInput)
  }

  #withFailure(events: StreamEvent[]): StreamEvent[] {
    return this.#blocks.isContradictory ? this.#end([...events, { type: 'error', failure: contradictory }]) : events
  }

  #start(message: JsonObject): StreamEvent[] {
    this.#usage = looseObject(message['usage'])
    this.#content = looseList(message['content'])
    const usage = usageIn(this.#usage)
    const id = looseText(message['id'])
    const model = looseText(message['model'])
    return [{ type: 'start', ...(id && { id }), ...(model && { model }), ...(usage && { usage }) }]
  }

  #messageDelta(event: JsonObject): StreamEvent[] {
    this.#usage = laterUsage(this.#usage, event['usage'])
    const usage = usageIn(this.#usage)
    const delta = looseObject(event['delta'])
    if (delta['stop_reason'] && this.#isIncompleteAtEnd()) return this.#incomplete()
    if (Array.isArray(delta['content'])) this.#content = looseList(delta['content'])
    const events: StreamEvent[] = usage ? [{ type: 'usage', usage }] : []
    if (delta['stop_reason'])
      events.push({ type: 'stop', choice: 0, stop: stopIn(delta['stop_reason'], delta['stop_sequence']) })
    return events
  }

  /**
   * The end of the message. Blocks without events of their own are taken from the complete content, if an event
   * contained it.
   */
  #stop(message: JsonObject): StreamEvent[] {
    if (this.#isIncompleteAtEnd()) return this.#incomplete()
    if (Array.isArray(message['content'])) this.#content = looseList(message['content'])
    const events = this.#withFailure(this.#blocks.finish(this.#content))
    return this.#ended ? events : this.#end([...events, { type: 'end' }])
  }
}
