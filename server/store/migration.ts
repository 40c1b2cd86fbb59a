import type { Kysely } from 'kysely'
import type { Tables } from './schema/tables.ts'

/** One step of the schema; forward only, never edited once released. */
export interface Migration {
  /** Four digits and words, as the file is named. */
  name: string
  up(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void>
}
