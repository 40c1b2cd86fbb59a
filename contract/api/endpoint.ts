import * as z from 'zod/mini'
import type { Access } from '../roles.ts'

/** A call of the management API as data: the server serves it, the console calls it, tests and docs walk it. */
export interface Endpoint<
  Params extends z.ZodMiniType = z.ZodMiniType,
  Query extends z.ZodMiniType = z.ZodMiniType,
  Body extends z.ZodMiniType = z.ZodMiniType,
  Data extends z.ZodMiniType = z.ZodMiniType,
> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Exactly as clients write it; both forms, with and without the final slash, are served. `{name}` is a parameter. */
  path: string
  access: Access
  params: Params
  query: Query
  body: Body
  /** What `data` holds; the answer is parsed through it, so a field it does not name never leaves the server. */
  data: Data
  /**
   * `standard`: { success, message, data }. `flat`: fields of `data` stand beside success and message.
   * `bare`: `data` is the whole body.
   */
  envelope: 'standard' | 'flat' | 'bare'
  /** One line for the API page. */
  summary: string
}

interface Definition<P, Q, B, D> {
  method: Endpoint['method']
  path: string
  access: Access
  params?: P
  query?: Q
  body?: B
  data?: D
  envelope?: Endpoint['envelope']
  summary: string
}

const nothing = z.object({})
type Nothing = typeof nothing

/** Defines an endpoint; parts left out are empty objects (`data`: nothing). */
export function endpoint<
  P extends z.ZodMiniType = Nothing,
  Q extends z.ZodMiniType = Nothing,
  B extends z.ZodMiniType = Nothing,
  D extends z.ZodMiniType = z.ZodMiniUndefined,
>(definition: Definition<P, Q, B, D>): Endpoint<P, Q, B, D> {
  return {
    envelope: 'standard',
    ...definition,
    params: (definition.params ?? nothing) as P,
    query: (definition.query ?? nothing) as Q,
    body: (definition.body ?? nothing) as B,
    data: (definition.data ?? z.undefined()) as D,
  }
}

/** The envelope of every management answer. */
export interface Envelope<T> {
  success: boolean
  message: string
  data?: T
}

/** Rows per page; one-api's constant. */
export const pageSize = 10

/** Zero-based page; missing, unparsable or negative counts as 0. */
export const pageQuery = z.object({ p: z.catch(z.coerce.number<string>().check(z.int(), z.gte(0), z.lte(1e9)), 0) })

/** `{id}` of a path. */
export const idParams = z.object({ id: z.coerce.number<string>().check(z.int(), z.positive()) })

/** Search text, trimmed, at most 100 characters. */
export const keywordQuery = z.object({ keyword: z._default(z.string().check(z.trim(), z.maxLength(100)), '') })
