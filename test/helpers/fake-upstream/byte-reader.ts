import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'

/** Reads a socket by byte counts and delimiters. Every read returns undefined after the peer has closed. */
export class ByteReader {
  #chunks: Buffer[] = []
  #length = 0
  #closed = false
  #wake: (() => void) | undefined

  constructor(socket: Socket) {
    const finish = () => {
      this.#closed = true
      this.#wake?.()
    }
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#length += chunk.length
      this.#wake?.()
    })
    socket.on('end', finish)
    socket.on('close', finish)
    socket.on('error', finish)
  }

  /** Reads bytes up to and including the delimiter. */
  async until(mark: string): Promise<Buffer | undefined> {
    for (;;) {
      const joined = this.#join()
      const at = joined.indexOf(mark)
      if (at >= 0) return this.#take(at + mark.length)
      if (this.#closed) return undefined
      await this.#more()
    }
  }

  /** Reads exactly this many bytes. */
  async exactly(count: number): Promise<Buffer | undefined> {
    while (this.#length < count) {
      if (this.#closed) return undefined
      await this.#more()
    }
    this.#join()
    return this.#take(count)
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
    })
  }

  #join(): Buffer {
    const [first] = this.#chunks
    if (this.#chunks.length === 1 && first) return first
    const joined = Buffer.concat(this.#chunks)
    this.#chunks = [joined]
    return joined
  }

  #take(count: number): Buffer {
    const joined = this.#join()
    this.#chunks = [joined.subarray(count)]
    this.#length -= count
    return joined.subarray(0, count)
  }
}
