/** The parts of OpenAPI 3.1 that Tollgate's API document uses. */
export interface OpenApi {
  openapi: string
  info: { title: string; version: string; summary: string; description: string; license: { name: string } }
  servers: { url: string; description: string }[]
  tags: Tag[]
  paths: Record<string, PathItem>
  components: {
    securitySchemes: Record<string, object>
    schemas: Record<string, JsonSchema>
    headers: Record<string, HeaderObject>
    responses: Record<string, ResponseObject>
    examples: Readonly<Record<string, Example>>
  }
}

export interface Tag {
  name: string
  description: string
}

export type Method = 'get' | 'post' | 'put' | 'delete'

export type PathItem = { [M in Method]?: Operation }

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, ResponseObject | Reference>
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

export interface ResponseObject {
  description: string
  headers?: Record<string, HeaderObject | Reference>
  content?: Content
  /** Operations that use a value from this response. */
  links?: Record<string, Link>
}

export interface Link {
  operationId: string
  description?: string
  /** For each parameter of the linked operation, the expression for its value in the request or response. */
  parameters?: Record<string, string>
  requestBody?: unknown
}

export interface HeaderObject {
  description: string
  /** True if every response that is described by the enclosing object has the header. */
  required?: true
  schema: JsonSchema
}

/** An example value, and what it is an example of. */
export interface Example {
  summary: string
  value: unknown
}

export type Content = Record<
  string,
  { schema: JsonSchema; example?: unknown; examples?: Readonly<Record<string, Example | Reference>> }
>

export interface Reference {
  $ref: string
}

/** A schema in the format of JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export interface JsonSchema {
  [keyword: string]: unknown
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  additionalProperties?: JsonSchema | boolean
}
