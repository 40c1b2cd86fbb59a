/**
 * Prints the output of parallel processes in order. A process is identified by its number, `share`. Its output is held
 * back until all processes with lower numbers have ended.
 */
export class InTurn {
  #open = 0
  #kept = []

  print(share, stream, chunk) {
    if (share === this.#open) stream.write(chunk)
    else this.#keptOf(share).parts.push({ stream, chunk })
  }

  end(share) {
    this.#keptOf(share).isEnded = true
    while (this.#kept[this.#open]?.isEnded) {
      this.#open++
      const next = this.#keptOf(this.#open)
      for (const { stream, chunk } of next.parts.splice(0)) stream.write(chunk)
    }
  }

  #keptOf(share) {
    this.#kept[share] ??= { isEnded: false, parts: [] }
    return this.#kept[share]
  }
}
