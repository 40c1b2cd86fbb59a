/** What is wrong with a JSON Schema, and where. */
export interface SchemaProblem {
  /** Path of the wrong part, such as `properties.city`; empty for the whole. */
  at: string
  what: 'json' | 'object' | 'schema' | 'type' | 'properties' | 'required' | 'unlisted' | 'items' | 'enum'
  /** The unknown type, the property that is not listed, or the parser's message. */
  detail?: string
}

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const deepest = 32

/** True for objects that are not arrays. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const below = (at: string, name: string) => (at === '' ? name : `${at}.${name}`)

/** The first problem in any of the parts. */
function firstOf(parts: Iterable<readonly [at: string, schema: unknown]>, depth: number): SchemaProblem | undefined {
  for (const [at, schema] of parts) {
    const problem = schemaProblem(schema, at, depth)
    if (problem) return problem
  }
  return undefined
}

function typeProblem(type: unknown, at: string): SchemaProblem | undefined {
  for (const each of Array.isArray(type) ? type : [type]) {
    if (typeof each !== 'string' || !types.has(each)) return { at, what: 'type', detail: JSON.stringify(each) }
  }
  return undefined
}

function requiredProblem(required: unknown, properties: unknown, at: string): SchemaProblem | undefined {
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) return { at, what: 'required' }
  // In a combined schema, one part may require properties that only another part lists.
  const unlisted = isRecord(properties) ? required.find((name) => !Object.hasOwn(properties, name)) : undefined
  return unlisted === undefined ? undefined : { at, what: 'unlisted', detail: unlisted }
}

/**
 * The first mistake in a schema, checked for the part of JSON Schema that models support; undefined if there is none.
 * Unknown keywords are left to the provider. A complete validator is not used, because it compiles code, which the
 * page's security policy forbids.
 */
export function schemaProblem(schema: unknown, at = '', depth = 0): SchemaProblem | undefined {
  if (typeof schema === 'boolean' && depth > 0) return undefined
  if (!isRecord(schema) || depth > deepest) return { at, what: 'schema' }
  const { type, properties, required, items, enum: values } = schema
  const maps = ['$defs', 'definitions'].flatMap((name) => {
    const map = schema[name]
    return isRecord(map) ? Object.entries(map).map(([key, part]) => [below(below(at, name), key), part] as const) : []
  })
  const choices = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => {
    const list = schema[name]
    return Array.isArray(list) ? list.map((part, index) => [below(at, `${name}.${index}`), part] as const) : []
  })
  if (properties !== undefined && !isRecord(properties)) return { at, what: 'properties' }
  if (values !== undefined && (!Array.isArray(values) || values.length === 0)) return { at, what: 'enum' }
  const parts = Object.entries(properties ?? {}).map(
    ([name, part]) => [below(below(at, 'properties'), name), part] as const,
  )
  return (
    (type === undefined ? undefined : typeProblem(type, at)) ??
    (type === 'array' && items === undefined && schema['prefixItems'] === undefined
      ? ({ at, what: 'items' } as const)
      : undefined) ??
    firstOf([...parts, ...maps, ...choices], depth + 1) ??
    (items === undefined ? undefined : schemaProblem(items, below(at, 'items'), depth + 1)) ??
    (required === undefined ? undefined : requiredProblem(required, properties, at))
  )
}
