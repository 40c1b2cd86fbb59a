/**
 * The longest piece given to the tokenizer. The tokenizer's time grows with the square of the length of a run without
 * spaces.
 */
const longestPiece = 256

/**
 * Splits a text into pieces that can be counted one by one. If possible, the text is split before a space. The sum of
 * the counts is then exact, because a space belongs to the token that follows it. A piece without a space is cut at the
 * maximum length, and the sum may then be one token too high.
 */
export function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + longestPiece)
    if (to < text.length) {
      const space = text.lastIndexOf(' ', to - 1)
      if (space > from) to = space
    }
    yield text.slice(from, to)
    from = to
  }
}
