/** Reads the text of an event stream as it arrives, in chunks that may end anywhere. */
export class EventReader {
  #line = ''
  #data: string[] = []
  #sawReturn = false

  /** Accepts a chunk; returns the data of the events that ended in it. */
  push(piece: string): string[] {
    const events: string[] = []
    for (const character of piece) {
      const isSecondOfPair = character === '\n' && this.#sawReturn
      this.#sawReturn = character === '\r'
      if (isSecondOfPair) continue
      if (character !== '\n' && character !== '\r') this.#line += character
      else this.#endLine(events)
    }
    return events
  }

  #endLine(events: string[]): void {
    const line = this.#line
    this.#line = ''
    if (line === '') {
      if (this.#data.length > 0) events.push(this.#data.join('\n'))
      this.#data = []
    } else if (line === 'data' || line.startsWith('data:')) {
      const value = line.slice(5)
      this.#data.push(value.startsWith(' ') ? value.slice(1) : value)
    }
  }
}
