/** The longest overlap, in UTF-16 code units, that is looked for. A repetition of the whole text may be longer. */
const longest = 200
/** The shortest repetition that is taken for one, in UTF-16 code units, if the model was given the text to continue. */
const shortestIfContinued = 24

/** How the model was given the text that it goes on with. */
export type Given =
  /** It continues the text, so hardly any overlap is a repetition. */
  | 'begun'
  /** It was asked to go on, and may begin with the last words. */
  | 'asked'

/**
 * Joins a text that broke off with the text that goes on with it: what the second repeats of the first is left out.
 * Text is held back only while it may still be a repetition.
 *
 * An overlap is a repetition if it is unlikely to occur by accident: words from their beginning, or a long piece of
 * text. Not: single characters, punctuation, white space, digits, and text that consists of repetitions itself, such as
 * `na na na` or a line of a table. White space counts if the model was not given it, because some services refuse a
 * text that ends with it.
 */
export class Seam {
  readonly #shown: string
  readonly #tail: string
  readonly #given: Given
  #held = ''
  #isClosed = false
  /** How much of the second text has been left out, in UTF-16 code units. */
  cut = 0

  constructor(shown: string, given: Given) {
    this.#shown = shown
    this.#tail = shown.slice(-longest)
    this.#given = given
  }

  /** The part of the next piece that continues the text. */
  add(piece: string): string {
    if (this.#isClosed) return piece
    this.#held += piece
    return this.#mayGrow() ? '' : this.end()
  }

  /** What has been held back, when no more text follows. */
  end(): string {
    this.#isClosed = true
    const held = this.#held
    this.#held = ''
    if (held !== '') this.cut = this.#overlap(held)
    return held.slice(this.cut)
  }

  /** True if more text may make a longer overlap of what is held back. */
  #mayGrow(): boolean {
    const held = this.#held
    if (held.length < this.#shown.length && this.#shown.startsWith(held)) return true
    for (let at = 0; at < this.#tail.length - held.length; at++) if (this.#tail.startsWith(held, at)) return true
    return false
  }

  /** How many code units of `held` repeat the text. */
  #overlap(held: string): number {
    const shown = this.#shown
    if (shown.length > 0 && held.startsWith(shown) && isRepetition(shown, '', 'asked')) return shown.length
    // Half of a character, which the first text ended with.
    if (/[\ud800-\udbff]$/.test(shown) && held[0] === shown.at(-1)) return 1
    for (let length = Math.min(held.length, this.#tail.length); length > 0; length--) {
      const overlap = held.slice(0, length)
      if (!this.#tail.endsWith(overlap) || isSplit(held, length)) continue
      const before = this.#tail.slice(0, -length)
      if (this.#given === 'begun' && overlap.trim() === '' && this.#isWhite(length)) return length
      // The text repeats itself, so it may go on to do so.
      if (before.endsWith(overlap)) continue
      if (isRepetition(overlap, before, this.#given)) return length
    }
    return 0
  }

  /** True if the last `length` code units are within the white space at the end of the text. */
  #isWhite(length: number): boolean {
    return this.#shown.length - this.#shown.trimEnd().length >= length
  }
}

/** True if a surrogate pair would be split at this index. */
function isSplit(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '')
}

const wordAtEnd = /[\p{L}\p{M}\p{N}_]$/u
const wordAtStart = /^[\p{L}\p{M}\p{N}_]/u
/** Characters of scripts without spaces between words, and pictures. */
const dense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Extended_Pictographic}]/gu
const letter = /\p{L}/gu

function isRepetition(overlap: string, before: string, given: Given): boolean {
  if (isPeriodic(overlap)) return false
  if (given === 'begun') return overlap.length >= shortestIfContinued && distinct(overlap, letter) >= 4
  if (distinct(overlap, dense) >= 3) return true
  const letters = overlap.match(letter)?.length ?? 0
  if (letters < 3) return false
  const isFromStart = !wordAtStart.test(overlap) || !wordAtEnd.test(before)
  return isFromStart || (overlap.length >= 12 && distinct(overlap, letter) >= 4)
}

function distinct(text: string, kind: RegExp): number {
  return new Set(text.match(kind)).size
}

/** True for a text that consists of one piece at least twice, the last time perhaps in part. */
function isPeriodic(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++) if (text.startsWith(text.slice(period))) return true
  return false
}
