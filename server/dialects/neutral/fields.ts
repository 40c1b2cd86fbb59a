import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Conversation, DialectName, Native } from './conversation.ts'
import { maxTokensLimit } from './request-limits.ts'

/** A field that is not what it must be: 400, with the field's place as `param`. */
export function wrongField(path: string, expected: string): GatewayError {
  return new GatewayError('invalid_field_value', `${path} must be ${expected}`, { param: path })
}

/** A field that must be there and is not: 400, with the field's place as `param`. */
export function missingField(path: string): GatewayError {
  return new GatewayError('required_field_missing', `${path} is required`, { param: path })
}

/**
 * Reads one object of a caller's request strictly: null counts as absent, and a value of another type is refused by its
 * place. It remembers which members were asked for, its own and those of the objects within it, so that what nobody read
 * is known without a list: `native` hands it over with the object it stands in, and all of it is named by its place.
 */
export class Fields {
  readonly path: string
  readonly #object: JsonObject
  /** Members that are there and were asked for. Few, so that a list is faster than a set; a request has many objects. */
  readonly #asked: string[] = []
  /** Objects that are members, by name, and objects in lists; made when there are some, like all that follows. */
  #members: Map<string, Fields> | undefined
  #lists: Map<string, Fields[]> | undefined
  #others: Fields[] | undefined
  /** Members that are named although such a name mostly says nothing. */
  #decisive: Set<string> | undefined
  /** What was not asked for is known to whoever has the object. */
  #isKept = false
  /** So is all within it. */
  #isKeptWhole = false
  /** Nothing of it is left over. */
  #isWhole = false

  constructor(value: unknown, path: string) {
    if (!isObject(value)) throw wrongField(path === '' ? 'the request body' : path, 'an object')
    this.path = path
    this.#object = value
  }

  /** The place of a member. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  /** The value as it is; undefined for null. */
  raw(name: string): unknown {
    const value = this.#object[name] ?? undefined
    if (value !== undefined) this.#asked.push(name)
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

  /** A whole number that is not negative. */
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

  /** A member that is an object, read in a way of its own. */
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

  /** An object within this one that is no member of it, such as one in a list of texts and objects. */
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

  /** The objects of a list, each to be read in turn. */
  each(name: string): Fields[] | undefined {
    return this.listed(name, this.list(name), (value, place) => new Fields(value, place))
  }

  /** The objects of a list, read in a way of their own. */
  listed(
    name: string,
    list: readonly unknown[] | undefined,
    read: (value: unknown, place: string) => Fields,
  ): Fields[] | undefined {
    const known = this.#lists?.get(name)
    if (known || !list) return known
    const all = list.map((value, index) => read(value, `${this.at(name)}[${index}]`))
    this.#lists ??= new Map()
    this.#lists.set(name, all)
    return all
  }

  /** One of several words; undefined for another one, which is left to the caller's own dialect. */
  knownWord<W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.#object[name]
    const found = typeof value === 'string' ? words.find((word) => word === value.toLowerCase()) : undefined
    if (found !== undefined || typeof value !== 'string') this.text(name)
    else {
      this.#decisive ??= new Set()
      this.#decisive.add(name)
    }
    return found
  }

  /** One of several words. */
  word<W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.text(name)
    const found = words.find((word) => word === value)
    if (value === undefined || found !== undefined) return found
    throw wrongField(this.at(name), `one of ${words.join(', ')}`)
  }

  /** The object as it came, to look at; what is seen so does not count as asked for. */
  get value(): JsonObject {
    return this.#object
  }

  /** The whole object for its own dialect; others are given what was asked for. */
  keep(): JsonObject {
    this.#isKeptWhole = true
    return this.#object
  }

  /** The whole object, as it came: nothing of it is left over. */
  whole(): JsonObject {
    this.#isWhole = true
    this.#members = undefined
    this.#lists = undefined
    this.#others = undefined
    return this.#object
  }

  /** The members that were not asked for. */
  native(dialect: DialectName): { native?: Native } {
    this.#isKept = true
    const rest = this.#rest()
    return rest.length > 0 ? { native: { dialect, fields: Object.fromEntries(rest) } } : {}
  }

  /** The same with those of the objects that are members, however deep. */
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

  /** Sorts the places of all members that nobody asked for, in this object and those within it. */
  addUnread(unread: Unread, isWithinKept = false): void {
    const isKept = isWithinKept || this.#isKeptWhole
    const found = isKept || this.#isKept ? unread.kept : unread.lost
    for (const [name] of this.#rest())
      if (!harmless.has(name) || this.#decisive?.has(name)) found.add(plainPlace(this.at(name)))
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
      if (value !== null && !this.#asked.includes(name)) rest.push([name, value])
    }
    return rest
  }
}

/** Places of members that nobody asked for: those that their own dialect writes back, and those that nobody does. */
export interface Unread {
  readonly kept: Set<string>
  readonly lost: Set<string>
}

/** What is left of a request when all has been read. */
export function leftOf(body: Fields, dialect: DialectName): Pick<Conversation, 'native' | 'unread'> {
  const unread = () => {
    const all: Unread = { kept: new Set(), lost: new Set() }
    body.addUnread(all)
    return all
  }
  return { ...body.deepNative(dialect), unread }
}

/** A place without the numbers of what stands in lists. */
function plainPlace(path: string): string {
  return path.replace(/\[\d+\]/g, '')
}

/** Said of the dialect's own surroundings; nothing of the meaning goes with them. */
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

/** What an upstream sent where a text is expected; '' for anything else. */
export function looseText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** What an upstream sent where an object is expected; empty for anything else. */
export function looseObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The objects of what an upstream sent where a list is expected. */
export function looseList(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isObject) : []
}

/** What an upstream sent where a count is expected; 0 for anything else. */
export function looseCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
