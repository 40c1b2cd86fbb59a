import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { DialectName, Native } from './conversation.ts'
import { maxTokensLimit } from './limits.ts'

/** A field that is not what it must be: 400, with the field's place as `param`. */
export function wrongField(path: string, expected: string): GatewayError {
  return new GatewayError('invalid_field_value', `${path} must be ${expected}`, { param: path })
}

/** A field that must be there and is not: 400, with the field's place as `param`. */
export function missingField(path: string): GatewayError {
  return new GatewayError('required_field_missing', `${path} is required`, { param: path })
}

/**
 * Reads one object of a caller's request strictly: null counts as absent, a value of another type is refused by its
 * place, and what nobody asked for is left over as `native`.
 */
export class Fields {
  readonly path: string
  readonly #object: JsonObject
  readonly #asked = new Set<string>()

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
    this.#asked.add(name)
    return this.#object[name] ?? undefined
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
    const value = this.object(name)
    return value && new Fields(value, this.at(name))
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
    return this.list(name)?.map((value, index) => new Fields(value, `${this.at(name)}[${index}]`))
  }

  /** One of several words. */
  word<W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.text(name)
    const found = words.find((word) => word === value)
    if (value === undefined || found !== undefined) return found
    throw wrongField(this.at(name), `one of ${words.join(', ')}`)
  }

  /** The object as it came. */
  get value(): JsonObject {
    return this.#object
  }

  /** The members that were not asked for. */
  native(dialect: DialectName): { native?: Native } {
    const rest = Object.entries(this.#object).filter(([name, value]) => !this.#asked.has(name) && value !== null)
    return rest.length > 0 ? { native: { dialect, fields: Object.fromEntries(rest) } } : {}
  }
}

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
