import * as z from 'zod/mini'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { api } from '../../contract/api/index.ts'

/** The part of JSON Schema that the generator reads. */
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

/** One field of a call's input. */
export interface Field {
  readonly where: 'path' | 'query' | 'body'
  readonly name: string
  readonly schema: FieldSchema
  readonly required: boolean
}

/** An endpoint of the management API with everything that can be sent to it. */
export interface Route {
  /** For example `user.update`. */
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

/** Every endpoint of the contract. */
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

/** The fault in one request of the fuzz run: in a field, in the whole body or query, or in the headers. */
export interface Target {
  readonly route: Route
  readonly fault: Field | 'body' | 'query' | 'headers' | 'none'
}

/** Every field of every route, and the faults that concern a route as a whole. */
export function targetsOf(routes: readonly Route[]): Target[] {
  return routes.flatMap((route) => {
    const takesBody = route.endpoint.method === 'POST' || route.endpoint.method === 'PUT'
    const whole = [...(takesBody ? ['body' as const] : []), 'query' as const, 'headers' as const, 'none' as const]
    return [...route.fields, ...whole].map((fault) => ({ route, fault }))
  })
}

/** The name of a target in reports: `user.update body quota`. */
export function targetName({ route, fault }: Target): string {
  return `${route.name} ${typeof fault === 'string' ? fault : `${fault.where} ${fault.name}`}`
}
