/** Keeps the chunks of an incomplete message, so that a long message in many small pieces is joined only once. */
export class GatheredBytes {
  #chunks: Uint8Array[] = []
  #size = 0
  #needed: number

  /** `needed` is the minimum number of bytes from which something can be decoded. */
  constructor(needed: number) {
    this.#needed = needed
  }

  /**
   * Returns the kept bytes followed by `bytes`. If these are fewer than needed, keeps all of them and returns
   * undefined.
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

  /** Keeps the bytes that could not be decoded. `take` returns them when it has at least `needed` bytes in total. */
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
