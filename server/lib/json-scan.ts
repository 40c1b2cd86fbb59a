import { randomBytes } from 'node:crypto'

/** The contents of a JSON text, as scanned so far. */
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
 * The first bytes of a string are read one by one. For the rest of a longer string, searching for the closing quote is
 * much faster.
 */
const steppedBytes = 32
/**
 * After an escaped quote, this many bytes are read one by one, because searching would be slow in a text full of
 * escapes.
 */
const steppedAfterEscape = 512
/** The minimum size of a text whose names are counted. A shorter text cannot contain many different names. */
const namedFromBytes = 32 * 1024
/**
 * The base-2 logarithm of the size of the set of names. The set has one bit for each hash, which is enough to
 * distinguish about 10,000 names.
 */
const nameBitsLog = 17

const nothing = new Uint8Array(0)

/**
 * An empty set of names from a finished scan, which is reused because allocating a new one for each long text would be
 * expensive.
 */
let spareNames: Uint32Array | undefined

function newNames(): Uint32Array {
  const names = spareNames ?? new Uint32Array((1 << nameBitsLog) / 32)
  spareNames = undefined
  return names
}

/** Texts are noted if they have at least this length, including their quotes. */
const longTextBytes = 1024
/** The members that contain texts of people and models, in the formats of all services. */
const textNames = ['"content"', '"text"'].map((name) => new TextEncoder().encode(name))

/** The factor is different in each process, so that nobody can choose names whose hashes share a bit. */
const hashFactor = randomBytes(4).readUInt32LE() | 1

/**
 * Counts the contents of a JSON text in steps, without building any value. This takes 1 to 3 ms for each MiB. A long
 * text can therefore be refused for its structure before it is parsed. Any bytes are accepted. The parser later decides
 * whether they are JSON. If they are not, the counts have no meaning.
 */
export class JsonScan implements JsonShape {
  values = 0
  containers = 0
  members = 0
  plainMembers = 0
  depth = 0
  names = 0
  /** The start and end of each long text, including its quotes; undefined if they are not noted. */
  readonly longTexts: number[] | undefined
  #bytes: Uint8Array
  #at = 0
  #level = 0
  /** The level of the outermost open list; infinite if no list is open. */
  #listLevel = Number.POSITIVE_INFINITY
  /**
   * The range of the last string, and a hash of its first bytes. If a colon follows, the string is the name of a
   * member.
   */
  #start = 0
  #end = 0
  #hash = 0
  /** The quoted name of the top-level member to search for, as it appears before the colon. */
  readonly #wanted: Uint8Array
  /** The position of the colon after the wanted name, until the next string has been read. */
  #wantedColon = -1
  #wantedValue: Uint8Array | undefined
  #seen: Uint32Array | undefined

  /**
   * `wanted` is the quoted name of the member of the top-level object whose string value is kept. If `notesTexts` is
   * true, the ranges of long texts are noted.
   */
  constructor(bytes: Uint8Array, wanted: Uint8Array = nothing, notesTexts = false) {
    this.#bytes = bytes
    this.longTexts = notesTexts ? [] : undefined
    this.#wanted = wanted
    if (bytes.length >= namedFromBytes) this.#seen = newNames()
  }

  /** Continues with another text and adds its counts, including names, to the counts so far. */
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
   * The hash of the last string. Adds the rest of a long name, which had been skipped. It is added only once, even if
   * several colons follow the string.
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
   * Keeps a string as the value of the wanted member. If anything except white space is between the colon and the
   * string, the string is not the value.
   */
  #keepWanted(end: number): void {
    let at = this.#wantedColon + 1
    while ((this.#bytes[at] ?? quote) <= space) at++
    if (at === this.#start) this.#wantedValue = this.#bytes.subarray(at, end)
    this.#wantedColon = -1
  }

  /** Notes the last string if it is the value of a member that contains texts. */
  #noteText(texts: number[], end: number): void {
    const colonAt = this.#lastBefore(this.#start)
    if (this.#bytes[colonAt] !== colon) return
    const nameEnd = this.#lastBefore(colonAt) + 1
    for (const name of textNames) if (this.#endsName(nameEnd, name)) texts.push(this.#start, end)
  }

  #endsName(end: number, name: Uint8Array): boolean {
    const start = end - name.length
    for (let at = 0; at < name.length; at++) if (this.#bytes[start + at] !== name[at]) return false
    // A quote after a backslash would be part of a longer name.
    return this.#bytes[start - 1] !== backslash
  }

  /** The position of the last byte before this one that is not white space. */
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
