import { Buffer, isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { type TextSize, TextSizer } from './text-sizer.ts'

/**
 * The beginning of every placeholder, the short string that replaces a long one. It is random, so no string in a
 * caller's text can look like a placeholder.
 */
const key = `${randomBytes(12).toString('hex')}~`
const openMark = `"${key}`
/** The end of every placeholder. A text that continues after this end is not a placeholder. */
const keyEnd = '~'

const byteOrderMark = 0xef
/**
 * The minimum share of a text's bytes that must be in long strings. The other bytes may be read twice, for the outline
 * and for the whole text. If they were more than a quarter of the text, reading them twice could take more time than
 * the limits for JSON bodies allow.
 */
const leastShare = 0.75

/**
 * A JSON text in which long strings have been replaced by placeholders, which are short strings. Decoding and parsing a
 * long text takes several megabytes of new memory for each megabyte of text, but most code needs only the structure,
 * the short values and the sizes of the long strings. The whole text is decoded and parsed only when it is first
 * needed.
 */
export class JsonOutline {
  /** The original text, which is valid JSON in UTF-8. */
  readonly bytes: Uint8Array
  /** The JSON text with the placeholders, and its parsed value. */
  readonly text: string
  readonly value: unknown
  readonly #buffer: Buffer
  /** The start and end of each long string, including its quotes. */
  readonly #ranges: readonly number[]
  readonly #sizes: readonly TextSize[]
  #wholeText: string | undefined
  #whole: unknown

  constructor(bytes: Uint8Array, ranges: readonly number[], sizes: readonly TextSize[]) {
    this.bytes = bytes
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#ranges = ranges
    this.#sizes = sizes
    this.text = this.#marked()
    this.value = JSON.parse(this.text)
  }

  /** The number of strings that were replaced. */
  get count(): number {
    return this.#sizes.length
  }

  /** The whole text. */
  get wholeText(): string {
    this.#wholeText ??= this.#decoded(0, this.bytes.length)
    return this.#wholeText
  }

  /** The parsed value of the whole text. */
  get whole(): unknown {
    this.#whole ??= JSON.parse(this.wholeText)
    return this.#whole
  }

  /** The size of the string that a placeholder replaces; undefined if the text is not a placeholder. */
  sizeOf(text: string): TextSize | undefined {
    return text.startsWith(key) ? this.#sizes[indexIn(text)] : undefined
  }

  /** True if a text contains a placeholder. */
  isMarked(text: string): boolean {
    return text.includes(key)
  }

  /** The string that a placeholder replaces. Any other text is returned unchanged. */
  textOf(text: string): string {
    if (!text.startsWith(key)) return text
    const [start, end] = this.#rangeOf(indexIn(text))
    return JSON.parse(this.#decoded(start, end)) as string
  }

  /**
   * Replaces the placeholders in an edited outline with the original strings and returns the bytes. Throws if a
   * placeholder was changed.
   */
  restored(text: string): Uint8Array {
    const parts: Uint8Array[] = []
    let from = 0
    for (let at = text.indexOf(openMark); at >= 0; at = text.indexOf(openMark, from)) {
      const quote = text.indexOf('"', at + 1)
      const [start, end] = this.#rangeOf(indexIn(text.slice(at + 1, quote)))
      parts.push(this.#plain(text.slice(from, at)), this.bytes.subarray(start, end))
      from = quote + 1
    }
    parts.push(this.#plain(text.slice(from)))
    return Buffer.concat(parts)
  }

  /** The bytes of a text between two placeholders. Throws if it contains a part of a placeholder. */
  #plain(text: string): Uint8Array {
    if (this.isMarked(text)) throw changed()
    return Buffer.from(text)
  }

  #marked(): string {
    let text = ''
    let from = 0
    for (let index = 0; index < this.count; index++) {
      text += `${this.#decoded(from, this.#ranges[2 * index] ?? 0)}${openMark}${index}${keyEnd}"`
      from = this.#ranges[2 * index + 1] ?? 0
    }
    return text + this.#decoded(from, this.bytes.length)
  }

  #rangeOf(index: number): [start: number, end: number] {
    const start = this.#ranges[2 * index]
    const end = this.#ranges[2 * index + 1]
    if (start === undefined || end === undefined) throw changed()
    return [start, end]
  }

  #decoded(start: number, end: number): string {
    return this.#buffer.toString('utf8', start, end)
  }
}

/**
 * The index of the string that a placeholder replaces; NaN for a text that begins like a placeholder but is not one.
 */
function indexIn(mark: string): number {
  const end = mark.length - 1
  return mark.indexOf(keyEnd, key.length) === end ? Number(mark.slice(key.length, end)) : Number.NaN
}

function changed(): Error {
  return new Error('a long text was changed in an outline')
}

/**
 * Creates the outline of a JSON text in steps. `ranges` contains the start and end of each long string, including its
 * quotes, as found by `JsonScan`.
 */
export class OutlineMaker {
  readonly #bytes: Uint8Array
  readonly #ranges: readonly number[]
  readonly #sizes: TextSize[] = []
  readonly #sizer: TextSizer

  constructor(bytes: Uint8Array, ranges: readonly number[]) {
    this.#bytes = bytes
    this.#ranges = ranges
    this.#sizer = new TextSizer(bytes)
  }

  /** True if an outline would be much shorter than the text and the text has no byte order mark. */
  static pays(bytes: Uint8Array, ranges: readonly number[]): boolean {
    let length = 0
    for (let at = 0; at < ranges.length; at += 2) length += (ranges[at + 1] ?? 0) - (ranges[at] ?? 0)
    return length >= leastShare * bytes.length && bytes[0] !== byteOrderMark
  }

  /**
   * Reads about `length` more bytes. Returns true if there may be more to read, and false if everything was read or a
   * string is not valid.
   */
  step(length: number): boolean {
    const ranges = this.#ranges
    for (let read = 0; read < length; ) {
      const at = 2 * this.#sizes.length
      const start = ranges[at]
      const end = ranges[at + 1]
      if (start === undefined || end === undefined) return false
      const size = this.#sizer.sizeOf(start, end)
      if (!size) return false
      this.#sizes.push(size)
      read += end - start
    }
    return true
  }

  /** The outline, after everything was read. Undefined if the text is not valid JSON in UTF-8. */
  outline(): JsonOutline | undefined {
    if (2 * this.#sizes.length < this.#ranges.length || !isUtf8(this.#bytes)) return undefined
    try {
      return new JsonOutline(this.#bytes, this.#ranges, this.#sizes)
    } catch {
      return undefined
    }
  }
}
