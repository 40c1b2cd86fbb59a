import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject, stringify, tryParse } from '../../lib/json.ts'
import { errorInChunk } from '../failures/flat-error.ts'
import { decodeFailure } from '../failures/openai-failure.ts'
import { laterReport } from '../metering/later-usage.ts'
import { TextBuffer } from '../metering/text-buffer.ts'
import type { Seal } from '../neutral/conversation.ts'
import type { StreamDecoder } from '../neutral/dialect.ts'
import { brokenOff, unreadableEvent } from '../neutral/failure.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { readUsage, usageOf } from '../openai-shared/openai-usage.ts'
import { CallMatcher, numberOf, unnamedCall } from '../wire/call-matcher.ts'
import { sourceOf } from '../wire/media.ts'
import { citationsIn } from './annotations.ts'
import { soundType } from './parts-in.ts'
import { readDetails, thoughtOf } from './reasoning.ts'
import { freeformIn, googleSeal, logprobsIn, stopOf } from './reply.ts'
import { laterMessage, restOf, type SentCall } from './stream-rest.ts'

/** A call that has begun, with the index of its part. `isSealed` is true if its signature arrived at the start. */
interface OpenCall extends SentCall {
  readonly index: number
  readonly isSealed: boolean
}

/** A call whose name has not arrived yet, although its first pieces have. */
interface NamelessCall {
  /** The first piece of the call. */
  readonly head: JsonObject
  input: string
}

/** The state of one choice so far. */
interface ChoiceState {
  parts: number
  /** The part that is continued by the next piece of the same type. */
  open: { index: number; type: 'text' | 'reasoning' | 'refusal' } | undefined
  /**
   * Calls by index. They are closed together at the end, because a service may send further input of an earlier call
   * after a later call has begun.
   */
  readonly begun: Map<number, OpenCall>
  /** Calls whose name has not arrived, by index. */
  readonly nameless: Map<number, NamelessCall>
  matcher: CallMatcher
  /** The first call with each id. */
  readonly begunById: Map<string, OpenCall>
  sound: number | undefined
  /** The text of the last reasoning part that began. */
  thought: string
  /** The index of the last text part, for details that arrive later. */
  lastText: number | undefined
  readonly kinds: Set<ReplyPart['type']>
  stopped: boolean
  /**
   * The text passed on so far, by kind. `hasCitations` and `hasMedia` are true if citations and media have been passed
   * on.
   */
  readonly texts: Readonly<Record<'text' | 'reasoning' | 'refusal', TextBuffer>>
  hasCitations: boolean
  hasMedia: boolean
  /** The complete message, if the service sends it instead of deltas or in addition to them. */
  message: JsonObject | undefined
}

/** Decodes a stream of chat completion chunks (OpenAI API reference, "The chat completion chunk object"). */
export class ChunkStreamDecoder implements StreamDecoder {
  readonly #choices = new Map<number, ChoiceState>()
  #idSeed: string
  #started = false
  #ended = false
  /** True once an event could not be read. */
  #hasGap = false
  /** The last usage that was reported. */
  #usage: Usage | undefined

