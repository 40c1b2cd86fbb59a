/**
 * The longest piece given to the tokenizer. The tokenizer's time grows with the square of the length of a run without
 * spaces.
 */
const longestPiece = 256

/**
 * Splits a text into pieces that can be counted one by one. A text is split before a space if it has one. Tokens begin
 * with their space, so the sum of the counts stays exact. Without a space, a text is split in the middle of a run, and
 * the sum may be one token too high.
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
