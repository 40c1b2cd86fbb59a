import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Tables and columns for registration, external logins and emails. */
export const people: Migration = {
  name: '0003-people',
  async up(db, dialect) {
    const no = dialect === 'postgres' ? 'false' : '0'
    for (const text of [
      // From now on, there is at most one valid code for each purpose and subject, and a new code replaces the old one.
      'delete from one_time_codes',
      'drop index idx_one_time_codes_subject',
      'create unique index idx_one_time_codes_subject on one_time_codes (purpose, subject)',

      "alter table users add column github_account_id text not null default ''",
      "create unique index idx_users_github_account_id on users (github_account_id) where github_account_id <> ''",
      `alter table users add column quota_armed boolean not null default ${no}`,
      // Names and email addresses are compared case-insensitively.
      'create index idx_users_lower_username on users (lower(username))',
      'create index idx_users_lower_email on users (lower(email))',

      `create table mail_limits (
         recipient text primary key,
         last_time bigint not null,
         window_start bigint not null,
         sent bigint not null
       )`,
    ]) {
      await sql.raw(text).execute(db)
    }
  },
}
