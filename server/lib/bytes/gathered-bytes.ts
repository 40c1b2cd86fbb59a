/** Keeps the chunks of an incomplete message, so that a long message in many small pieces is joined only once. */
export class GatheredBytes {
  #chunks: Uint8Array[] = []
  #size = 0
  #needed: number

  /** `needed` is the number of bytes without which nothing can be decoded. */
  constructor(needed: number) {
    this.#needed = needed
  }

  /**
   * Adds bytes. Returns all bytes that have been kept, followed by these. If there are fewer bytes than needed, keeps
   * them and returns undefined.
   */
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

  /** Keeps the unused rest of the bytes, until there are `needed` bytes including the rest. */
  keep(rest: Uint8Array, needed: number): void {
    this.#needed = needed
    this.#add(rest)
  }

  #add(bytes: Uint8Array): void {
    // The runtime may reuse the chunk's memory after it has been passed on.
    if (bytes.length > 0) this.#chunks.push(Uint8Array.prototype.slice.call(bytes))
    this.#size += bytes.length
  }
}
