import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { StreamDecoder } from '../neutral/dialect.ts'
import { brokenOff, unreadableEvent } from '../neutral/failure.ts'
import { looseCount, looseObject, looseText } from '../neutral/fields.ts'
import type { ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { streamFailure } from './failure.ts'
import { citationIn, sealIn, stopIn, usageIn } from './reply.ts'

/**
 * Decodes a ConverseStream. Every event is an object with one field, named after the event. The usage is in the last
 * event, after the stop reason.
 */
export class ConverseStreamDecoder implements StreamDecoder {
  #ended = false
  #stopped = false
  #parts = 0
  /** Maps the service's indexes of open blocks to our indexes. */
  readonly #open = new Map<number, number>()
  /** Blocks of tools that the service runs itself. */
  readonly #hidden = new Set<number>()

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '') return []
    const wire = tryParse(data)
    const [name, value] = isObject(wire) ? (Object.entries(wire)[0] ?? ['', undefined]) : ['', undefined]
    if (!isObject(wire)) return [unreadableEvent]
    const event = looseObject(value)
    const index = looseCount(event['contentBlockIndex'])
    switch (name) {
      case 'messageStart':
        return [{ type: 'start' }]
      case 'contentBlockStart':
        return this.#start(index, looseObject(event['start']))
      case 'contentBlockDelta':
        return this.#delta(index, looseObject(event['delta']))
      case 'contentBlockStop':
        return this.#close(index)
      case 'messageStop':
        this.#stopped = true
        return [...this.#closeAll(), { type: 'stop', choice: 0, stop: stopIn(event['stopReason']) }]
      case 'metadata':
        return this.#metadata(event)
      default:
        return /exception$/i.test(name) ? this.#end([{ type: 'error', failure: streamFailure(name, event) }]) : []
    }
  }

  finish(): StreamEvent[] {
    if (this.#ended) return []
    return this.#end(this.#stopped ? [{ type: 'end' }] : [{ type: 'error', failure: brokenOff }])
  }

  #end(events: StreamEvent[]): StreamEvent[] {
    this.#ended = true
    return events
  }

  #metadata(event: JsonObject): StreamEvent[] {
    const usage = usageIn(event['usage'])
    const events: StreamEvent[] = usage ? [{ type: 'usage', usage }] : []
    return this.#stopped ? this.#end([...events, { type: 'end' }]) : events
  }

  #start(block: number, start: JsonObject): StreamEvent[] {
    const call = start['toolUse']
    if (!isObject(call)) {
      // These are results of tools that the service ran itself. The caller does not need them.
      if (isObject(start['toolResult'])) this.#hidden.add(block)
      return []
    }
    if (call['type'] === 'server_tool_use') {
      this.#hidden.add(block)
      return []
    }
    const id = looseText(call['toolUseId'])
    return this.#begin(block, { type: 'tool-call', id, name: looseText(call['name']), input: '' })
  }

  #begin(block: number, part: ReplyPart): StreamEvent[] {
    const index = this.#parts++
    this.#open.set(block, index)
    return [{ type: 'part', choice: 0, index, part }]
  }

  #delta(block: number, delta: JsonObject): StreamEvent[] {
    if (this.#hidden.has(block)) return []
    const { text, toolUse, reasoningContent, citation } = delta
    if (typeof text === 'string') return this.#more(block, { type: 'text', text: '' }, text)
    if (isObject(toolUse)) return this.#more(block, undefined, looseText(toolUse['input']))
    if (isObject(reasoningContent)) return this.#thought(block, reasoningContent)
    if (!isObject(citation)) return []
    const opened = this.#opened(block, { type: 'text', text: '' })
    const detail = { citations: [citationIn(citation)] }
    return [...opened, { type: 'detail', choice: 0, index: this.#indexOf(block), detail }]
  }

  #thought(block: number, content: JsonObject): StreamEvent[] {
    const redacted = looseText(content['redactedContent'])
    if (redacted !== '' && !this.#open.has(block))
      return this.#begin(block, { type: 'reasoning', text: '', redacted: true, seal: sealIn(redacted) })
    const signature = looseText(content['signature'])
    if (signature === '') return this.#more(block, { type: 'reasoning', text: '' }, looseText(content['text']))
    const opened = this.#opened(block, { type: 'reasoning', text: '' })
    const detail = { seal: sealIn(signature) }
    return [...opened, { type: 'detail', choice: 0, index: this.#indexOf(block), detail }]
  }

  /** Adds a piece to a block. If the service sent no start of the block, the first piece starts it. */
  #more(block: number, part: ReplyPart | undefined, text: string): StreamEvent[] {
    if (text === '') return []
    const opened = part ? this.#opened(block, part) : []
    return this.#open.has(block) ? [...opened, { type: 'delta', choice: 0, index: this.#indexOf(block), text }] : opened
  }

  #opened(block: number, part: ReplyPart): StreamEvent[] {
    return this.#open.has(block) ? [] : this.#begin(block, part)
  }

  #indexOf(block: number): number {
    return this.#open.get(block) ?? 0
  }

  #close(block: number): StreamEvent[] {
    const index = this.#open.get(block)
    this.#open.delete(block)
    this.#hidden.delete(block)
    return index === undefined ? [] : [{ type: 'part-end', choice: 0, index }]
  }

  #closeAll(): StreamEvent[] {
    return [...this.#open.keys()].flatMap((block) => this.#close(block))
  }
}
