import * as z from 'zod/mini'

/**
 * An optional field for the API reference. The gateway passes the field on or translates it, and the upstream checks
 * its value. A range is therefore part of the description, not of the schema.
 */
export function field<S extends z.ZodMiniType>(schema: S, description: string) {
  return z.nullish(schema).check(z.describe(description))
}
