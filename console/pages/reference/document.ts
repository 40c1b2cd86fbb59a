/** The parts of the OpenAPI document that the page shows. */
export interface ApiDocument {
  info: { version: string }
  tags: { name: string; description: string }[]
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: {
    schemas: Readonly<Record<string, Schema>>
    headers: Readonly<Record<string, Header>>
    responses: Readonly<Record<string, ApiResponse>>
    examples: Readonly<Record<string, ApiExample>>
  }
}

/** An example of a body, with a description. */
export interface ApiExample {
  summary: string
  value?: unknown
}

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Readonly<Record<string, string[]>>[]
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Readonly<Record<string, ApiResponse | Reference>>
}

export interface Parameter {
  name: string
  in: string
  required: boolean
  description?: string
  schema: Schema
}

export interface ApiResponse {
  description: string
  headers?: Readonly<Record<string, Header | Reference>>
  content?: Content
}

interface Header {
  description: string
}

export interface Reference {
  $ref: string
}

export type Content = Readonly<
  Record<string, { schema: Schema; example?: unknown; examples?: Readonly<Record<string, Reference>> }>
>

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  additionalProperties?: Schema | boolean
  minimum?: number
  maximum?: number
}

/** An operation with its method and path. */
export interface Call {
  method: string
  path: string
  tag: string
  operation: Operation
}

/** All operations of a document, in its order of tags. */
export function callsOf(document: ApiDocument): Call[] {
  const calls = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      tag: operation.tags[0] ?? '',
      operation,
    })),
  )
  return document.tags.flatMap(({ name }) => calls.filter(({ tag }) => tag === name))
}

/** Whether a call requires a relay token instead of a login. */
export const isRelay = ({ operation }: Call) => 'relayToken' in (operation.security[0] ?? {})

/** Whether all words of the search text occur in the call's path, summary or description. */
export function isFound({ method, path, operation }: Call, words: string): boolean {
  const text = `${method} ${path} ${operation.summary} ${operation.description ?? ''}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** The object that a reference points to, or the object itself. */
export function resolved<T extends object>(value: T | Reference, shared: Readonly<Record<string, T>>): T | undefined {
  return '$ref' in value && typeof value.$ref === 'string' ? shared[value.$ref.split('/').at(-1) ?? ''] : (value as T)
}

/** A field of an object, with the path to it. */
export interface Field {
  path: string
  type: string
  required: boolean
  description: string
}

const deepest = 3

/** The fields of a schema, including those of nested objects. */
export function fieldsOf(schema: Schema, document: ApiDocument, path = '', depth = 0): Field[] {
  const own = plain(schema, document)
  if (own.type === 'array' && own.items) return fieldsOf(own.items, document, `${path}[]`, depth)
  if (depth > deepest) return []
  return Object.entries(own.properties ?? {}).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    const found = plain(field, document)
    const row = {
      path: at,
      type: typeOf(field),
      required: own.required?.includes(name) ?? false,
      description: described(field) ?? described(found) ?? '',
    }
    return [row, ...fieldsOf(found, document, at, depth + 1)]
  })
}

/** A schema without references, and without the null that makes a field optional. */
function plain(schema: Schema, document: ApiDocument): Schema {
  const target = schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
  const forms = (target.anyOf ?? target.oneOf)?.filter(({ type }) => type !== 'null')
  const [first] = forms ?? []
  // If there are several forms, the first is the successful response. Only this form is used, because the fields of a
  // failure are the same for every call.
  return first && (forms?.length === 1 || target.oneOf) ? plain(first, document) : target
}

function described({ description, anyOf = [], oneOf = [] }: Schema): string | undefined {
  return description ?? [...anyOf, ...oneOf].find((each) => each.description)?.description
}

/** A type in a word or two. */
export function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? 'object'
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const forms = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== 'null')
  if (forms) return [...new Set(forms.map(typeOf))].join(' | ')
  const types = [schema.type].flat().filter((type) => type !== undefined && type !== 'null')
  if (types[0] === 'array') return `${typeOf(schema.items ?? {})}[]`
  return types.length > 0 ? types.join(' | ') : 'any'
}
