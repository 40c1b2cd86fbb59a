import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Adds a record of the monthly statements that were sent by email, and of the users who do not want them. */
export const statementEmails: Migration = {
  name: '0018-statement-emails',
  async up(db) {
    await sql`create table statement_emails (
      month text not null,
      user_id bigint not null,
      state text not null,
      updated_at bigint not null,
      primary key (month, user_id)
    )`.execute(db)
    await sql`create table statement_optouts (user_id bigint primary key)`.execute(db)
  },
}
