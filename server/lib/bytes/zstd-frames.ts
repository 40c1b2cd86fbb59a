const frameMagic = 0xfd2fb528
const skippableMagic = 0x184d2a50

/** The length of the content size field in a frame header, for each value of the two highest bits of the descriptor. */
const sizeLengths = [0, 2, 4, 8] as const
const dictionaryLengths = [0, 1, 2, 4] as const

/**
 * Follows the frames of zstd (RFC 8878, 3.1) as their bytes arrive, to determine whether the last frame is complete.
 * This is necessary because the runtime's decompressor accepts a truncated frame: it decodes as much as it can and then
 * reports the end.
 */
export class ZstdFrames {
  /** The bytes of an incomplete header. */
  #head: number[] = []
  /** The number of bytes still to be skipped. */
  #skip = 0
  #next: 'frame' | 'block' = 'frame'
  #hasChecksum = false
  #isLastBlock = false

  /** True between two frames, and after bytes that are not a frame. */
  get isWhole(): boolean {
    return this.#next === 'frame' && this.#skip === 0 && this.#head.length === 0
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#skip > 0) {
        const passed = Math.min(this.#skip, bytes.length - at)
        this.#skip -= passed
        at += passed
        if (this.#skip === 0 && this.#isLastBlock) this.#endFrame()
      } else {
        this.#head.push(bytes[at] as number)
        at++
        if (this.#next === 'frame') this.#frame()
        else this.#block()
      }
    }
  }

  #frame(): void {
    const head = this.#head
    if (head.length < 5) return
    const magic = numberIn(head, 0, 4)
    if ((magic & 0xfffffff0) >>> 0 === skippableMagic) {
      if (head.length < 8) return
      this.#take()
      this.#skip = numberIn(head, 4, 4)
      return
    }
    if (magic !== frameMagic) {
      this.#take()
      return
    }
    const flags = head[4] as number
    const isSingle = (flags & 32) !== 0
    const sizeLength = sizeLengths[(flags >> 6) as 0 | 1 | 2 | 3] || (isSingle ? 1 : 0)
    const length = 5 + (isSingle ? 0 : 1) + dictionaryLengths[(flags & 3) as 0 | 1 | 2 | 3] + sizeLength
    if (head.length < length) return
    this.#take()
    this.#hasChecksum = (flags & 4) !== 0
    this.#next = 'block'
  }

  #block(): void {
    if (this.#head.length < 3) return
    const head = numberIn(this.#head, 0, 3)
    this.#take()
    this.#isLastBlock = (head & 1) === 1
    const size = head >> 3
    // A run-length block contains its repeated byte only once.
    this.#skip = ((head >> 1) & 3) === 1 ? 1 : size
    if (this.#skip === 0 && this.#isLastBlock) this.#endFrame()
  }

  #endFrame(): void {
    this.#isLastBlock = false
    this.#next = 'frame'
    this.#skip = this.#hasChecksum ? 4 : 0
    this.#hasChecksum = false
  }

  #take(): void {
    this.#head = []
  }
}

function numberIn(bytes: readonly number[], from: number, length: number): number {
  let value = 0
  for (let at = length - 1; at >= 0; at--) value = value * 256 + (bytes[from + at] ?? 0)
  return value
}