  constructor(idSeed: string) {
    this.#idSeed = idSeed
  }

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '') return []
    if (data.trim() === '[DONE]') return this.#done()
    const chunk = tryParse(data)
    if (!isObject(chunk)) {
      this.#hasGap = true
      return [unreadableEvent]
    }
    const error = errorInChunk(chunk)
    if (error) return this.#end([{ type: 'error', failure: decodeFailure(0, error) }])
    const events = this.#start(chunk)
    for (const choice of looseList(chunk['choices'])) this.#choice(choice, events)
    const usage = readUsage(usageOf(chunk))
    if (usage) {
      this.#usage = laterReport(this.#usage, usage)
      events.push({ type: 'usage', usage: this.#usage })
    }
    return events
  }

  /** Many services omit the end marker. An answer is complete when all of its choices have a finish reason. */
  finish(): StreamEvent[] {
    if (this.#ended) return []
    const choices = [...this.#choices.values()]
    const isWhole = choices.length > 0 && choices.every(({ stopped }) => stopped)
    if (!isWhole) return this.#end([{ type: 'error', failure: brokenOff }])
    const events: StreamEvent[] = []
    // A part may still be open, because a service may send more content after its finish reason.
    for (const [choice, state] of this.#choices) this.#closeAll(choice, state, events)
    return this.#end([...events, { type: 'end' }])
  }

  /**
   * The end marker completes an answer even if the service sent no finish reason, unless the finish reason may have
   * been in an unreadable event.
   */
  #done(): StreamEvent[] {
    if (this.#hasGap && [...this.#choices.values()].some(({ stopped }) => !stopped)) return this.#end([unreadableEvent])
    const events: StreamEvent[] = []
    for (const [choice, state] of this.#choices) if (!state.stopped) this.#stop(choice, state, {}, events)
    return [...events, ...this.finish()]
  }

  #end(events: StreamEvent[]): StreamEvent[] {
    this.#ended = true
    return events
  }

  #start(chunk: JsonObject): StreamEvent[] {
    // Azure's first chunk has no id and contains only the filter results for the prompt.
    if (this.#started || looseList(chunk['choices']).length === 0) return []
    this.#started = true
    const id = looseText(chunk['id'])
    const model = looseText(chunk['model'])
    if (id) this.#idSeed = id
    const created = looseCount(chunk['created'])
    return [
      { type: 'start', ...(id && { id }), ...(model && { model }), ...(created > 0 && { createdAtSeconds: created }) },
    ]
  }

  #choice(choice: JsonObject, events: StreamEvent[]): void {
    const number = looseCount(choice['index'])
    const state = this.#choices.get(number) ?? newState()
    this.#choices.set(number, state)
    this.#delta(number, state, looseObject(choice['delta']), events)
    if (isObject(choice['message'])) state.message = laterMessage(state.message, choice['message'])
    const logprobs = logprobsIn(choice)
    if (logprobs.length > 0 && state.lastText !== undefined)
      events.push({ type: 'detail', choice: number, index: state.lastText, detail: { logprobs } })
    const reason = looseText(choice['finish_reason'])
    if (reason !== '') this.#stop(number, state, choice, events)
  }

  #stop(choice: number, state: ChoiceState, wire: JsonObject, events: StreamEvent[]): void {
    if (state.message && !state.stopped) {
      const { texts, begun, hasCitations, hasMedia } = state
      const calls = [...begun.values()]
      this.#delta(choice, state, restOf(state.message, { ...texts, calls, hasCitations, hasMedia }), events)
    }
    this.#closeAll(choice, state, events)
    state.stopped = true
    const kinds = [...state.kinds].map((type) => ({ type }))
    const stop = stopOf(wire, kinds)
    events.push({
      type: 'stop',
      choice,
      stop: looseText(wire['finish_reason']) === '' ? { reason: stop.reason } : stop,
    })
  }

  #closeAll(choice: number, state: ChoiceState, events: StreamEvent[]): void {
    for (const [callIndex, { head, input }] of state.nameless) {
      const { index } = this.#beginCall(choice, state, { callIndex, head, name: '' }, new Map(), events)
      if (input !== '') events.push({ type: 'delta', choice, index, text: input })
    }
    state.nameless.clear()
    this.#close(choice, state, events)
    for (const { index } of state.begun.values()) events.push({ type: 'part-end', choice, index })
    state.begun.clear()
    state.matcher = new CallMatcher()
    state.begunById.clear()
    if (state.sound !== undefined) events.push({ type: 'part-end', choice, index: state.sound })
    state.sound = undefined
  }

  #delta(choice: number, state: ChoiceState, delta: JsonObject, events: StreamEvent[]): void {
    const details = readDetails(delta['reasoning_details'])
    const detailText = details.parts.map(({ text }) => text).join('')
    // The event with the signature repeats the whole text that the signature covers, which has already arrived in
    // pieces.
    const isRepeated = state.open?.type === 'reasoning' && detailText === state.thought
    const thought = thoughtOf(delta) ?? (isRepeated ? '' : detailText)
    this.#text(choice, state, 'reasoning', thought, events)
    for (const { seal } of details.parts) if (seal) this.#sealThought(choice, state, seal, events)
    this.#content(choice, state, delta['content'], events)
    this.#text(choice, state, 'refusal', looseText(delta['refusal']), events)
    if (details.textSeal) this.#sealText(choice, state, details.textSeal, events)
    const citations = citationsIn(delta['annotations'])
    if (citations.length > 0 && state.lastText !== undefined) {
      state.hasCitations = true
      events.push({ type: 'detail', choice, index: state.lastText, detail: { citations } })
    }
    for (const call of looseList(delta['tool_calls'])) this.#call(choice, state, call, details.callSeals, events)
    const old = delta['function_call']
    if (isObject(old) && (looseText(old['name']) || looseText(old['arguments'])))
      this.#call(choice, state, { index: 0, function: old }, details.callSeals, events)
    for (const [id, seal] of details.callSeals) {
      const call = state.begunById.get(id)
      if (call && !call.isSealed) events.push({ type: 'detail', choice, index: call.index, detail: { seal } })
    }
    if (isObject(delta['audio'])) this.#sound(choice, state, delta['audio'], events)
    for (const image of looseList(delta['images'])) {
      const source = sourceOf(looseText(looseObject(image['image_url'])['url']))
      this.#whole(choice, state, { type: 'media', media: 'image', source }, events)
    }
  }

  /** Reads the content of a delta. It is a text or, in Mistral's API, a list of text and reasoning parts. */
  #content(choice: number, state: ChoiceState, content: unknown, events: StreamEvent[]): void {
    if (typeof content === 'string') this.#text(choice, state, 'text', content, events)
    for (const part of looseList(content)) {
      for (const piece of looseList(part['thinking']))
        this.#text(choice, state, 'reasoning', looseText(piece['text']), events)
      this.#text(choice, state, 'text', looseText(part['text']), events)
    }
  }

  #text(
    choice: number,
    state: ChoiceState,
    type: 'text' | 'reasoning' | 'refusal',
    text: string,
    events: StreamEvent[],
  ): void {
    if (text === '') return
    if (state.open?.type !== type) {
      this.#close(choice, state, events)
      state.open = { index: this.#part(choice, state, { type, text: '' }, events), type }
      if (type === 'text') state.lastText = state.open.index
      if (type === 'reasoning') state.thought = ''
    }
    if (type === 'reasoning') state.thought += text
    state.texts[type].add(text)
    events.push({ type: 'delta', choice, index: state.open.index, text })
  }

  #sealThought(choice: number, state: ChoiceState, seal: Seal, events: StreamEvent[]): void {
    if (state.open?.type === 'reasoning')
      events.push({ type: 'detail', choice, index: state.open.index, detail: { seal } })
    else this.#whole(choice, state, { type: 'reasoning', text: '', redacted: true, seal }, events)
  }

  #sealText(choice: number, state: ChoiceState, seal: Seal, events: StreamEvent[]): void {
    if (state.open?.type === 'text') events.push({ type: 'detail', choice, index: state.open.index, detail: { seal } })
    else this.#whole(choice, state, { type: 'text', text: '', seal }, events)
  }

  #call(
    choice: number,
    state: ChoiceState,
    call: JsonObject,
    seals: ReadonlyMap<string, Seal>,
    events: StreamEvent[],
  ): void {
    const called = looseObject(call['function'] ?? call['custom'])
    const { callIndex } = state.matcher.of(call)
    const whole = called['arguments'] ?? called['input']
    let text = isObject(whole) ? stringify(whole) : looseText(whole)
    let known = state.begun.get(callIndex)
    if (!known) {
      const name = looseText(called['name'])
      const waiting = state.nameless.get(callIndex)
      // The pieces of a call are collected until its name arrives. After an unreadable event, the name may have been in
      // that event. The call then begins without a name, which `ForgivingDecoder` rejects.
      if (name === '' && !this.#hasGap) {
        if (waiting) waiting.input += text
        else state.nameless.set(callIndex, { head: call, input: text })
        return
      }
      state.nameless.delete(callIndex)
      const head = waiting ? { ...call, id: looseText(waiting.head['id']) || call['id'] } : call
      known = this.#beginCall(choice, state, { callIndex, head, name }, seals, events)
      text = (waiting?.input ?? '') + text
    }
    if (text === '') return
    known.input.add(text)
    events.push({ type: 'delta', choice, index: known.index, text })
  }

  #beginCall(
    choice: number,
    state: ChoiceState,
    { callIndex, head, name }: { callIndex: number; head: JsonObject; name: string },
    seals: ReadonlyMap<string, Seal>,
    events: StreamEvent[],
  ): OpenCall {
    this.#close(choice, state, events)
    const givenId = looseText(head['id'])
    const id = givenId || unnamedCall(this.#idSeed, choice, callIndex)
    const seal = seals.get(id) ?? googleSeal(head)
    const part = {
      type: 'tool-call',
      id,
      name,
      input: '',
      ...(freeformIn(head) && { freeform: true }),
      ...(seal && { seal }),
    } as const
    const index = this.#part(choice, state, part, events)
    const known = { index, number: numberOf(head), id, givenId, isSealed: seal !== undefined, input: new TextBuffer() }
    state.begun.set(callIndex, known)
    if (!state.begunById.has(id)) state.begunById.set(id, known)
    return known
  }

  #sound(choice: number, state: ChoiceState, audio: JsonObject, events: StreamEvent[]): void {
    const data = looseText(audio['data'])
    const transcript = looseText(audio['transcript'])
    if (data === '' && transcript === '') return
    if (state.sound === undefined) {
      this.#close(choice, state, events)
      const source = { kind: 'inline', data: '', mediaType: soundType('pcm16') } as const
      state.sound = this.#part(choice, state, { type: 'media', media: 'audio', source }, events)
    }
    const at = { choice, index: state.sound } as const
    if (data !== '') events.push({ type: 'delta', ...at, text: data })
    if (transcript !== '') events.push({ type: 'detail', ...at, detail: { transcript } })
  }

  #part(choice: number, state: ChoiceState, part: ReplyPart, events: StreamEvent[]): number {
    const index = state.parts++
    state.kinds.add(part.type)
    if (part.type === 'media') state.hasMedia = true
    events.push({ type: 'part', choice, index, part })
    return index
  }

  #whole(choice: number, state: ChoiceState, part: ReplyPart, events: StreamEvent[]): void {
    this.#close(choice, state, events)
    events.push({ type: 'part-end', choice, index: this.#part(choice, state, part, events) })
  }

  #close(choice: number, state: ChoiceState, events: StreamEvent[]): void {
    if (state.open) events.push({ type: 'part-end', choice, index: state.open.index })
    state.open = undefined
  }
}

function newState(): ChoiceState {
  return {
    parts: 0,
    open: undefined,
    begun: new Map(),
    nameless: new Map(),
    matcher: new CallMatcher(),
    begunById: new Map(),
    sound: undefined,
    thought: '',
    lastText: undefined,
    kinds: new Set(),
    stopped: false,
    texts: { text: new TextBuffer(), reasoning: new TextBuffer(), refusal: new TextBuffer() },
    hasCitations: false,
    hasMedia: false,
    message: undefined,
  }
}
