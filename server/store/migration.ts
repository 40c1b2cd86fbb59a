import type { Kysely } from 'kysely'
import type { Tables } from './schema/tables.ts'

/** One step of the schema; forward only, never edited once released. */
export interface Migration {
  /** Four digits and words, like the file name. */
  name: string
  up(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void>
}
