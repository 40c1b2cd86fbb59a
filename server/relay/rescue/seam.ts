/**
 * The maximum length of an overlap between the two texts, in UTF-16 code units. Only a repetition of the whole first
 * text may be longer.
 */
const longest = 200
/**
 * The minimum length of an overlap that counts as a repetition if the model was given the text to continue, in UTF-16
 * code units.
 */
const shortestIfContinued = 24

/**
 * Joins the text of a truncated answer (the first text) with the text of the attempt that continues it (the second
 * text). If the second text begins with a repetition of the end of the first, the repetition is dropped. Text is held
 * back only while it may still be a repetition.
 *
 * An overlap counts as a repetition if it is unlikely to be accidental. This is the case for several letters that begin
 * at the start of a word or line, for at least three different characters of a script such as Chinese, and for at least
 * eight characters. Single characters, short punctuation, white space and digits, and periodic text such as `na na na`
 * do not count. A model that was given the text as the beginning of its answer hardly ever repeats it. For such a
 * model, only a long overlap counts. A repetition of the whole text also counts, because some services return the text
 * that they were given. The model may not have been given the white space at the end of the first text. If it then
 * generates this white space, the white space is dropped.
 */
export class Seam {
  readonly #shown: string
  readonly #tail: string
  readonly #isBegun: boolean
  /** The white space at the end of the first text, if the model did not receive it; otherwise empty. */
  readonly #unsaid: string
  /** The first half of a surrogate pair, if the first text ended with it. */
  #half: string
  #held = ''
  #isClosed = false
  /** The number of UTF-16 code units of the second text that have been dropped. */
  cut = 0

  /**
   * `begunWith` is the text that the model was given as the beginning of its answer; absent = the model was only asked
   * to continue.
   */
  constructor(shown: string, begunWith?: string) {
    this.#half = /[\ud800-\udbff]$/.exec(shown)?.[0] ?? ''
    this.#shown = shown.slice(0, shown.length - this.#half.length)
    this.#tail = this.#shown.slice(-longest)
    this.#isBegun = begunWith !== undefined
    this.#unsaid = this.#shown.slice(begunWith?.length ?? this.#shown.length)
  }

  /** Adds the next piece of the second text. Returns the text that can be sent now. */
  add(piece: string): string {
    if (this.#isClosed) return this.#afterHalf(piece)
    this.#held += piece
    return this.#mayGrow() ? '' : this.end()
  }

  /** Ends the second text. Returns the text that has been held back. */
  end(): string {
    this.#isClosed = true
    const held = this.#held
    this.#held = ''
    if (held !== '') this.cut = this.#overlap(held)
    return this.#afterHalf(held.slice(this.cut))
  }

  /** Drops the first half of a surrogate pair if the caller has already received it. */
  #afterHalf(text: string): string {
    if (this.#half === '' || text === '') return text
    const isRepeated = text.startsWith(this.#half)
    this.#half = ''
    if (isRepeated) this.cut++
    return isRepeated ? text.slice(1) : text
  }

  /** True if a longer overlap could result when more text arrives. */
  #mayGrow(): boolean {
    const held = this.#held
    if (held.length < this.#unsaid.length && this.#unsaid.startsWith(held)) return true
    if (held.length < this.#shown.length && this.#shown.startsWith(held)) return true
    for (let at = 0; at < this.#tail.length - held.length; at++) if (this.#tail.startsWith(held, at)) return true
    return false
  }

  /** The number of code units at the beginning of `held` that repeat the first text. */
  #overlap(held: string): number {
    const shown = this.#shown
    if (shown.length > 0 && held.startsWith(shown) && isRepetition(shown, '', false)) return shown.length
    for (let length = Math.min(held.length, this.#tail.length); length > 0; length--) {
      const overlap = held.slice(0, length)
      if (!this.#tail.endsWith(overlap) || isSplit(held, length)) continue
      const before = this.#tail.slice(0, -length)
      // The first text ends with this piece twice in a row. A third occurrence is probably intended, so keep it.
      if (before.endsWith(overlap)) continue
      if (isRepetition(overlap, before, this.#isBegun)) return length
    }
    return commonStart(held, this.#unsaid)
  }
}

function commonStart(one: string, other: string): number {
  let length = 0
  while (length < Math.min(one.length, other.length) && one[length] === other[length]) length++
  return length
}

/** True if a surrogate pair would be split at this index. */
function isSplit(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '')
}

const wordAtEnd = /[\p{L}\p{M}\p{N}_]$/u
const wordAtStart = /^[\p{L}\p{M}\p{N}_]/u
/** Characters of scripts in which one character has as much meaning as several letters, and pictographs. */
const dense =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Extended_Pictographic}]/gu
const letter = /\p{L}/gu
const visible = /\S/gu

function isRepetition(overlap: string, before: string, isBegun: boolean): boolean {
  if (isPeriodic(overlap.slice(0, longest))) return false
  if (isBegun) return overlap.length >= shortestIfContinued && distinct(overlap, letter) >= 4
  if (distinct(overlap, dense) >= 3) return true
  if (overlap.length >= 8 && new Set(overlap).size >= 4) return true
  const letters = overlap.match(letter)?.length ?? 0
  if (before === '' || before.endsWith('\n')) {
    const characters = overlap.match(visible)?.length ?? 0
    if (characters >= 6 || (characters >= 3 && letters >= 2)) return true
  }
  const isFromStart = !wordAtStart.test(overlap) || !wordAtEnd.test(before)
  return isFromStart && letters >= 3
}

function distinct(text: string, kind: RegExp): number {
  return new Set(text.match(kind)).size
}

/** True for a text that consists of at least two repetitions of one piece. The last repetition may be incomplete. */
function isPeriodic(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++) if (text.startsWith(text.slice(period))) return true
  return false
}
