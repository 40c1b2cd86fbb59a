import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Conversation, DialectName, Native } from './conversation.ts'
import { maxTokensLimit } from './request-limits.ts'

/** The error for a field with an invalid value: 400, with the field's path as `param`. */
export function wrongField(path: string, expected: string): GatewayError {
  return new GatewayError('invalid_field_value', `${path} must be ${expected}`, { param: path })
}

/** The error for a required field that is missing: 400, with the field's path as `param`. */
export function missingField(path: string): GatewayError {
  return new GatewayError('required_field_missing', `${path} is required`, { param: path })
}

/**
 * Reads one object of a caller's request strictly: null counts as absent, and a value of the wrong type is refused with
 * its path. It tracks which fields were read, in this object and in the objects within it, so the unread fields can be
 * found without a list of all known names. `native` returns the unread fields of one object, and `addUnread` lists all
 * of them by path.
 */
export class Fields {
  readonly path: string
  readonly #object: JsonObject
  /**
   * Fields that exist and were read. There are few of them, so a list is faster than a set. This matters because a
   * request has many objects.
   */
  readonly #readNames: string[] = []
  /** Nested objects by field name, and objects in lists. These collections and the ones below are created on demand. */
  #members: Map<string, Fields> | undefined
  #lists: Map<string, Fields[]> | undefined
  #others: Fields[] | undefined
  /** Fields that are listed as unread even if their name is in `harmless`. */
  #decisive: Set<string> | undefined
  /** True if `native` has returned the unread fields of this object. */
  #isKept = false
  /** True if `keep` has returned this object, with all unread fields in it and in the objects within it. */
  #isKeptWhole = false
  /** True if `whole` has returned this object, so that none of its fields counts as unread. */
  #isWhole = false

  constructor(value: unknown, path: string) {
    if (!isObject(value)) throw wrongField(path === '' ? 'the request body' : path, 'an object')
    this.path = path
    this.#object = value
  }

  /** The path of a field. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  /** The value unchanged; undefined for null. */
  raw(name: string): unknown {
    const value = this.#object[name] ?? undefined
    if (value !== undefined) this.#readNames.push(name)
    return value
  }

  text(name: string): string | undefined {
    const value = this.raw(name)
    if (value === undefined || typeof value === 'string') return value
    throw wrongField(this.at(name), 'a string')
  }

  needText(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw missingField(this.at(name))
    return value
  }

  number(name: string): number | undefined {
    const value = this.raw(name)
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
    throw wrongField(this.at(name), 'a number')
  }

  /** A non-negative integer. */
  count(name: string): number | undefined {
    const value = this.number(name)
    if (value === undefined || (Number.isInteger(value) && value >= 0 && value < maxTokensLimit)) return value
    throw wrongField(this.at(name), `a whole number from 0 to ${maxTokensLimit - 1}`)
  }

  flag(name: string): boolean | undefined {
    const value = this.raw(name)
    if (value === undefined || typeof value === 'boolean') return value
    throw wrongField(this.at(name), 'true or false')
  }

  object(name: string): JsonObject | undefined {
    const value = this.raw(name)
    if (value === undefined || isObject(value)) return value
    throw wrongField(this.at(name), 'an object')
  }

  fields(name: string): Fields | undefined {
    return this.member(name, (value) => new Fields(value, this.at(name)))
  }

  /** A nested object, read with the function `read`. */
  member(name: string, read: (value: JsonObject) => Fields): Fields | undefined {
    const known = this.#members?.get(name)
    if (known) return known
    const value = this.object(name)
    const fields = value && read(value)
    if (fields) {
      this.#members ??= new Map()
      this.#members.set(name, fields)
    }
    return fields
  }

  /**
   * Registers an object within this one that is not one of its fields, such as an object in a list of texts and
   * objects.
   */
  within(fields: Fields): Fields {
    this.#others ??= []
    this.#others.push(fields)
    return fields
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.raw(name)
    if (value === undefined || Array.isArray(value)) return value
    throw wrongField(this.at(name), 'a list')
  }

  texts(name: string): string[] | undefined {
    return this.list(name)?.map((value, index) => {
      if (typeof value === 'string') return value
      throw wrongField(`${this.at(name)}[${index}]`, 'a string')
    })
  }

  /** The objects of a list, for reading one by one. */
  each(name: string): Fields[] | undefined {
    return this.listed(name, this.list(name), (value, path) => new Fields(value, path))
  }

