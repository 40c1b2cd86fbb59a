/** Prints the output of the shares in order. The output of a share is held back until all earlier shares have ended. */
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
