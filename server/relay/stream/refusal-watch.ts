import { ForgivingDecoder } from '../../dialects/damaged-events/forgiving-decoder.ts'
import { EventTally } from '../../dialects/metering/event-tally.ts'
import type { StreamDecoder } from '../../dialects/neutral/dialect.ts'
import { unreadable } from '../../dialects/neutral/failure.ts'
import type { Failure, ReplyPart, StreamEvent } from '../../dialects/neutral/reply.ts'
import type { Answer } from '../charging/measure.ts'
import type { Stopped } from '../failures/refused-answer.ts'

/** The state of one choice. */
interface ChoiceSoFar {
  hasRefused: boolean
  /** The stop reason in neutral form (the same for all dialects); undefined = the choice has not stopped. */
  stop: string | undefined
}

/** Watches the events of a stream for the first content other than reasoning and refusals. */
export class RefusalWatch {
  /** True once content other than reasoning and refusals has arrived. */
  hasSpoken = false
  readonly #decoder: ForgivingDecoder
  readonly #expected: number
  readonly #tally = new EventTally()
  readonly #choices = new Map<number, ChoiceSoFar>()
  /**
   * The parts that are text. Deltas of all other parts are ignored. Reasoning and refusals do not count as content. A
   * tool call counts as content as soon as its part begins.
   */
  readonly #texts = new Set<string>()

  /** `expected` is the number of choices that were requested. */
  constructor(decoder: StreamDecoder, expected: number) {
    this.#decoder = new ForgivingDecoder(decoder)
    this.#expected = expected
  }

  /** Reads the data of one event. */
  feed(data: string): void {
    for (const event of this.#decoder.push(data) ?? []) this.#take(event)
  }

  /** Must be called at the end of the input. */
  finish(): void {
    for (const event of this.#decoder.finish()) this.#take(event)
  }

  /** The error that the upstream reported, or `unreadable` after an event that could not be read. */
  get failure(): Failure | undefined {
    return this.#tally.failure
  }

  get isUnreadable(): boolean {
    return this.failure === unreadable
  }

  /** True once the event that ends the stream has arrived. */
  get hasEnded(): boolean {
    return this.#tally.ended
  }

  /** How each choice ended; undefined while at least one choice is still being generated. */
  get stops(): readonly Stopped[] | undefined {
    const choices = [...this.#choices.values()]
    const isOver = choices.length >= this.#expected && choices.every(({ stop }) => stop !== undefined)
    if (!isOver && !this.hasEnded) return undefined
    return choices.map(({ hasRefused, stop = 'stop' }) => ({
      reason: hasRefused && stop !== 'content-filter' ? 'refusal' : stop,
      isEmpty: !this.hasSpoken,
    }))
  }

  /** The data from which the usage of the stream so far is measured. */
  get answer(): Answer {
    const tally = this.#tally
    return {
      usage: undefined,
      reported: tally.usage,
      isEarly: tally.isUsageEarly,
      output: () => tally.output(),
      media: tally.media,
    }
  }

  #take(event: StreamEvent): void {
    this.#tally.take(event)
    if (event.type === 'part') this.#begin(event.choice, event.index, event.part)
    else if (event.type === 'delta') {
      if (this.#texts.has(`${event.choice} ${event.index}`) && event.text.trim() !== '') this.hasSpoken = true
    } else if (event.type === 'stop') this.#choice(event.choice).stop = event.stop.reason
  }

  #begin(choice: number, index: number, part: ReplyPart): void {
    const soFar = this.#choice(choice)
    if (part.type === 'refusal') soFar.hasRefused = true
    else if (part.type === 'text') {
      this.#texts.add(`${choice} ${index}`)
      if (part.text.trim() !== '') this.hasSpoken = true
    } else if (part.type !== 'reasoning') this.hasSpoken = true
  }

  #choice(choice: number): ChoiceSoFar {
    let known = this.#choices.get(choice)
    if (!known) {
      known = { hasRefused: false, stop: undefined }
      this.#choices.set(choice, known)
    }
    return known
  }
}
