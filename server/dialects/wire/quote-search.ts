/** Most characters that are looked through for the quotes of one text: more than any honest answer needs. */
const mostSearched = 2 ** 28

/** Finds quotes of a text that do not stand where they are said to. However many there are, the work has an end. */
export class QuoteSearch {
  readonly #text: string
  #searched = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Where a quote stands; -1 where it does not, or too much has been looked through for others. */
  find(quote: string): number {
    if (this.#searched > mostSearched) return -1
    const found = this.#text.indexOf(quote)
    this.#searched += found < 0 ? this.#text.length : found
    return found
  }
}
