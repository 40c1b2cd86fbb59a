import { randomBytes } from 'node:crypto'

/** The counts of a JSON text, up to the position that the scan has reached. */
export interface JsonShape {
  /** The number of strings, numbers, true, false, null, lists and objects. An empty list or object counts twice. */
  values: number
  /** The number of lists and objects. */
  containers: number
  /** The number of members of all objects. */
  members: number
  /** The number of members of the top-level object and of objects nested in it, except those within lists. */
  plainMembers: number
  /** The deepest nesting of lists and objects. */
  depth: number
  /** The approximate number of different member names. Counted only in long texts. */
  names: number
}

const space = 32
const quote = 34
const comma = 44
const colon = 58
const openList = 91
const backslash = 92
const closeList = 93
const openObject = 123
const closeObject = 125

/**
 * This many bytes at the start of a string are read one by one. In the rest of a longer string, the closing quote is
 * found with `indexOf`, which is much faster.
 */
const steppedBytes = 32
/**
 * After an escaped quote, this many bytes are read one by one, because `indexOf` is slow in a string that contains many
 * escaped quotes.
 */
const steppedAfterEscape = 512
/**
 * The minimum size of a text whose names are counted. A shorter text cannot contain so many different names that
 * parsing it is expensive.
 */
const namedFromBytes = 32 * 1024
/**
 * The base-2 logarithm of the number of bits in the set of names. Each name sets the bit of its hash. This is enough to
 * distinguish about 10,000 names.
 */
const nameBitsLog = 17

const nothing = new Uint8Array(0)

/**
 * The cleared set of names of a finished scan. The next scan uses it, because allocating a set for each long text would
 * be expensive.
 */
let spareNames: Uint32Array | undefined

function newNames(): Uint32Array {
  const names = spareNames ?? new Uint32Array((1 << nameBitsLog) / 32)
  spareNames = undefined
  return names
}

/** The minimum length of the strings whose positions are recorded in `longTexts`, in bytes, including their quotes. */
const longTextBytes = 1024
/** The names of the members that contain the texts of people and models in the formats of all services. */
const textNames = ['"content"', '"text"'].map((name) => new TextEncoder().encode(name))

/** The factor is different in each process, so that nobody can choose names whose hashes share a bit. */
const hashFactor = randomBytes(4).readUInt32LE() | 1

/**
 * Counts the contents of a JSON text in steps, without building any value. This takes 1 to 3 ms for each MiB. A long
 * text can therefore be refused because of its structure before it is parsed. The scan accepts any bytes. If they are
 * not JSON, the counts have no meaning, and the parser will report the error.
 */
export class JsonScan implements JsonShape {
  values = 0
  containers = 0
  members = 0
  plainMembers = 0
  depth = 0
  names = 0
  /**
   * The start and end of each long string in a member named in `textNames`, including its quotes; undefined without
   * `notesTexts`.
   */
  readonly longTexts: number[] | undefined
  #bytes: Uint8Array
  #at = 0
  #level = 0
  /** The level of the outermost open list; infinite if no list is open. */
  #listLevel = Number.POSITIVE_INFINITY
  /**
   * The range of the last string that was read, and a hash of its first bytes. If a colon follows the string, it is the
   * name of a member.
   */
  #start = 0
  #end = 0
  #hash = 0
  /** The name of the top-level member to search for, with its quotes. */
  readonly #wanted: Uint8Array
  /** The position of the colon after the wanted name, until the next string has been read. */
  #wantedColon = -1
  #wantedValue: Uint8Array | undefined
  #seen: Uint32Array | undefined

  /**
   * `wanted` is the name, with its quotes, of a top-level member. If the value of this member is a string, it is kept
   * for `wantedString`. If `notesTexts` is true, `longTexts` is filled.
   */
  constructor(bytes: Uint8Array, wanted: Uint8Array = nothing, notesTexts = false) {
    this.#bytes = bytes
    this.longTexts = notesTexts ? [] : undefined
    this.#wanted = wanted
    if (bytes.length >= namedFromBytes) this.#seen = newNames()
  }

  /**
   * Scans another text and adds its counts to the existing ones. A name that was already counted is not counted again.
   */
  goOn(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#at = 0
    this.#level = 0
    this.#listLevel = Number.POSITIVE_INFINITY
    this.#wantedColon = -1
    this.#seen ??= newNames()
  }

