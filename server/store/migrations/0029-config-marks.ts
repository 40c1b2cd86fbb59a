import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Adds a record of the objects that a configuration file manages, by their names in the file. */
export const configMarks: Migration = {
  name: '0029-config-marks',
  async up(db) {
    await sql`create table config_marks (
      section text not null,
      name text not null,
      source text not null,
      primary key (section, name)
    )`.execute(db)
  },
}
