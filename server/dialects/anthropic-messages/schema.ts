import { isObject, type JsonObject } from '../../lib/json.ts'

/** Anthropic's structured output refuses these (Anthropic docs, "Structured outputs", JSON Schema limitations). */
const unsupported: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'propertyOrdering',
])

/** Members whose values are schemas by name, of which the names mean nothing here. */
const maps: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

/**
 * A schema as Anthropic's structured output takes it: objects say that they have no other members, and limits that it
 * does not know are left out, so that the answer may be wider than asked for, but not of another shape.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const out: JsonObject = {}
  for (const [name, value] of Object.entries(schema)) {
    if (unsupported.has(name)) continue
    out[name] = maps.has(name) && isObject(value) ? mapped(value) : closed(value)
  }
  if (isObject(schema['properties']) && out['additionalProperties'] === undefined) out['additionalProperties'] = false
  return out
}

/** True where a schema says something that is left out. */
export function hasLimits(schema: unknown, isMap = false): boolean {
  if (Array.isArray(schema)) return schema.some((each) => hasLimits(each))
  if (!isObject(schema)) return false
  return Object.entries(schema).some(
    ([name, value]) =>
      (!isMap && unsupported.has(name) && name !== 'propertyOrdering') || hasLimits(value, maps.has(name) && !isMap),
  )
}

function mapped(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, closed(value)]))
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(closed)
  return isObject(value) ? closedSchema(value) : value
}
