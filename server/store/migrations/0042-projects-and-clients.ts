import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Tokens can belong to a project. Sessions know from which address and with which client they were last used. */
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
