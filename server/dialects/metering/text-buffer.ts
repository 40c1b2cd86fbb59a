const decoder = new TextDecoder('utf-16le', { ignoreBOM: true })

/**
 * Text that grows word by word, kept in one block of memory. In a string, each word would keep alive the whole chunk
 * from which it was cut. With thousands of open streams, the garbage collector could not free those chunks in time.
 */
export class TextBuffer {
  #units = new Uint16Array(128)
  #length = 0
  #extraBytes = 0

  /** Characters (UTF-16 code units) so far. */
  get length(): number {
    return this.#length
  }

  /**
   * Roughly the number of UTF-8 bytes in excess of one per character. A large number indicates non-Latin text, whose
   * tokens hold fewer characters.
   */
  get extraBytes(): number {
    return this.#extraBytes
  }

  /** Adds the characters of `text` from `from` to `to`. */
  add(text: string, from = 0, to = text.length): void {
    const length = this.#length + to - from
    if (length > this.#units.length) this.#grow(length)
    const units = this.#units
    let at = this.#length
    let extraBytes = 0
    for (let index = from; index < to; index++) {
      const unit = text.charCodeAt(index)
      if (unit > 0x7f) extraBytes += unit > 0x7ff ? 2 : 1
      units[at++] = unit
    }
    this.#extraBytes += extraBytes
    this.#length = at
  }

  toString(): string {
    return decoder.decode(this.#units.subarray(0, this.#length))
  }

  #grow(length: number): void {
    const units = new Uint16Array(Math.max(length, this.#units.length * 2))
    units.set(this.#units.subarray(0, this.#length))
    this.#units = units
  }
}
