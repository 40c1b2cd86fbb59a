import { isObject, type JsonObject } from '../../lib/json.ts'
import { Fields, wrongField } from '../fields.ts'

/**
 * Reads an object of Google's by camelCase names: the API takes each name in snake_case too (protocol buffers' JSON
 * form), and callers use both. Only the object's own names are turned, not those within it.
 */
export function protoFields(value: unknown, path: string): Fields {
  return new Fields(isObject(value) ? camelNames(value) : value, path)
}

/** A member that is an object, by camelCase names. */
export function protoMember(owner: Fields, name: string): Fields | undefined {
  const value = owner.object(name)
  return value && protoFields(value, owner.at(name))
}

/** The objects of a list; a single object counts as a list of one, as the API has it. */
export function protoEach(owner: Fields, name: string): Fields[] | undefined {
  const value = owner.raw(name)
  if (value === undefined) return undefined
  if (isObject(value)) return [protoFields(value, owner.at(name))]
  if (!Array.isArray(value)) throw wrongField(owner.at(name), 'a list')
  return (value as unknown[]).map((each, index) => protoFields(each, `${owner.at(name)}[${index}]`))
}

/** The object with its own names in camelCase. */
export function camelNames(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [camel(name), value]))
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
