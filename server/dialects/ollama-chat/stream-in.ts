import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { StreamDecoder } from '../neutral/dialect.ts'
import { brokenOff, messageOf, unreadableEvent } from '../neutral/failure.ts'
import { looseObject, looseText } from '../neutral/fields.ts'
import type { StreamEvent } from '../neutral/reply.ts'
import { callsIn, createdIn, stopIn, usageIn } from './reply.ts'

/** Decodes a stream of chat responses. The last response is marked `done`. */
export class OllamaStreamDecoder implements StreamDecoder {
  readonly #idSeed: string
  #started = false
  #ended = false
  #parts = 0
  #calls = 0
  #open: { index: number; type: 'text' | 'reasoning' } | undefined

  constructor(idSeed: string) {
    this.#idSeed = idSeed
  }

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '') return []
    const wire = tryParse(data)
    if (!isObject(wire)) return [unreadableEvent]
    if (wire['error'] !== undefined) {
      const failure = { status: 502, kind: 'server', message: messageOf(wire, 0) } as const
      return this.#end([{ type: 'error', failure }])
    }
    const message = looseObject(wire['message'])
    return [
      ...this.#start(wire),
      ...this.#more('reasoning', looseText(message['thinking'])),
      ...this.#more('text', looseText(message['content'])),
      ...this.#called(message),
      ...(wire['done'] === true ? this.#finish(wire) : []),
    ]
  }

  finish(): StreamEvent[] {
    return this.#ended ? [] : this.#end([{ type: 'error', failure: brokenOff }])
  }

  #end(events: StreamEvent[]): StreamEvent[] {
    this.#ended = true
    return events
  }

  #start(wire: JsonObject): StreamEvent[] {
    if (this.#started) return []
    this.#started = true
    const model = looseText(wire['model'])
    const created = createdIn(wire['created_at'])
    return [{ type: 'start', ...(model && { model }), ...(created !== undefined && { createdAtSeconds: created }) }]
  }

  #more(type: 'text' | 'reasoning', text: string): StreamEvent[] {
    if (text === '') return []
    const open = this.#open
    if (open?.type === type) return [{ type: 'delta', choice: 0, index: open.index, text }]
    const closed = this.#close()
    const index = this.#parts++
    this.#open = { index, type }
    const part = { type, text } as const
    return [...closed, { type: 'part', choice: 0, index, part }]
  }

  #called(message: JsonObject): StreamEvent[] {
    const calls = callsIn(message, this.#idSeed, this.#calls)
    if (calls.length === 0) return []
    this.#calls += calls.length
    const events = this.#close()
    for (const part of calls) {
      const index = this.#parts++
      events.push({ type: 'part', choice: 0, index, part }, { type: 'part-end', choice: 0, index })
    }
    return events
  }

  #close(): StreamEvent[] {
    const open = this.#open
    this.#open = undefined
    return open ? [{ type: 'part-end', choice: 0, index: open.index }] : []
  }

  #finish(wire: JsonObject): StreamEvent[] {
    const usage = usageIn(wire)
    return this.#end([
      ...this.#close(),
      { type: 'stop', choice: 0, stop: stopIn(wire['done_reason'], this.#calls > 0) },
      ...(usage ? [{ type: 'usage', usage } as const] : []),
      { type: 'end' },
    ])
  }
}