  /** Must be the last call. Makes the memory available to the next scan. The counts remain valid. */
  end(): void {
    if (!this.#seen) return
    this.#seen.fill(0)
    spareNames = this.#seen
    this.#seen = undefined
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length
  }

  /**
   * The value of the wanted member as a JSON string; undefined if it is missing or not a string. If the member occurs
   * twice, the first value is returned.
   */
  get wantedString(): string | undefined {
    return this.#wantedValue && new TextDecoder().decode(this.#wantedValue)
  }

  /** Reads `length` more bytes. A string that begins within them is read to its end. */
  step(length: number): void {
    const bytes = this.#bytes
    const end = Math.min(this.#at + length, bytes.length)
    let at = this.#at
    while (at < end) {
      const byte = bytes[at]
      if (byte === quote) {
        this.#start = at
        at = this.#string(at)
        this.#end = at
        if (this.#wantedColon >= 0) this.#keepWanted(at)
        if (at - this.#start >= longTextBytes && this.longTexts) this.#noteText(this.longTexts, at)
      } else {
        if (byte === comma) this.values++
        else if (byte === colon) this.#member(at)
        else if (byte === openObject || byte === openList) this.#open(byte === openList)
        else if (byte === closeObject || byte === closeList) this.#close()
        at++
      }
    }
    this.#at = at
  }

  #open(isList: boolean): void {
    this.values += 2
    this.containers++
    this.#level++
    if (this.#level > this.depth) this.depth = this.#level
    if (isList && this.#listLevel > this.#level) this.#listLevel = this.#level
  }

  #close(): void {
    if (this.#listLevel >= this.#level) this.#listLevel = Number.POSITIVE_INFINITY
    this.#level--
  }

  #member(at: number): void {
    this.members++
    if (this.#listLevel > this.#level) this.plainMembers++
    if (this.#level === 1 && this.#wantedValue === undefined && this.#nameIsWanted()) this.#wantedColon = at
    if (!this.#seen) return
    const bit = this.#nameHash() >>> (32 - nameBitsLog)
    const mask = 1 << (bit & 31)
    const word = this.#seen[bit >>> 5] ?? 0
    if ((word & mask) !== 0) return
    this.#seen[bit >>> 5] = word | mask
    this.names++
  }

  /**
   * The hash of the last string. The hash does not yet contain the bytes after the first `steppedBytes`, so they are
   * added. They are added only once, even if several colons follow the string.
   */
  #nameHash(): number {
    let hash = this.#hash
    for (let at = this.#start + steppedBytes; at < this.#end; at++)
      hash = Math.imul(hash, hashFactor) + (this.#bytes[at] ?? 0)
    this.#hash = hash
    this.#end = this.#start
    return Math.imul(hash ^ (hash >>> 15), hashFactor)
  }

  #nameIsWanted(): boolean {
    const wanted = this.#wanted
    for (let at = 0; at < wanted.length; at++) if (this.#bytes[this.#start + at] !== wanted[at]) return false
    return wanted.length > 0
  }

  /**
   * Keeps a string as the value of the wanted member, unless there is anything except white space between the colon and
   * the string.
   */
  #keepWanted(end: number): void {
    let at = this.#wantedColon + 1
    while ((this.#bytes[at] ?? quote) <= space) at++
    if (at === this.#start) this.#wantedValue = this.#bytes.subarray(at, end)
    this.#wantedColon = -1
  }

  /** Records the range of the last string if it is the value of a member named in `textNames`. */
  #noteText(texts: number[], end: number): void {
    const colonAt = this.#lastBefore(this.#start)
    if (this.#bytes[colonAt] !== colon) return
    const nameEnd = this.#lastBefore(colonAt) + 1
    for (const name of textNames) if (this.#endsName(nameEnd, name)) texts.push(this.#start, end)
  }

  #endsName(end: number, name: Uint8Array): boolean {
    const start = end - name.length
    for (let at = 0; at < name.length; at++) if (this.#bytes[start + at] !== name[at]) return false
    // If a backslash precedes the opening quote, the quote is part of a longer name.
    return this.#bytes[start - 1] !== backslash
  }

  /** The position of the last byte before `at` that is not white space. */
  #lastBefore(at: number): number {
    let before = at - 1
    while ((this.#bytes[before] ?? quote) <= space) before--
    return before
  }

  /** Reads the string that begins at `start` and returns its end. */
  #string(start: number): number {
    const bytes = this.#bytes
    let hash = 0
    let at = start + 1
    let stepTo = at + steppedBytes
    for (;;) {
      while (at < stepTo) {
        const byte = bytes[at]
        if (byte === quote) {
          this.#hash = hash
          return at + 1
        }
        if (byte === undefined) return bytes.length
        hash = Math.imul(hash, hashFactor) + byte
        at += byte === backslash ? 2 : 1
      }
      const quoteAt = bytes.indexOf(quote, at)
      if (quoteAt < 0) return bytes.length
      let slashes = quoteAt
      while (slashes > at && bytes[slashes - 1] === backslash) slashes--
      if ((quoteAt - slashes) % 2 === 0) {
        this.#hash = hash
        return quoteAt + 1
      }
      at = quoteAt + 1
      stepTo = at + steppedAfterEscape
    }
  }
}
