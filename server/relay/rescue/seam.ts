/** The longest overlap, in UTF-16 code units, that is looked for. A repetition of the whole text may be longer. */
const longest = 200
/** The shortest repetition that is taken for one, in UTF-16 code units, if the model was given the text to continue. */
const shortestIfContinued = 24

/**
 * Joins a text that broke off with its continuation. What the second text repeats of the first is dropped. Text is held
 * back only while it may still be a repetition.
 *
 * An overlap is a repetition if it is unlikely to occur by accident: a word from its beginning, some characters of a
 * dense script, a line from its beginning, or eight and more characters. Not: single characters, punctuation, white
 * space, digits, and text that consists of repetitions itself, such as `na na na`. A model that was given the text as
 * the beginning of its own hardly ever repeats it, so only a long overlap counts then, or the whole text: some services
 * send it back. White space at the end of the first text that such a model was not given is expected once more.
 */
export class Seam {
  readonly #shown: string
  readonly #tail: string
  readonly #isBegun: boolean
  /** White space at the end of the first text that the model was not given. */
  readonly #unsaid: string
  /** The first half of a surrogate pair, if the first text ended with it. */
  #half: string
  #held = ''
  #isClosed = false
  /** How much of the second text has been dropped, in UTF-16 code units. */
  cut = 0

  /** `begunWith`: the text that the model was given as the beginning of its own; absent = it was asked to continue. */
  constructor(shown: string, begunWith?: string) {
    this.#half = /[\ud800-\udbff]$/.exec(shown)?.[0] ?? ''
    this.#shown = shown.slice(0, shown.length - this.#half.length)
    this.#tail = this.#shown.slice(-longest)
    this.#isBegun = begunWith !== undefined
    this.#unsaid = this.#shown.slice(begunWith?.length ?? this.#shown.length)
  }

  /** The part of the next piece that continues the text. */
  add(piece: string): string {
    if (this.#isClosed) return this.#afterHalf(piece)
    this.#held += piece
    return this.#mayGrow() ? '' : this.end()
  }

  /** What has been held back, when no more text follows. */
  end(): string {
    this.#isClosed = true
    const held = this.#held
    this.#held = ''
    if (held !== '') this.cut = this.#overlap(held)
    return this.#afterHalf(held.slice(this.cut))
  }

  /** Leaves out the half of a character that the caller has already been sent. */
  #afterHalf(text: string): string {
    if (this.#half === '' || text === '') return text
    const isRepeated = text.startsWith(this.#half)
    this.#half = ''
    if (isRepeated) this.cut++
    return isRepeated ? text.slice(1) : text
  }

  /** True if more text may make a longer overlap of what is held back. */
  #mayGrow(): boolean {
    const held = this.#held
    if (held.length < this.#unsaid.length && this.#unsaid.startsWith(held)) return true
    if (held.length < this.#shown.length && this.#shown.startsWith(held)) return true
    for (let at = 0; at < this.#tail.length - held.length; at++) if (this.#tail.startsWith(held, at)) return true
    return false
  }

  /** How many code units of `held` repeat the text. */
  #overlap(held: string): number {
    const shown = this.#shown
    if (shown.length > 0 && held.startsWith(shown) && isRepetition(shown, '', false)) return shown.length
    for (let length = Math.min(held.length, this.#tail.length); length > 0; length--) {
      const overlap = held.slice(0, length)
      if (!this.#tail.endsWith(overlap) || isSplit(held, length)) continue
      const before = this.#tail.slice(0, -length)
      // The text repeats itself, so it may continue to do so.
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
/** Characters that say as much as some letters do, and pictures. */
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

/** True for a text that consists of one piece at least twice, the last time perhaps in part. */
function isPeriodic(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++) if (text.startsWith(text.slice(period))) return true
  return false
}
