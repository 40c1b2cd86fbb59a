import type { StreamEvent } from '../../dialects/neutral/reply.ts'

/** Types of parts after which another model can continue the answer. */
const continuable: ReadonlySet<string> = new Set(['text', 'reasoning'])

/** The events of an answer that the caller has received. Successive deltas are merged into one event. */
export class Told {
  /**
   * False if the answer contains a part that another model cannot continue, or if the answer has ended and only the end
   * of the stream has not arrived.
   */
  canGoOn = true
  /** The number of parts that the answer has. */
  parts = 0
  /** The index of the part that has not ended; undefined = none. */
  open: number | undefined
  /** The length of the open part in UTF-16 code units. `isText` is true if this part is text. */
  openLength = 0
  isText = false
  #events: StreamEvent[] = []
  /** Deltas of the open part that have not been merged into an event yet. */
  #more: string[] = []
  #text: string[] = []

  /** The received events. An encoder that writes them has the same state as the encoder that wrote the answer. */
  get events(): readonly StreamEvent[] {
    this.#flush()
    return this.#events
  }

  /** The text of the answer so far. */
  get text(): string {
    const whole = this.#text.join('')
    this.#text = [whole]
    return whole
  }

  take(event: StreamEvent): void {
    switch (event.type) {
      case 'part':
        this.#part(event)
        break
      case 'delta':
        this.#delta(event.index, event.text)
        break
      case 'detail':
        if (event.detail.logprobs || event.detail.transcript !== undefined) this.#end()
        else this.#add(event)
        break
      case 'part-end':
        this.#add(event)
        if (event.index === this.open) this.open = undefined
        break
      case 'start':
        this.#add(event)
        break
      case 'stop':
      case 'end':
        this.#end()
        break
    }
  }

  #part(event: StreamEvent & { type: 'part' }): void {
    const { part, choice, index } = event
    if (!continuable.has(part.type) || choice > 0 || (part.type === 'text' && part.logprobs)) this.#end()
    else this.#add(event)
    this.parts = Math.max(this.parts, index + 1)
    this.open = index
    this.isText = part.type === 'text'
    this.openLength = part.type === 'text' ? part.text.length : 0
    if (part.type === 'text' && this.canGoOn && part.text !== '') this.#text.push(part.text)
  }

  #delta(index: number, text: string): void {
    if (!this.canGoOn) return
    // The deltas of several parts alternate, so there is no single text that another attempt could continue.
    if (index !== this.open) {
      this.#end()
      return
    }
    this.openLength += text.length
    this.#more.push(text)
    if (this.isText) this.#text.push(text)
  }

  #add(event: StreamEvent): void {
    if (!this.canGoOn) return
    this.#flush()
    this.#events.push(event)
  }

  #flush(): void {
    if (this.#more.length === 0 || this.open === undefined) return
    this.#events.push({ type: 'delta', choice: 0, index: this.open, text: this.#more.join('') })
    this.#more = []
  }

  /** Drops everything, because the answer can no longer be continued. */
  #end(): void {
    this.canGoOn = false
    this.#events = []
    this.#more = []
    this.#text = []
  }
}
