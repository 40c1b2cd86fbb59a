import type { Kysely } from 'kysely'
import type { Tables } from './schema/tables.ts'

/** One step of the schema's history. Migrations only go forward, and a released migration is never edited. */
export interface Migration {
  /** Four digits and some words. It equals the file name. */
  name: string
  up(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void>
}
