/** Keeps the chunks of what is not whole yet, so that a long message in many small pieces is put together only once. */
export class GatheredBytes {
  #chunks: Uint8Array[] = []
  #size = 0
  #needed: number

  /** Nothing can be made of fewer than `needed` bytes. */
  constructor(needed: number) {
    this.#needed = needed
  }

  /** All that waits, these bytes behind it; undefined, and kept, while there is less than is needed. */
  take(bytes: Uint8Array): Uint8Array | undefined {
    if (this.#size + bytes.length < this.#needed) {
      this.#add(bytes)
      return undefined
    }
    const all = this.#chunks.length === 0 ? bytes : Buffer.concat([...this.#chunks, bytes])
    this.#chunks = []
    this.#size = 0
    return all
  }

  /** Keeps what could not be used of what was taken, until there are `needed` bytes from its beginning. */
  keep(rest: Uint8Array, needed: number): void {
    this.#needed = needed
    this.#add(rest)
  }

  #add(bytes: Uint8Array): void {
    // The runtime may reuse the chunk's memory once it has been handed on.
    if (bytes.length > 0) this.#chunks.push(Uint8Array.prototype.slice.call(bytes))
    this.#size += bytes.length
  }
}
