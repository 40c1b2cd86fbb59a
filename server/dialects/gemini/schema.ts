import { isObject, type JsonObject } from '../../lib/json.ts'
import { camelNames } from './protobuf-names.ts'

/** Fields of Google's Schema that are counts. They arrive as strings. */
const counts: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

/** Google's Schema (Gemini API, "Schema": a subset of OpenAPI 3.0) → JSON Schema. */
export function jsonSchemaOf(schema: JsonObject): JsonObject {
  const { type, nullable, properties, items, anyOf, example, format, ...rest } = camelNames(schema)
  const out: JsonObject = {}
  const name = typeof type === 'string' ? type.toLowerCase() : type
  if (name !== undefined && name !== 'type_unspecified') out['type'] = nullable === true ? [name, 'null'] : name
  // "enum" is Google's own format for a text with fixed values.
  if (format !== undefined && format !== 'enum') out['format'] = format
  if (isObject(properties)) {
    out['properties'] = Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, isObject(value) ? jsonSchemaOf(value) : value]),
    )
  }
  if (isObject(items)) out['items'] = jsonSchemaOf(items)
  if (Array.isArray(anyOf)) {
    const forms = (anyOf as unknown[]).map((each) => (isObject(each) ? jsonSchemaOf(each) : each))
    out['anyOf'] = nullable === true && name === undefined ? [...forms, { type: 'null' }] : forms
  }
  if (example !== undefined) out['examples'] = [example]
  for (const [key, value] of Object.entries(rest)) {
    out[key] = counts.has(key) && typeof value === 'string' ? Number(value) : value
  }
  return out
}
