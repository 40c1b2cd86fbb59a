import * as z from 'zod/mini'
import type { Access } from '../roles.ts'

/**
 * One call of the management API, as data. The server serves it, the console calls it, and tests and docs iterate over
 * it.
 */
export interface Endpoint<
  Params extends z.ZodMiniType = z.ZodMiniType,
  Query extends z.ZodMiniType = z.ZodMiniType,
  Body extends z.ZodMiniType = z.ZodMiniType,
  Data extends z.ZodMiniType = z.ZodMiniType,
> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /**
   * The path exactly as clients write it. It is served both with and without the trailing slash. `{name}` is a
   * parameter.
   */
  path: string
  access: Access
  params: Params
  query: Query
  body: Body
  /**
   * Body fields that are accepted but ignored, because clients send back whole objects that they received. Any other
   * unknown field is refused.
   */
  ignores?: readonly string[]
  /** Content types of a plain-text body. The handler gets such a body as `{ text }`. */
  textBody?: readonly string[]
  /** The body is a file of any kind, which the handler reads from the request. */
  fileBody?: true
  /**
   * The shape of `data`. The response is parsed with this schema, so a field that the schema does not name never leaves
   * the server.
   */
  data: Data
  /**
   * `standard`: { success, message, data }. `flat`: the fields of `data` are next to success and message. `bare`:
   * `data` is the whole body.
   */
  envelope: 'standard' | 'flat' | 'bare'
  /**
   * Content type of a successful response that is not JSON. The content is then the whole body, and `data` does not
   * describe it.
   */
  media?: string
  /** One line for the API page. */
  summary: string
  /** Details that do not fit in that line, in Markdown without links. */
  description?: string
  /**
   * A GET that changes something. It is refused if it is triggered by a page on another site, or if the browser opens
   * it as a page or an image. With `record`, the call changes nothing except that it is recorded in a log. The browser
   * may then open it as a page, so that the console can link to it.
   */
  changesState?: true | 'record'
  /** Calls count toward the strict rate limit that protects passwords and codes. */
  critical?: true
  /** Status of the refusal if the body cannot be decoded; 200 by default. */
  badBodyStatus?: 400
  /** A sorted list may contain only the newest of the matching rows. A header then states how many rows match. */
  cutWhenSorted?: true
}

/** An endpoint whose response is not JSON. */
export type MediaEndpoint<
  Params extends z.ZodMiniType = z.ZodMiniType,
  Query extends z.ZodMiniType = z.ZodMiniType,
> = Endpoint<Params, Query, Nothing, z.ZodMiniUndefined> & { media: string }

type Facts = Pick<
  Endpoint,
  | 'method'
  | 'path'
  | 'access'
  | 'summary'
  | 'description'
  | 'changesState'
  | 'critical'
  | 'badBodyStatus'
  | 'ignores'
  | 'textBody'
  | 'fileBody'
  | 'cutWhenSorted'
>

interface Definition<P, Q, B, D> extends Facts {
  params?: P
  query?: Q
  body?: B
  data?: D
  envelope?: Endpoint['envelope']
}

const nothing = z.object({})
type Nothing = typeof nothing

/** Defines an endpoint. Omitted parts default to empty objects, and an omitted `data` means no data. */
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

/** Like `endpoint`, for a response that is not JSON. */
export function mediaEndpoint<P extends z.ZodMiniType = Nothing, Q extends z.ZodMiniType = Nothing>(
  definition: Facts & { params?: P; query?: Q; media: string },
): MediaEndpoint<P, Q> {
  return { ...endpoint<P, Q>(definition), media: definition.media }
}

/** The envelope of every response of the management API. */
export interface Envelope<T> {
  success: boolean
  message: string
  /** For a refusal: its code in contract/refusals.ts, unless another service wrote the text. */
  code?: string
  /** The values for the placeholders in the text of the code. */
  values?: Readonly<Record<string, string>>
  data?: T
}

/** Rows per page, the same constant as in one-api. */
export const pageSize = 10

/** Zero-based page; a missing, invalid or negative value counts as 0. */
export const pageQuery = z.object({
  p: z.catch(
    z.coerce.number<string>().check(z.int(), z.gte(0), z.lte(1e9), z.describe('Number of the page; the first is 0.')),
    0,
  ),
})

/** The `{id}` parameter of a path. */
export const idParams = z.object({
  id: z.coerce.number<string>().check(z.int(), z.positive(), z.describe('Id of the row.')),
})

/** Query of the update request that changes only the status. */
export const statusOnlyQuery = z.object({
  status_only: z.optional(z.string().check(z.describe('If this has any value, only the status is updated.'))),
})

/** Search text, trimmed, at most 100 characters. */
export const keywordQuery = z.object({
  keyword: z._default(z.string().check(z.trim(), z.maxLength(100), z.describe('Text to search for.')), ''),
})
