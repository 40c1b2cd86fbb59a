import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { laterReport } from '../metering/later-usage.ts'
import type { Citation, Seal } from '../neutral/conversation.ts'
import type { StreamDecoder } from '../neutral/dialect.ts'
import { brokenOff, unreadableEvent } from '../neutral/failure.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { decodeFailure } from './failure.ts'
import { citationsIn, withinPart } from './grounding.ts'
import { logprobsIn } from './logprobs.ts'
import { PartialArgs } from './partial-args.ts'
import { blockedIn, createdIn, replyPartIn } from './reply.ts'
import { stopIn } from './stop.ts'
import { usageIn } from './usage.ts'

/** The state of one candidate so far. */
interface Candidate {
  parts: number
  /** The text or thought that the next piece continues, unless a signature has ended it. */
  open: { index: number; type: 'text' | 'reasoning'; isSealed: boolean; lateSeal?: Seal } | undefined
  calling: { index: number; id: string; name: string; args: PartialArgs; first: JsonObject } | undefined
  hasCalls: boolean
  stopped: boolean
  cited: Set<string>
  /**
   * The whole text so far. Google's offsets refer to it. `openedAt` is the position in it at which the open part
   * begins.
   */
  text: string
  openedAt: number
}

/** Decodes a stream of GenerateContentResponses (Gemini API, "streamGenerateContent" with `alt=sse`). */
export class ContentStreamDecoder implements StreamDecoder {
  readonly #candidates = new Map<number, Candidate>()
  #idSeed: string
  #started = false
  #ended = false
  /** The last usage that was reported. */
  #usage: Usage | undefined

  constructor(idSeed: string) {
    this.#idSeed = idSeed
  }

