import { GatewayError } from '../../errors.ts'
import { foldedName } from '../../lib/folded-name.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { Fields, wrongField } from '../neutral/fields.ts'

/**
 * Reads a Google object by camelCase names. The API also accepts each name in snake_case (protocol buffers' JSON
 * format), and callers use both. Only the object's own names are converted, not nested ones.
 */
export function protoFields(value: unknown, path: string): Fields {
  return new Fields(isObject(value) ? camelNames(value, path) : value, path)
}

/** A field that is an object, read by camelCase names. */
export function protoMember(owner: Fields, name: string): Fields | undefined {
  return owner.member(name, (value) => protoFields(value, owner.at(name)))
}

/** The objects of a list. As in the API, a single object counts as a list of one. */
export function protoEach(owner: Fields, name: string): Fields[] | undefined {
  const value = owner.raw(name)
  if (value === undefined) return undefined
  if (isObject(value)) return owner.listed(name, [value], (each) => protoFields(each, owner.at(name)))
  if (!Array.isArray(value)) throw wrongField(owner.at(name), 'a list')
  return owner.listed(name, value as unknown[], protoFields)
}

/**
 * Returns the object with its top-level names in camelCase. Throws GatewayError (400) if the same name occurs in both
 * spellings, because it is unknown which of the two values the service uses, and the charge could be wrong.
 */
export function camelNames(object: JsonObject, path = ''): JsonObject {
  const turned = new Map<string, unknown>()
  for (const name of Object.keys(object)) {
    const turnedName = camel(name)
    if (turned.has(turnedName)) throw inTwoSpellings(path === '' ? turnedName : `${path}.${turnedName}`)
    turned.set(turnedName, object[name])
  }
  return Object.fromEntries(turned)
}

function inTwoSpellings(path: string): GatewayError {
  return new GatewayError('invalid_field_value', `${path} appears twice in the request, in two spellings`, {
    param: path,
  })
}

/**
 * Returns the spelling of a camelCase name that the object uses, or the name itself if the object does not have the
 * field.
 */
export function spellingIn(object: JsonObject, name: string): string {
  return Object.keys(object).find((each) => camel(each) === name) ?? name
}

/**
 * Throws GatewayError (400) if a field's name differs from one of these names only in capitals, or in letters that some
 * parsers treat as equal.
 */
export function refuseOtherCase(fields: Fields, names: readonly string[]): void {
  for (const fieldName of Object.keys(fields.value)) {
    const name = names.find((each) => each !== fieldName && foldedName(each) === foldedName(fieldName))
    if (name === undefined) continue
    const path = fields.at(fieldName)
    throw new GatewayError('invalid_field_value', `${path} must be written ${name}`, { param: path })
  }
}

function camel(name: string): string {
  return name.replace(/_([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase())
}