  /** The objects of a list, each read with the function `read`. */
  listed(
    name: string,
    list: readonly unknown[] | undefined,
    read: (value: unknown, path: string) => Fields,
  ): Fields[] | undefined {
    const known = this.#lists?.get(name)
    if (known || !list) return known
    const all = list.map((value, index) => read(value, `${this.at(name)}[${index}]`))
    this.#lists ??= new Map()
    this.#lists.set(name, all)
    return all
  }

  /**
   * One of several words. Any other word counts as unread, so that an encoder of the caller's own dialect can write it
   * back, and the result is undefined.
   */
  knownWord<W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.#object[name]
    const match = typeof value === 'string' ? words.find((word) => word === value.toLowerCase()) : undefined
    if (match !== undefined || typeof value !== 'string') this.text(name)
    else {
      this.#decisive ??= new Set()
      this.#decisive.add(name)
    }
    return match
  }

  /** One of several words. Any other word is refused. */
  word<W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.text(name)
    const match = words.find((word) => word === value)
    if (value === undefined || match !== undefined) return match
    throw wrongField(this.at(name), `one of ${words.join(', ')}`)
  }

  /** The raw object, for inspection. Using it does not count as reading its fields. */
  get value(): JsonObject {
    return this.#object
  }

  /** Returns the whole object for its own dialect. Other dialects get only the fields that were read. */
  keep(): JsonObject {
    this.#isKeptWhole = true
    return this.#object
  }

  /** Returns the whole object unchanged. None of its fields counts as unread. */
  whole(): JsonObject {
    this.#isWhole = true
    this.#members = undefined
    this.#lists = undefined
    this.#others = undefined
    return this.#object
  }

  /** The fields that were not read. */
  native(dialect: DialectName): { native?: Native } {
    this.#isKept = true
    const rest = this.#rest()
    return rest.length > 0 ? { native: { dialect, fields: Object.fromEntries(rest) } } : {}
  }

  /** The fields that were not read, including those of nested objects at any depth. */
  deepNative(dialect: DialectName): { native?: Native } {
    const inner: Record<string, Native> = {}
    for (const [name, fields] of this.#members ?? []) {
      const { native } = fields.#isKept ? {} : fields.deepNative(dialect)
      if (native) inner[name] = native
    }
    const { native } = this.native(dialect)
    if (Object.keys(inner).length === 0) return native ? { native } : {}
    return { native: { dialect, fields: native?.fields ?? {}, inner } }
  }

  /** Adds the paths of all unread fields, in this object and the objects within it, to `unread`. */
  addUnread(unread: Unread, isWithinKept = false): void {
    const isKept = isWithinKept || this.#isKeptWhole
    const paths = isKept || this.#isKept ? unread.kept : unread.lost
    for (const [name] of this.#rest())
      if (!harmless.has(name) || this.#decisive?.has(name)) paths.add(withoutIndexes(this.at(name)))
    if (this.#members) for (const fields of this.#members.values()) fields.addUnread(unread, isKept)
    if (this.#lists)
      for (const list of this.#lists.values()) for (const fields of list) fields.addUnread(unread, isKept)
    if (this.#others) for (const fields of this.#others) fields.addUnread(unread, isKept)
  }

  #rest(): [string, unknown][] {
    const rest: [string, unknown][] = []
    if (this.#isWhole) return rest
    for (const name in this.#object) {
      const value = this.#object[name]
      if (value !== null && !this.#readNames.includes(name)) rest.push([name, value])
    }
    return rest
  }
}

/**
 * Paths of fields that were not read. An encoder of the caller's dialect writes back the fields in `kept`. No encoder
 * writes the fields in `lost`.
 */
export interface Unread {
  readonly kept: Set<string>
  readonly lost: Set<string>
}

/** The unread fields of a request. Must be called after all fields of the request have been read. */
export function leftOf(body: Fields, dialect: DialectName): Pick<Conversation, 'native' | 'unread'> {
  const unread = () => {
    const all: Unread = { kept: new Set(), lost: new Set() }
    body.addUnread(all)
    return all
  }
  return { ...body.deepNative(dialect), unread }
}

/** A path without list indexes. */
function withoutIndexes(path: string): string {
  return path.replace(/\[\d+\]/g, '')
}

/** Fields that matter only within their own dialect. Dropping them does not change the meaning of the request. */
const harmless: ReadonlySet<string> = new Set([
  'store',
  'include',
  'stream_options',
  'usage',
  'anthropic_version',
  'anthropic_beta',
  'id',
  'status',
  'type',
  'index',
  'phase',
])

/** A text from an upstream; '' for any other value. */
export function looseText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** An object from an upstream; empty for any other value. */
export function looseObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The objects of a list from an upstream. */
export function looseList(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isObject) : []
}

/** A count from an upstream; 0 for any other value. */
export function looseCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
