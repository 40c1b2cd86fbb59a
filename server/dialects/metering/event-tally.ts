import type { Usage } from '../../../contract/usage.ts'
import type { Failure, ReplyPart, StreamEvent } from '../neutral/reply.ts'
import { laterReport } from './later-usage.ts'
import { MediaCounter } from './media-tokens.ts'
import { TextBuffer } from './text-buffer.ts'

const answering: ReadonlySet<ReplyPart['type']> = new Set(['text', 'refusal', 'tool-call'])

/** The contents of a stream of events so far, as needed to calculate its charge. */
export class EventTally {
  usage: Usage | undefined
  /**
   * True if `usage` arrived with the start of the answer. It then covers the whole prompt and almost nothing of the
   * output.
   */
  isUsageEarly = false
  failure: Failure | undefined
  /** The number of events with content. Each usually contains at least one token. */
  pieces = 0
  characters = 0
  extraBytes = 0
  ended = false
  /** True once the last text or call is complete. The remaining events only concern the end of the answer. */
  answered = false
  readonly #media = new MediaCounter()
  /** Parts that are audio. Their deltas are not text. */
  readonly #sounds = new Set<string>()
  #isAnswering = false
  /** The choices that have a stop reason, and all choices that have begun. */
  readonly #stopped = new Set<number>()
  readonly #begun = new Set<number>()
  readonly #output = new TextBuffer()

  /** True if every choice that has begun has a stop reason. */
  get stopped(): boolean {
    return this.#stopped.size > 0 && this.#stopped.size >= this.#begun.size
  }

  get media() {
    return this.#media.tokens
  }

  /** Everything generated so far that would be charged: text, tool calls, reasoning. */
  output(): string {
    return this.#output.toString()
  }

  take(event: StreamEvent): void {
    switch (event.type) {
      case 'start':
        if (!event.usage) break
        this.usage = event.usage
        this.isUsageEarly = true
        break
      case 'usage':
        this.usage = laterReport(this.usage, event.usage)
        this.isUsageEarly = false
        break
      case 'part':
        this.#begun.add(event.choice)
        for (const text of textsOf(event.part)) this.#add(text)
        addMedia(event.part, this.#media)
        if (event.part.type === 'media' && event.part.media === 'audio') this.#sounds.add(partKey(event))
        if (event.part.type === 'native') break
        this.#isAnswering = answering.has(event.part.type)
        this.answered = false
        break
      case 'part-end':
        if (this.#isAnswering) this.answered = true
        break
      case 'delta':
        if (this.#sounds.size > 0 && this.#sounds.has(partKey(event))) this.#media.addSound(event.text)
        else this.#add(event.text)
        break
      case 'detail':
        if (event.detail.transcript) this.#add(event.detail.transcript)
        if (event.detail.isWhole) this.answered = true
        break
      case 'stop':
        this.#begun.add(event.choice)
        this.#stopped.add(event.choice)
        break
      case 'error':
        this.failure = event.failure
        break
      case 'end':
        this.ended = true
        break
    }
  }

  #add(text: string): void {
    if (text === '') return
    this.#output.add(text)
    this.characters += text.length
    this.extraBytes += Buffer.byteLength(text) - text.length
    this.pieces++
  }
}

function partKey({ choice, index }: { choice: number; index: number }): string {
  return `${choice} ${index}`
}

/** Adds a part that is an image or audio. */
export function addMedia(part: ReplyPart, media: MediaCounter): void {
  if (part.type !== 'media') return
  if (part.media === 'image') media.addImage()
  if (part.media === 'audio' && part.source.kind === 'inline') media.addSound(part.source.data)
}

/** The content of a part that would be charged. */
export function textsOf(part: ReplyPart): string[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return part.text === '' ? [] : [part.text]
    case 'tool-call':
      return [part.name, part.input].filter((text) => text !== '')
    case 'media':
      return part.transcript ? [part.transcript] : []
    default:
      return part.text ? [part.text] : []
  }
}
