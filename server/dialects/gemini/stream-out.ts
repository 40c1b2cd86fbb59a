import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Citation, Seal } from '../neutral/conversation.ts'
import type { Frame, StreamEncoder } from '../neutral/dialect.ts'
import type { PartDetail, ReplyPart, Stop, StreamEvent } from '../neutral/reply.ts'
import { encodeFailure, googleErrorEvents } from './failure.ts'
import { groundingOut } from './grounding.ts'
import { logprobsOut } from './logprobs.ts'
import { type AnswerNames, answerNames, finishMessage, marked, replyPartOut } from './reply.ts'
import { stopOut } from './stop.ts'
import { usageOut } from './usage.ts'
import type { WireAnswer, WireCandidate } from './wire.ts'

/** A part that is being written. Calls and media are sent complete; texts and thoughts are sent as they arrive. */
interface OpenPart {
  head: ReplyPart
  text: string
  seal: Seal | undefined
  citations: Citation[]
  /** The position at which the part's text begins in the whole text of the choice. */
  start: number
}

/** Writes a stream of GenerateContentResponses (Gemini API, "streamGenerateContent" with `alt=sse`). */
export class ContentStreamEncoder implements StreamEncoder {
  readonly #frame: Frame
  readonly #open = new Map<string, OpenPart>()
  /** The text of each choice so far, and the citations in it. */
  readonly #texts = new Map<number, { text: string; citations: Citation[] }>()
  readonly #stops = new Map<number, Stop>()
  /** Choices that contain a call. */
  readonly #called = new Set<number>()
  #names: AnswerNames
  #usage: Usage | undefined

  constructor(frame: Frame) {
    this.#frame = frame
    this.#names = answerNames(frame)
  }

  push(event: StreamEvent): string {
    switch (event.type) {
      case 'start':
        this.#names = answerNames(this.#frame, event.id, event.model)
        this.#usage = event.usage
        return ''
      case 'part':
        return this.#begin(event.choice, event.index, event.part)
      case 'delta':
        return this.#delta(event.choice, event.index, event.text)
      case 'detail':
        return this.#detail(event.choice, event.index, event.detail)
      case 'part-end':
        return this.#finishPart(event.choice, event.index)
      case 'stop':
        this.#stops.set(event.choice, event.stop)
        return ''
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'error':
        return googleErrorEvents(JSON.stringify(encodeFailure(event.failure, this.#frame.id)))
      case 'end':
        return this.#end()
      default:
        return ''
    }
  }

  #begin(choice: number, index: number, head: ReplyPart): string {
    const open: OpenPart = {
      head,
      text: '',
      seal: 'seal' in head ? head.seal : undefined,
      citations: head.type === 'text' ? [...(head.citations ?? [])] : [],
      start: this.#textOf(choice).text.length,
    }
    this.#open.set(`${choice} ${index}`, open)
    if (head.type === 'tool-call') open.text = head.input
    if (head.type !== 'text' && head.type !== 'reasoning' && head.type !== 'refusal') return ''
    const logprobs = head.type === 'text' ? this.#logprobs(choice, head.logprobs) : ''
    return this.#text(choice, open, head.text) + logprobs
  }

  #delta(choice: number, index: number, text: string): string {
    const open = this.#open.get(`${choice} ${index}`)
    if (!open) return ''
    if (open.head.type !== 'text' && open.head.type !== 'reasoning' && open.head.type !== 'refusal') {
      open.text += text
      return ''
    }
    return this.#text(choice, open, text)
  }

  #text(choice: number, { head }: OpenPart, text: string): string {
    if (text === '') return ''
    if (head.type !== 'reasoning') this.#textOf(choice).text += text
    return this.#chunk(choice, [head.type === 'reasoning' ? { text, thought: true } : { text }])
  }

  #textOf(choice: number): { text: string; citations: Citation[] } {
    const entry = this.#texts.get(choice) ?? { text: '', citations: [] }
    this.#texts.set(choice, entry)
    return entry
  }

  #detail(choice: number, index: number, detail: PartDetail): string {
    const open = this.#open.get(`${choice} ${index}`)
    if (!open) return ''
    if (detail.seal) open.seal = detail.seal
    open.citations.push(...(detail.citations ?? []))
    return this.#logprobs(choice, detail.logprobs)
  }

  /** Writes the log probabilities of the most recent text. */
  #logprobs(choice: number, logprobs: readonly JsonObject[] = []): string {
    const content: WireCandidate['content'] = { role: 'model', parts: [{ text: '' }] }
    if (logprobs.length === 0) return ''
    return written({ candidates: [{ content, index: choice, ...logprobsOut(logprobs) }], ...this.#names })
  }

  #finishPart(choice: number, index: number): string {
    const key = `${choice} ${index}`
    const open = this.#open.get(key)
    this.#open.delete(key)
    if (!open) return ''
    const { head, text, seal, start } = open
    const whole = this.#textOf(choice)
    for (const citation of open.citations) {
      const { start: from = 0, end = whole.text.length - start } = citation
      whole.citations.push({ ...citation, start: start + from, end: start + end })
    }
    if (head.type === 'text' || head.type === 'refusal' || head.type === 'reasoning') {
      if (!seal) return ''
      // The signature of content that was already sent is written in a separate piece, as in Google's API.
      const last = head.type === 'reasoning' ? { ...head, text: '', seal } : ({ type: 'text', text: '', seal } as const)
      return this.#chunk(choice, replyPartOut(last))
    }
    if (head.type !== 'tool-call') return this.#chunk(choice, replyPartOut(withData(head, text)))
    const call = { ...head, input: text, seal }
    const isFirst = !this.#called.has(choice)
    this.#called.add(choice)
    return this.#chunk(choice, replyPartOut(isFirst ? marked(call) : call))
  }

  #chunk(choice: number, parts: JsonObject[]): string {
    if (parts.length === 0) return ''
    return written({ candidates: [{ content: { role: 'model', parts }, index: choice }], ...this.#names })
  }

  /** Writes the last event, which contains the finish reasons and the usage. It is the end marker of this dialect. */
  #end(): string {
    const stops = this.#stops.size > 0 ? [...this.#stops] : [[0, { reason: 'stop' }] as const]
    const candidates = stops.map(([choice, stop]): WireCandidate => {
      const { text, citations } = this.#textOf(choice)
      const grounding = groundingOut(citations, text)
      return {
        content: { role: 'model', parts: [{ text: '' }] },
        finishReason: stopOut(stop),
        ...finishMessage(stop),
        index: choice,
        ...(grounding && { groundingMetadata: grounding }),
      }
    })
    return written({ candidates, ...(this.#usage && { usageMetadata: usageOut(this.#usage) }), ...this.#names })
  }
}

function withData(head: ReplyPart, data: string): ReplyPart {
  if (head.type !== 'media' || head.source.kind !== 'inline' || data === '') return head
  return { ...head, source: { ...head.source, data: head.source.data + data } }
}

function written(chunk: WireAnswer): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
