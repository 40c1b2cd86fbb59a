import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { StreamDecoder } from '../neutral/dialect.ts'
import { brokenOff, unreadableEvent } from '../neutral/failure.ts'
import { looseCount, looseObject, looseText } from '../neutral/fields.ts'
import type { ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { endFailure } from './failure.ts'
import { citationIn, contentIn, stopIn, usageIn } from './reply.ts'

/** The kinds of content that the service numbers separately. */
type Kind = 'plan' | 'content' | 'call'

interface OpenPart {
  readonly index: number
  text: string
}

/** Decodes a stream of Chat events (Cohere docs, "Streaming"). */
export class CohereStreamDecoder implements StreamDecoder {
  #ended = false
  #parts = 0
  readonly #open = new Map<string, OpenPart>()
  /** The last text, for citations that arrive after it. */
  #lastText: OpenPart | undefined

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '') return []
    const event = data === '[DONE]' ? {} : tryParse(data)
    if (!isObject(event)) return [unreadableEvent]
    const delta = looseObject(event['delta'])
    const message = looseObject(delta['message'])
    const index = looseCount(event['index'])
    switch (event['type']) {
      case 'message-start':
        return [{ type: 'start', ...(looseText(event['id']) && { id: looseText(event['id']) }) }]
      case 'tool-plan-delta':
        return this.#more('plan', 0, { type: 'reasoning', text: '' }, looseText(message['tool_plan']))
      case 'content-start':
      case 'content-delta':
        return this.#content(index, looseObject(message['content']))
      case 'content-end':
        return this.#close('content', index)
      case 'tool-call-start':
        return [...this.#close('plan', 0), ...this.#call(index, looseObject(message['tool_calls']))]
      case 'tool-call-delta':
        return this.#more('call', index, undefined, argumentsOf(looseObject(message['tool_calls'])))
      case 'tool-call-end':
        return this.#close('call', index)
      case 'citation-start':
        return this.#cite(looseObject(message['citations']))
      case 'message-end':
        return this.#finish(delta)
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

  #finish(delta: JsonObject): StreamEvent[] {
    const reason = looseText(delta['finish_reason'])
    if (reason === 'ERROR' || reason === 'TIMEOUT')
      return this.#end([{ type: 'error', failure: endFailure(reason, delta) }])
    const usage = usageIn(delta['usage'])
    const closed = [...this.#open].flatMap(([key]) => this.#closeKey(key))
    return this.#end([
      ...closed,
      { type: 'stop', choice: 0, stop: stopIn(reason) },
      ...(usage ? [{ type: 'usage', usage } as const] : []),
      { type: 'end' },
    ])
  }

  #content(index: number, block: JsonObject): StreamEvent[] {
    const part = contentIn(block)
    if (!part) return []
    return [...this.#close('plan', 0), ...this.#more('content', index, { ...part, text: '' }, part.text)]
  }

  #call(index: number, call: JsonObject): StreamEvent[] {
    const called = looseObject(call['function'])
    const head: ReplyPart = { type: 'tool-call', id: looseText(call['id']), name: looseText(called['name']), input: '' }
    return [...this.#begin('call', index, head), ...this.#more('call', index, undefined, argumentsOf(call))]
  }

  #begin(kind: Kind, number: number, part: ReplyPart): StreamEvent[] {
    const key = `${kind} ${number}`
    const open = { index: this.#parts++, text: '' }
    this.#open.set(key, open)
    if (part.type === 'text') this.#lastText = open
    return [{ type: 'part', choice: 0, index: open.index, part }]
  }

  #more(kind: Kind, number: number, head: ReplyPart | undefined, text: string): StreamEvent[] {
    if (text === '') return []
    const key = `${kind} ${number}`
    const begun = head && !this.#open.has(key) ? this.#begin(kind, number, head) : []
    const open = this.#open.get(key)
    if (!open) return begun
    open.text += text
    return [...begun, { type: 'delta', choice: 0, index: open.index, text }]
  }

  #cite(citation: JsonObject): StreamEvent[] {
    const open = this.#lastText
    // A part that has ended accepts no more content.
    if (!open || ![...this.#open.values()].includes(open)) return []
    const citations = [citationIn(citation, open.text)]
    return [{ type: 'detail', choice: 0, index: open.index, detail: { citations } }]
  }

  #close(kind: Kind, number: number): StreamEvent[] {
    return this.#closeKey(`${kind} ${number}`)
  }

  #closeKey(key: string): StreamEvent[] {
    const open = this.#open.get(key)
    this.#open.delete(key)
    return open ? [{ type: 'part-end', choice: 0, index: open.index }] : []
  }
}

function argumentsOf(call: JsonObject): string {
  return looseText(looseObject(call['function'])['arguments'])
}
