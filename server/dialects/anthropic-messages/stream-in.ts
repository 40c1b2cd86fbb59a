import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { StreamDecoder } from '../dialect.ts'
import { brokenOff, unreadable } from '../failure.ts'
import { looseCount, looseObject, looseText } from '../fields.ts'
import type { StreamEvent } from '../reply.ts'
import { readSeal } from '../seal.ts'
import { citationIn } from './citations.ts'
import { decodeFailure } from './failure.ts'
import { replyBlockIn } from './reply.ts'
import { stopIn } from './stop.ts'
import { laterUsage, usageIn } from './usage.ts'

const dialect = 'anthropic-messages'

/** Follows a stream of message events (Anthropic docs, "Streaming messages"). */
export class MessageStreamDecoder implements StreamDecoder {
  #usage: JsonObject = {}
  #ended = false
  /** Blocks that only Anthropic has are handed on whole, once their input is. */
  readonly #natives = new Map<number, { block: JsonObject; input: string }>()

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '') return []
    const event = tryParse(data)
    if (!isObject(event)) return this.#end([{ type: 'error', failure: unreadable }])
    const index = looseCount(event['index'])
    switch (event['type']) {
      case 'message_start':
        return this.#start(looseObject(event['message']))
      case 'content_block_start':
        return this.#block(index, looseObject(event['content_block']))
      case 'content_block_delta':
        return this.#delta(index, looseObject(event['delta']))
      case 'content_block_stop':
        return this.#blockEnd(index)
      case 'message_delta':
        return this.#messageDelta(event)
      case 'message_stop':
        return this.#end([{ type: 'end' }])
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

  #start(message: JsonObject): StreamEvent[] {
    this.#usage = looseObject(message['usage'])
    const usage = usageIn(this.#usage)
    const id = looseText(message['id'])
    const model = looseText(message['model'])
    return [{ type: 'start', ...(id && { id }), ...(model && { model }), ...(usage && { usage }) }]
  }

  #block(index: number, block: JsonObject): StreamEvent[] {
    const part = replyBlockIn(block)
    if (part.type === 'native') {
      this.#natives.set(index, { block, input: '' })
      return []
    }
    const isStreamed = part.type === 'tool-call' && part.input === '{}'
    return [{ type: 'part', choice: 0, index, part: isStreamed ? { ...part, input: '' } : part }]
  }

  #delta(index: number, delta: JsonObject): StreamEvent[] {
    const at = { choice: 0, index } as const
    switch (delta['type']) {
      case 'text_delta':
        return [{ type: 'delta', ...at, text: looseText(delta['text']) }]
      case 'thinking_delta':
        return [{ type: 'delta', ...at, text: looseText(delta['thinking']) }]
      case 'input_json_delta': {
        const text = looseText(delta['partial_json'])
        const native = this.#natives.get(index)
        if (native) native.input += text
        return native || text === '' ? [] : [{ type: 'delta', ...at, text }]
      }
      case 'signature_delta':
        return [{ type: 'detail', ...at, detail: { seal: readSeal(looseText(delta['signature']), dialect) } }]
      case 'citations_delta':
        return [{ type: 'detail', ...at, detail: { citations: [citationIn(looseObject(delta['citation']))] } }]
      default:
        return []
    }
  }

  #blockEnd(index: number): StreamEvent[] {
    const native = this.#natives.get(index)
    if (!native) return [{ type: 'part-end', choice: 0, index }]
    const input = tryParse(native.input)
    const value = isObject(input) ? { ...native.block, input } : native.block
    return [
      { type: 'part', choice: 0, index, part: { type: 'native', dialect, value } },
      { type: 'part-end', choice: 0, index },
    ]
  }

  #messageDelta(event: JsonObject): StreamEvent[] {
    this.#usage = laterUsage(this.#usage, event['usage'])
    const usage = usageIn(this.#usage)
    const delta = looseObject(event['delta'])
    const events: StreamEvent[] = usage ? [{ type: 'usage', usage }] : []
    if (delta['stop_reason'])
      events.push({ type: 'stop', choice: 0, stop: stopIn(delta['stop_reason'], delta['stop_sequence']) })
    return events
  }
}
