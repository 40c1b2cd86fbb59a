import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { decodeFailure } from '../failures/openai-failure.ts'
import type { StreamDecoder } from '../neutral/dialect.ts'
import { brokenOff, contradictory, unreadable, unreadableEvent } from '../neutral/failure.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { Failure, StreamEvent } from '../neutral/reply.ts'
import { readUsage, usageOf } from '../openai-shared/openai-usage.ts'
import { citationIn } from './annotations.ts'
import { failedEvents } from './failed-events.ts'
import { callIn, contentIn } from './reply.ts'
import { stopIn } from './stop.ts'
import { type StreamItem, StreamItems } from './stream-items.ts'
import { StreamTeller } from './stream-teller.ts'

/**
 * Decodes a stream of response events (OpenAI API reference, "Streaming events" of the Responses API). Every end event
 * repeats the content before it. If it contains content that was in no delta, this content is passed on then.
 */
export class ResponseStreamDecoder implements StreamDecoder {
  readonly #items = new StreamItems()
  readonly #teller = new StreamTeller()
  #started = false
  #ended = false
  /** The ids of the answer, and its highest event number. */
  #head: JsonObject = {}
  #sequence = -1
  /** True once an event could not be read. */
  #hasGap = false
  /** True if the start or the end of a part was in an unreadable event. */
  #isIncomplete = false

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '' || data.trim() === '[DONE]') return []
    const event = tryParse(data)
    if (!isObject(event)) {
      this.#hasGap = true
      return [unreadableEvent]
    }
    const type = looseText(event['type'])
    this.#sequence = Math.max(this.#sequence, looseCount(event['sequence_number']))
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        return this.#start(looseObject(event['response']))
      case 'response.completed':
      case 'response.incomplete':
        return this.#complete(looseObject(event['response']))
      case 'response.failed':
      case 'error':
        return this.#fail(event)
      default:
        // A proxy or gateway in front of the server may report errors in the format of OpenAI's chat.
        if (type === '' && isObject(event['error'])) return this.#fail(event)
        this.#within(type, event)
        return this.#takeEvents()
    }
  }

  finish(): StreamEvent[] {
    return this.#ended ? [] : this.#end([{ type: 'error', failure: brokenOff }])
  }

  failedEnd(failure: Failure, requestId: string): string {
    return failedEvents(failure, requestId, this.#head, this.#sequence + 1)
  }

  #end(events: StreamEvent[]): StreamEvent[] {
    this.#ended = true
    return events
  }

  /**
   * The events that result from the last upstream event. If the complete input of a call differs from its deltas, the
   * events end with a failure, because the call cannot be executed.
   */
  #takeEvents(): StreamEvent[] {
    const events = this.#teller.take()
    if (this.#isIncomplete) return this.#end([{ type: 'error', failure: unreadable }])
    return this.#teller.isContradictory ? this.#end([...events, { type: 'error', failure: contradictory }]) : events
  }

  #start(response: JsonObject): StreamEvent[] {
    if (this.#started) return []
    this.#started = true
    const id = looseText(response['id'])
    const model = looseText(response['model'])
    const created = Math.floor(Number(response['created_at'])) || 0
    this.#head = { id, model, created_at: created }
    return [
      {
        type: 'start',
        ...(id && { id }),
        ...(model && { model }),
        ...(created > 0 && { createdAtSeconds: created }),
      },
    ]
  }

  #complete(response: JsonObject): StreamEvent[] {
    const started = this.#start(response)
    this.#isIncomplete ||= this.#hasGap && this.#items.all.some(({ hasBegun, isDone }) => hasBegun && !isDone)
    for (const [outputIndex, item] of looseList(response['output']).entries()) {
      const known = this.#items.claimed(item, outputIndex, (each) => this.#teller.hasTold(each, item))
      this.#teller.whole(known, item)
    }
    for (const item of this.#items.all) this.#teller.close(item)
    const events = this.#takeEvents()
    if (this.#ended) return [...started, ...events]
    const usage = readUsage(usageOf(response))
    const kinds = [...this.#teller.kinds].map((type) => ({ type }))
    return this.#end([
      ...started,
      ...events,
      ...(usage ? [{ type: 'usage', usage } as const] : []),
      { type: 'stop', choice: 0, stop: stopIn(response, kinds) },
      { type: 'end' },
    ])
  }

  #fail(event: JsonObject): StreamEvent[] {
    const response = looseObject(event['response'])
    const usage = readUsage(usageOf(response))
    const error = isObject(response['error']) ? response['error'] : isObject(event['error']) ? event['error'] : event
    // If the event itself is the error, its type is "error", which does not name a kind of error.
    const { type, ...rest } = error
    const failure = decodeFailure(0, { error: type === 'error' ? rest : error })
    return this.#end([...(usage ? [{ type: 'usage', usage } as const] : []), { type: 'error', failure }])
  }

  /** The item to which an event within an item belongs. */
  #item(event: JsonObject, type: string): StreamItem {
    return this.#expected(this.#items.within(event, type))
  }

  /**
   * Returns the item. If its start or the start of its content part was in an unreadable event, marks the stream as
   * incomplete.
   */
  #expected(item: StreamItem, content?: string): StreamItem {
    const hasBegun = item.hasBegun && (content === undefined || item.begunContents.has(content))
    this.#isIncomplete ||= this.#hasGap && !hasBegun
    return item
  }

  #within(type: string, event: JsonObject): void {
    const teller = this.#teller
    switch (type) {
      case 'response.output_item.added': {
        const item = looseObject(event['item'])
        const known = this.#items.begun(event, item)
        if (isCall(item)) teller.call(known, callIn(item))
        else if (item['type'] === 'reasoning') teller.thought(known)
        break
      }
      case 'response.output_item.done': {
        const item = looseObject(event['item'])
        const known = this.#expected(this.#items.done(event, item))
        teller.whole(known, item)
        teller.done(known)
        break
      }
      case 'response.content_part.added':
      case 'response.content_part.done':
        this.#contentPart(type, event)
        break
      case 'response.output_text.annotation.added':
        teller.cited(this.#item(event, 'message'), contentKey(event), [citationIn(looseObject(event['annotation']))])
        break
      default:
        this.#piece(type, event)
    }
  }

  #contentPart(type: string, event: JsonObject): void {
    const part = looseObject(event['part'])
    if (part['type'] === 'reasoning_text') {
      if (type.endsWith('.done'))
        this.#repeated('reasoning', `text ${contentKey(event)}`, looseText(part['text']), event)
      return
    }
    const known = this.#item(event, 'message')
    if (type.endsWith('.added')) known.begunContents.add(contentKey(event))
    this.#teller.content(known, contentKey(event), contentIn(part))
  }

  /** Handles a text event: either a delta or the complete text of a piece. */
  #piece(type: string, event: JsonObject): void {
    const delta = looseText(event['delta'])
    const content = contentKey(event)
    const summary = `summary ${looseCount(event['summary_index'])}`
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta': {
        const known = this.#expected(this.#items.within(event, 'message'), content)
        this.#teller.more(known, content, delta, type === 'response.refusal.delta' ? 'refusal' : 'text')
        this.#teller.probable(known, content, looseList(event['logprobs']))
        break
      }
      case 'response.reasoning_summary_text.delta':
        this.#teller.more(this.#item(event, 'reasoning'), summary, delta)
        break
      case 'response.reasoning_text.delta':
        this.#teller.more(this.#item(event, 'reasoning'), `text ${content}`, delta)
        break
      case 'response.function_call_arguments.delta':
        this.#teller.more(this.#item(event, 'function_call'), inputKey, delta)
        break
      case 'response.custom_tool_call_input.delta':
        this.#teller.more(this.#item(event, 'custom_tool_call'), inputKey, delta)
        break
      case 'response.output_text.done':
        this.#repeated('message', content, looseText(event['text']), event, 'text')
        break
      case 'response.refusal.done':
        this.#repeated('message', content, looseText(event['refusal']), event, 'refusal')
        break
      case 'response.reasoning_summary_text.done':
        this.#repeated('reasoning', summary, looseText(event['text']), event)
        break
      case 'response.reasoning_summary_part.done':
        this.#repeated('reasoning', summary, looseText(looseObject(event['part'])['text']), event)
        break
      case 'response.reasoning_text.done':
        this.#repeated('reasoning', `text ${content}`, looseText(event['text']), event)
        break
      case 'response.function_call_arguments.done':
        this.#repeated('function_call', inputKey, looseText(event['arguments']), event)
        break
      case 'response.custom_tool_call_input.done':
        this.#repeated('custom_tool_call', inputKey, looseText(event['input']), event)
        break
      default:
    }
  }

  #repeated(item: string, key: string, whole: string, event: JsonObject, type?: 'text' | 'refusal'): void {
    this.#teller.repeated(this.#item(event, item), key, whole, type)
  }
}

/** The key of a call's input, which is the only piece of a call. */
const inputKey = 'input'

function contentKey(event: JsonObject): string {
  return String(looseCount(event['content_index']))
}

function isCall(item: JsonObject): boolean {
  return item['type'] === 'function_call' || item['type'] === 'custom_tool_call'
}