  push(data: string): StreamEvent[] {
    if (this.#ended || data.trim() === '') return []
    const chunk = tryParse(data)
    if (!isObject(chunk)) return [unreadableEvent]
    if (isObject(chunk['error'])) return this.#end([{ type: 'error', failure: decodeFailure(0, chunk) }])
    const events = this.#start(chunk)
    for (const candidate of looseList(chunk['candidates'])) this.#candidate(candidate, events)
    const blocked = blockedIn(chunk)
    if (blocked && this.#candidates.size === 0) {
      events.push({ type: 'stop', choice: 0, stop: blocked })
      this.#state(0).stopped = true
    }
    const usage = usageIn(chunk['usageMetadata'])
    if (usage) {
      this.#usage = laterReport(this.#usage, usage)
      events.push({ type: 'usage', usage: this.#usage })
    }
    return events
  }

  /** Google sends no end marker. An answer is complete when all of its candidates have a finish reason. */
  finish(): StreamEvent[] {
    if (this.#ended) return []
    const candidates = [...this.#candidates.values()]
    const isWhole = candidates.length > 0 && candidates.every(({ stopped }) => stopped)
    if (!isWhole) return this.#end([{ type: 'error', failure: brokenOff }])
    const events: StreamEvent[] = []
    // A part may still be open, because a service may send more content after its finish reason.
    for (const [choice, state] of this.#candidates) this.#close(choice, state, events)
    return this.#end([...events, { type: 'end' }])
  }

  #end(events: StreamEvent[]): StreamEvent[] {
    this.#ended = true
    return events
  }

  #start(chunk: JsonObject): StreamEvent[] {
    if (this.#started) return []
    this.#started = true
    const id = looseText(chunk['responseId'])
    const model = looseText(chunk['modelVersion'])
    const created = createdIn(chunk['createTime'])
    if (id) this.#idSeed = id
    return [
      {
        type: 'start',
        ...(id && { id }),
        ...(model && { model }),
        ...(created !== undefined && { createdAtSeconds: created }),
      },
    ]
  }

  #state(index: number): Candidate {
    const known = this.#candidates.get(index)
    if (known) return known
    const state: Candidate = {
      parts: 0,
      open: undefined,
      calling: undefined,
      hasCalls: false,
      stopped: false,
      cited: new Set(),
      text: '',
      openedAt: 0,
    }
    this.#candidates.set(index, state)
    return state
  }

  #candidate(candidate: JsonObject, events: StreamEvent[]): void {
    const choice = looseCount(candidate['index'])
    const state = this.#state(choice)
    for (const part of looseList(looseObject(candidate['content'])['parts'])) this.#part(choice, state, part, events)
    this.#cite(choice, state, candidate, events)
    const logprobs = logprobsIn(candidate)
    if (logprobs.length > 0 && state.open?.type === 'text')
      events.push({ type: 'detail', choice, index: state.open.index, detail: { logprobs } })
    const reason = looseText(candidate['finishReason'])
    if (reason === '' || state.stopped) return
    this.#close(choice, state, events)
    state.stopped = true
    events.push({ type: 'stop', choice, stop: stopIn(reason, looseText(candidate['finishMessage']), state.hasCalls) })
  }

  #part(choice: number, state: Candidate, part: JsonObject, events: StreamEvent[]): void {
    const call = part['functionCall']
    if (isObject(call)) {
      this.#call(choice, state, part, call, events)
      return
    }
    const read = replyPartIn(part, '')
    if (read.type !== 'text' && read.type !== 'reasoning') {
      this.#whole(choice, state, read, events)
      return
    }
    const { open } = state
    if (open?.type === read.type && !open.isSealed) {
      const at = { choice, index: open.index } as const
      if (read.text !== '') events.push({ type: 'delta', ...at, text: read.text })
      if (read.type === 'text') state.text += read.text
      // A signature covers the content before it. Citations of that content may arrive in the same event as the
      // signature.
      if (read.seal) state.open = { ...open, isSealed: true, lateSeal: read.seal }
      return
    }
    if (read.text === '' && !read.seal) return
    this.#close(choice, state, events)
    const index = state.parts++
    events.push({ type: 'part', choice, index, part: read })
    state.open = { index, type: read.type, isSealed: read.seal !== undefined }
    state.openedAt = state.text.length
    if (read.type === 'text') state.text += read.text
  }

  #whole(choice: number, state: Candidate, part: ReplyPart, events: StreamEvent[]): void {
    this.#close(choice, state, events)
    const index = state.parts++
    events.push({ type: 'part', choice, index, part }, { type: 'part-end', choice, index })
  }

  #call(choice: number, state: Candidate, part: JsonObject, call: JsonObject, events: StreamEvent[]): void {
    state.hasCalls = true
    const goesOn = call['willContinue'] === true
    if (looseText(call['name'])) {
      this.#close(choice, state, events)
      const id = looseText(call['id']) || `call_${this.#idSeed}_${choice}_${state.parts}`
      if (!goesOn && call['partialArgs'] === undefined) {
        this.#whole(choice, state, replyPartIn(part, id), events)
        return
      }
      state.calling = { index: state.parts++, id, name: looseText(call['name']), args: new PartialArgs(), first: part }
    }
    state.calling?.args.add(call['partialArgs'])
    if (!goesOn) this.#endCall(choice, state, events)
  }

  #endCall(choice: number, state: Candidate, events: StreamEvent[]): void {
    const { calling } = state
    state.calling = undefined
    if (!calling) return
    const { index, id, name, args, first } = calling
    const functionCall = { id, name, args: args.args }
    events.push(
      { type: 'part', choice, index, part: replyPartIn({ ...first, functionCall }, id) },
      { type: 'part-end', choice, index },
    )
  }

  #close(choice: number, state: Candidate, events: StreamEvent[]): void {
    if (state.open) {
      const { index, lateSeal } = state.open
      if (lateSeal) events.push({ type: 'detail', choice, index, detail: { seal: lateSeal } })
      events.push({ type: 'part-end', choice, index })
    }
    state.open = undefined
    this.#endCall(choice, state, events)
  }

  /** Adds only new citations, because Google repeats its sources in every event. */
  #cite(choice: number, state: Candidate, candidate: JsonObject, events: StreamEvent[]): void {
    const { open } = state
    if (open?.type !== 'text') return
    const isNew = ({ url, start, end }: Citation) => {
      const key = `${url} ${start} ${end}`
      return !state.cited.has(key) && state.cited.add(key)
    }
    const { text, openedAt } = state
    const newCitations = citationsIn(candidate, text).filter(isNew)
    const citations = newCitations.map((each) => withinPart(each, openedAt, text.length - openedAt))
    if (citations.length > 0) events.push({ type: 'detail', choice, index: open.index, detail: { citations } })
  }
}
