import * as z from 'zod/mini'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { api } from '../../contract/api/index.ts'

/** What of JSON Schema the generator looks at. */
export interface FieldSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly FieldSchema[]
  readonly items?: FieldSchema
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

/** One field of what a call takes. */
export interface Field {
  readonly where: 'path' | 'query' | 'body'
  readonly name: string
  readonly schema: FieldSchema
  readonly required: boolean
}

/** A management call with everything that can be sent to it. */
export interface Route {
  /** `user.update`. */
  readonly name: string
  readonly endpoint: Endpoint
  readonly fields: readonly Field[]
}

function fieldsOf(schema: z.ZodMiniType, where: Field['where']): Field[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, FieldSchema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, field]) => ({
    where,
    name,
    schema: field,
    required: where === 'path' || required.includes(name),
  }))
}

/** Every call of the contract. */
export function contractRoutes(): Route[] {
  return Object.entries(api).flatMap(([resource, endpoints]) =>
    Object.entries(endpoints as Record<string, Endpoint>).map(([name, endpoint]) => ({
      name: `${resource}.${name}`,
      endpoint,
      fields: [
        ...fieldsOf(endpoint.params, 'path'),
        ...fieldsOf(endpoint.query, 'query'),
        ...fieldsOf(endpoint.body, 'body'),
      ],
    })),
  )
}

/** What one request of the fuzz run makes wrong: a field, the body or the address as a whole, or the headers. */
export interface Target {
  readonly route: Route
  readonly fault: Field | 'body' | 'query' | 'headers' | 'none'
}

/** Every field of every route, and what a route can be sent wrong as a whole. */
export function targetsOf(routes: readonly Route[]): Target[] {
  return routes.flatMap((route) => {
    const takesBody = route.endpoint.method === 'POST' || route.endpoint.method === 'PUT'
    const whole = [...(takesBody ? ['body' as const] : []), 'query' as const, 'headers' as const, 'none' as const]
    return [...route.fields, ...whole].map((fault) => ({ route, fault }))
  })
}

/** How a target is called in reports: `user.update body quota`. */
export function targetName({ route, fault }: Target): string {
  return `${route.name} ${typeof fault === 'string' ? fault : `${fault.where} ${fault.name}`}`
}
