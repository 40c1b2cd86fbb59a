import { randomBytes } from 'node:crypto'

/** The contents of a JSON text, as scanned so far. */
export interface JsonShape {
  /** Strings, numbers, true, false, null, lists and objects; an empty list or object counts as two. */
  values: number
  /** Lists and objects. */
  containers: number
  /** Members of all objects. */
  members: number
  /** Members of the top-level object, and of objects nested in it without a list in between. */
  plainMembers: number
  /** The deepest nesting of lists and objects. */
  depth: number
  /** The number of different member names, approximately; counted only in long texts. */
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

/** Short strings are read byte by byte. For longer strings, searching for the closing quote is much faster. */
const steppedBytes = 32
/**
 * After an escaped quote, this many bytes are read one by one, because searching would be slow in a text full of
 * escapes.
 */
const steppedAfterEscape = 512
/** A shorter text cannot contain many different names. */
const namedFromBytes = 32 * 1024
/**
 * Base-2 logarithm of the size of the set of names, which has one bit for each hash: enough to distinguish some 10,000
 * names.
 */
const nameBitsLog = 17

const nothing = new Uint8Array(0)

/** An empty set of names that a finished scan left behind. New memory for each long text would cost more than the set. */
let spareNames: Uint32Array | undefined

function newNames(): Uint32Array {
  const names = spareNames ?? new Uint32Array((1 << nameBitsLog) / 32)
  spareNames = undefined
  return names
}

/** Strings from this length on, quotes included, are noted if they are texts. */
const longTextBytes = 1024
/** The members whose strings are texts that people and models write, in the formats of all services. */
const textNames = ['"content"', '"text"'].map((name) => new TextEncoder().encode(name))

/** Different in each process, so that nobody can choose names whose hashes share a bit. */
const hashFactor = randomBytes(4).readUInt32LE() | 1

/**
 * Counts the contents of a JSON text without building any value: 1 to 3 ms for each MiB, in steps. A long text can thus
 * be refused for its structure before it is parsed. It accepts any bytes. The parser decides whether they are JSON; for
 * a text that is not JSON, the counts have no meaning.
 */
export class JsonScan implements JsonShape {
  values = 0
  containers = 0
  members = 0
  plainMembers = 0
  depth = 0
  names = 0
  /** The start and the end of each long text, quotes included; undefined if they are not noted. */
  readonly longTexts: number[] | undefined
  #bytes: Uint8Array
  #at = 0
  #level = 0
  /** Level of the outermost open list; infinite if no list is open. */
  #listLevel = Number.POSITIVE_INFINITY
  /** The range of the last string, and a hash of its first bytes. The string is a member's name if a colon follows. */
  #start = 0
  #end = 0
  #hash = 0
  /** The quoted name of the top-level member to look for, as written before its colon. */
  readonly #wanted: Uint8Array
  /** The position of the colon after the wanted name, until the next string has been read. */
  #wantedColon = -1
  #wantedValue: Uint8Array | undefined
  #seen: Uint32Array | undefined

  /**
   * `wanted` is the quoted name of a member of the top-level object whose string value is kept. `notesTexts`: the long
   * texts are noted.
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

  /** Must be the last call. Leaves memory to the next scan; the counts remain. */
  end(): void {
    if (!this.#seen) return
    this.#seen.fill(0)
    spareNames = this.#seen
    this.#seen = undefined
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** The wanted member as a JSON string, if it occurred and is a string; the first one if it occurred twice. */
  get wantedString(): string | undefined {
    return this.#wantedValue && new TextDecoder().decode(this.#wantedValue)
  }

  /** Reads this many more bytes; a string that begins within them is read to its end. */
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
   * Adds the rest of a long name, which had been skipped, to the hash. It is added only once, however many colons
   * follow a string.
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

  /** If there is anything but white space between the colon and the string, the string is not the member's value. */
  #keepWanted(end: number): void {
    let at = this.#wantedColon + 1
    while ((this.#bytes[at] ?? quote) <= space) at++
    if (at === this.#start) this.#wantedValue = this.#bytes.subarray(at, end)
    this.#wantedColon = -1
  }

  /** Notes the last string if it is the value of a member for texts. */
  #noteText(texts: number[], end: number): void {
    const colonAt = this.#lastBefore(this.#start)
    if (this.#bytes[colonAt] !== colon) return
    const nameEnd = this.#lastBefore(colonAt) + 1
    for (const name of textNames) if (this.#endsName(nameEnd, name)) texts.push(this.#start, end)
  }

  #endsName(end: number, name: Uint8Array): boolean {
    const start = end - name.length
    for (let at = 0; at < name.length; at++) if (this.#bytes[start + at] !== name[at]) return false
    // After a backslash, the quote would be part of a longer name.
    return this.#bytes[start - 1] !== backslash
  }

  /** The position of the last byte before this one that is not white space. */
  #lastBefore(at: number): number {
    let before = at - 1
    while ((this.#bytes[before] ?? quote) <= space) before--
    return before
  }

  /** Reads the string that begins here and returns its end. */
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
