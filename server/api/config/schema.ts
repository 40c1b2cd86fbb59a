import * as z from 'zod/mini'
import { configFileSchema } from '../../../contract/config-file.ts'

let schema: Record<string, unknown> | undefined

/** The JSON Schema of configuration files for editors. It is generated from the contract. */
export function configJsonSchema(): Record<string, unknown> {
  schema ??= {
    ...(z.toJSONSchema(configFileSchema, {
      io: 'input',
      target: 'draft-7',
      override: ({ zodSchema, jsonSchema }) => void Object.assign(jsonSchema, z.globalRegistry.get(zodSchema)),
    }) as Record<string, unknown>),
    title: 'Tollgate configuration',
  }
  return schema
}
