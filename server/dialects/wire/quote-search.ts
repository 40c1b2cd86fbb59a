/** The maximum number of characters to search for the quotes of one text. No real answer needs more. */
const mostSearched = 2 ** 28

/**
 * Finds quotes that are not at the position that the service reports. The total work is limited, however many quotes
 * there are.
 */
export class QuoteSearch {
  readonly #text: string
  #searched = 0

  constructor(text: string) {
    this.#text = text
  }

  /**
   * The position of a quote; -1 if it is not in the text, or if the searches for other quotes have used up the limit.
   */
  find(quote: string): number {
    if (this.#searched > mostSearched) return -1
    const position = this.#text.indexOf(quote)
    this.#searched += position < 0 ? this.#text.length : position
    return position
  }
}
