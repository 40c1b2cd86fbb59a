import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * Keywords that Anthropic's structured output refuses (Anthropic docs, "Structured outputs", JSON Schema limitations).
 */
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

/** Keywords whose values map names to schemas. The names themselves are not keywords. */
const maps: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

/**
 * A schema in the form that Anthropic's structured output accepts: objects allow no additional properties, and
 * unsupported limits are dropped. The answer may be less restricted than requested, but it always has the requested
 * shape.
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

/** True if a schema uses a keyword that is dropped. */
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
