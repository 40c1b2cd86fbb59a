import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { StreamDecoder } from '../dialect.ts'
import { brokenOff, unreadable } from '../failure.ts'
import { looseCount, looseList, looseObject, looseText } from '../fields.ts'
import { decodeFailure } from '../openai-failure.ts'
import { readUsage, usageOf } from '../openai-usage.ts'
import type { ReplyPart, StreamEvent } from '../reply.ts'
import { readSeal } from '../seal.ts'
import { citationIn } from './annotations.ts'
import { callIn, contentIn, outputIn } from './reply.ts'
import { stopIn } from './stop.ts'

const dialect = 'openai-responses'

/** A part that has begun. */
interface OpenPart {
  readonly index: number
  readonly type: ReplyPart['type']
  /** Characters that came as deltas; the events that repeat the whole add only what is missing. */
  written: number
}

/** Follows a stream of response events (OpenAI API reference, "Streaming events" of the Responses API). */
export class ResponseStreamDecoder implements StreamDecoder {
  /** Open parts by item, and by content part where an item has several. */
  readonly #open = new Map<string, OpenPart>()
  readonly #kinds = new Set<ReplyPart['type']>()
  #parts = 0
  #started = false
  #ended = false

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '' || data.trim() === '[DONE]') return []
    const event = tryParse(data)
    if (!isObject(event)) return this.#end([{ type: 'error', failure: unreadable }])
    const type = looseText(event['type'])
    const events: StreamEvent[] = []
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        this.#start(looseObject(event['response']), events)
        return events
      case 'response.completed':
      case 'response.incomplete':
        return this.#complete(looseObject(event['response']))
      case 'response.failed':
      case 'error':
        return this.#fail(event)
      default:
        this.#item(type, event, events)
        return events
    }
  }

  finish(): StreamEvent[] {
    return this.#ended ? [] : this.#end([{ type: 'error', failure: brokenOff }])
  }

  #end(events: StreamEvent[]): StreamEvent[] {
    this.#ended = true
    return events
  }

  #start(response: JsonObject, events: StreamEvent[]): void {
    if (this.#started) return
    this.#started = true
    const id = looseText(response['id'])
    const model = looseText(response['model'])
    const created = Math.floor(Number(response['created_at'])) || 0
    events.push({
      type: 'start',
      ...(id && { id }),
      ...(model && { model }),
      ...(created > 0 && { createdAtSeconds: created }),
    })
  }

  #complete(response: JsonObject): StreamEvent[] {
    const usage = readUsage(usageOf(response))
    const kinds = [...this.#kinds].map((type) => ({ type }))
    return this.#end([
      ...(usage ? [{ type: 'usage', usage } as const] : []),
      { type: 'stop', choice: 0, stop: stopIn(response, kinds) },
      { type: 'end' },
    ])
  }

  #fail(event: JsonObject): StreamEvent[] {
    const response = looseObject(event['response'])
    const usage = readUsage(usageOf(response))
    const error = isObject(response['error']) ? response['error'] : isObject(event['error']) ? event['error'] : event
    // A bare event's own type says "error", which is no kind of one.
    const { type, ...rest } = error
    const failure = decodeFailure(0, { error: type === 'error' ? rest : error })
    return this.#end([...(usage ? [{ type: 'usage', usage } as const] : []), { type: 'error', failure }])
  }

  #item(type: string, event: JsonObject, events: StreamEvent[]): void {
    const item = String(looseCount(event['output_index']))
    const content = `${item} ${looseCount(event['content_index'])}`
    switch (type) {
      case 'response.output_item.added':
        this.#added(item, looseObject(event['item']), events)
        break
      case 'response.output_item.done':
        this.#done(item, looseObject(event['item']), events)
        break
      case 'response.content_part.added': {
        const part = looseObject(event['part'])
        if (part['type'] !== 'reasoning_text') this.#begin(content, contentIn(part), events)
        break
      }
      case 'response.content_part.done':
        this.#finish(content, events)
        break
      case 'response.output_text.delta':
      case 'response.refusal.delta': {
        this.#delta(content, looseText(event['delta']), events)
        const open = this.#open.get(content)
        const logprobs = looseList(event['logprobs'])
        if (open && logprobs.length > 0)
          events.push({ type: 'detail', choice: 0, index: open.index, detail: { logprobs } })
        break
      }
      case 'response.output_text.annotation.added': {
        const open = this.#open.get(content)
        const citations = [citationIn(looseObject(event['annotation']))]
        if (open) events.push({ type: 'detail', choice: 0, index: open.index, detail: { citations } })
        break
      }
      case 'response.reasoning_summary_part.added':
        if (looseCount(event['summary_index']) > 0) this.#delta(item, '\n\n', events)
        break
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#delta(item, looseText(event['delta']), events)
        break
      case 'response.output_text.done':
        this.#whole(content, looseText(event['text']), events)
        break
      case 'response.refusal.done':
        this.#whole(content, looseText(event['refusal']), events)
        break
      case 'response.function_call_arguments.done':
        this.#whole(item, looseText(event['arguments']), events)
        break
      case 'response.custom_tool_call_input.done':
        this.#whole(item, looseText(event['input']), events)
        break
      default:
    }
  }

  #added(key: string, item: JsonObject, events: StreamEvent[]): void {
    if (item['type'] === 'function_call' || item['type'] === 'custom_tool_call') {
      this.#begin(key, callIn(item), events)
    } else if (item['type'] === 'reasoning') {
      this.#begin(key, { type: 'reasoning', text: '' }, events)
    }
  }

  /** The whole item: what did not come in pieces is taken from it. */
  #done(key: string, item: JsonObject, events: StreamEvent[]): void {
    const open = this.#open.get(key)
    const parts = outputIn(item)
    const [whole] = parts
    if (item['type'] === 'message') {
      for (const [at, part] of parts.entries()) this.#message(`${key} ${at}`, part, events)
      return
    }
    if (!open) {
      for (const part of parts) {
        this.#begin(key, part, events)
        this.#finish(key, events)
      }
      return
    }
    if (whole?.type === 'tool-call') this.#rest(key, whole.input, events)
    if (whole?.type === 'reasoning') {
      if (open.written === 0) this.#rest(key, whole.text, events)
      const sealed = looseText(item['encrypted_content'])
      const seal = sealed === '' ? undefined : readSeal(sealed, dialect)
      if (seal) events.push({ type: 'detail', choice: 0, index: open.index, detail: { seal } })
    }
    this.#finish(key, events)
  }

  /** A part of a message that no event told of. */
  #message(key: string, part: ReplyPart, events: StreamEvent[]): void {
    if (this.#open.has(key)) this.#finish(key, events)
    else if (!this.#told.has(key)) {
      this.#begin(key, part, events)
      this.#finish(key, events)
    }
  }

  readonly #told = new Set<string>()

  #begin(key: string, part: ReplyPart, events: StreamEvent[]): void {
    const open: OpenPart = { index: this.#parts++, type: part.type, written: lengthOf(part) }
    this.#open.set(key, open)
    this.#told.add(key)
    this.#kinds.add(part.type)
    events.push({ type: 'part', choice: 0, index: open.index, part })
  }

  #delta(key: string, text: string, events: StreamEvent[]): void {
    // Services that leave the start of a content part out mean one of text.
    if (!this.#open.has(key) && key.includes(' ')) this.#begin(key, { type: 'text', text: '' }, events)
    const open = this.#open.get(key)
    if (!open || text === '') return
    open.written += text.length
    events.push({ type: 'delta', choice: 0, index: open.index, text })
  }

  #rest(key: string, whole: string, events: StreamEvent[]): void {
    const open = this.#open.get(key)
    if (open && whole.length > open.written) this.#delta(key, whole.slice(open.written), events)
  }

  /** What was said in pieces is repeated whole: no more of it comes. */
  #whole(key: string, whole: string, events: StreamEvent[]): void {
    this.#rest(key, whole, events)
    const open = this.#open.get(key)
    if (open) events.push({ type: 'detail', choice: 0, index: open.index, detail: { isWhole: true } })
  }

  #finish(key: string, events: StreamEvent[]): void {
    const open = this.#open.get(key)
    this.#open.delete(key)
    if (open) events.push({ type: 'part-end', choice: 0, index: open.index })
  }
}

function lengthOf(part: ReplyPart): number {
  if (part.type === 'tool-call') return part.input.length
  return part.type === 'text' || part.type === 'refusal' ? part.text.length : 0
}
