import * as z from 'zod/mini'

/**
 * An optional field for the API reference. The gateway passes it on or translates it and the upstream checks its value,
 * so a range is part of the description and not of the schema.
 */
export function field<S extends z.ZodMiniType>(schema: S, description: string) {
  return z.nullish(schema).check(z.describe(description))
}
