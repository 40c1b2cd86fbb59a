/** Longest piece given to the tokenizer: its time grows with the square of a run without spaces. */
const longestPiece = 256

/**
 * Cuts a text into pieces that may be counted one by one, before a space where there is one (tokens begin with their
 * space, so the sum is exact there) and in the middle of longer runs (where the sum may be a token too high).
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
