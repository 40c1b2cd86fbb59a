/** Writes docs/config.schema.json from the contract: `node tools/bun.mjs tools/make-config-schema.ts`. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { configJsonSchema } from '../server/api/config/schema.ts'

/** The text of the schema file. */
export function configSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`
}

if (import.meta.main) {
  const file = resolve(import.meta.dirname, '../docs/config.schema.json')
  writeFileSync(file, configSchemaText())
  console.log(`${file} written`)
}
