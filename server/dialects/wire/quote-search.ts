/** The maximum number of characters that all searches in one text may scan in total. No real answer reaches it. */
const mostSearched = 2 ** 28

/**
 * Finds quotes in the text of an answer. It is used for a quote that is not at the position that the service reports.
 * The total work is limited, however many quotes there are.
 */
export class QuoteSearch {
  readonly #text: string
  #searched = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The position of a quote; -1 if it is not in the text, or if earlier searches have reached the limit. */
  find(quote: string): number {
    if (this.#searched > mostSearched) return -1
    const position = this.#text.indexOf(quote)
    this.#searched += position < 0 ? this.#text.length : position
    return position
  }
}
