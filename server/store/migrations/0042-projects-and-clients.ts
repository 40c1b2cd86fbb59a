import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Adds the project of a token, and the address and the client with which a session was last used. */
export const projectsAndClients: Migration = {
  name: '0042-projects-and-clients',
  async up(db) {
    const statements = [
      "alter table tokens add column project text not null default ''",
      "alter table sessions add column address text not null default ''",
      "alter table sessions add column client text not null default ''",
    ]
    for (const text of statements) await sql.raw(text).execute(db)
  },
}
