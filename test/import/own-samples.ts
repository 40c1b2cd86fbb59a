import { Database } from 'bun:sqlite'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Row = Record<string, string | number | null>

/** Tables of small databases in the form of each program, made from the documentation of their tables. */
const schemas = {
  'one-api': {
    users:
      'id integer primary key, username text, password text not null, display_name text, role integer default 1, status integer default 1, email text, github_id text, wechat_id text, lark_id text, oidc_id text, access_token char(32), quota integer default 0, used_quota integer default 0, request_count integer default 0, "group" varchar(32) default \'default\', aff_code varchar(32), inviter_id integer',
    tokens:
      'id integer primary key, user_id integer, key char(48), status integer default 1, name text, created_time integer, accessed_time integer, expired_time integer default -1, remain_quota integer default 0, unlimited_quota numeric default 0, used_quota integer default 0, models text, subnet text',
    channels:
      'id integer primary key, type integer default 0, key text, status integer default 1, name text, weight integer, created_time integer, test_time integer, response_time integer, base_url text, other text, balance real, balance_updated_time integer, models text, "group" varchar(32) default \'default\', used_quota integer default 0, model_mapping varchar(1024), priority integer default 0, config text, system_prompt text',
    redemptions:
      'id integer primary key, user_id integer, key char(32), status integer default 1, name text, quota integer default 100, created_time integer, redeemed_time integer',
    logs: 'id integer primary key, user_id integer, created_at integer, type integer, content text, username text, token_name text, model_name text, quota integer default 0, prompt_tokens integer default 0, completion_tokens integer default 0, channel_id integer, request_id text, elapsed_time integer, is_stream numeric, system_prompt_reset numeric',
    options: 'key text primary key, value text',
  },
  'new-api': {
    users:
      'id integer primary key, username text, password text not null, display_name text, role integer default 1, status integer default 1, email text, github_id text, discord_id text, oidc_id text, wechat_id text, telegram_id text, access_token char(32), quota integer default 0, used_quota integer default 0, request_count integer default 0, "group" varchar(64) default \'default\', aff_code varchar(32), aff_count integer, aff_quota integer, aff_history integer, inviter_id integer, deleted_at datetime, linux_do_id text, setting text, remark text, stripe_customer text, created_at integer, last_login_at integer',
    tokens:
      'id integer primary key, user_id integer, key varchar(128), status integer default 1, name text, created_time integer, accessed_time integer, expired_time integer default -1, remain_quota integer default 0, unlimited_quota numeric default 0, model_limits_enabled numeric, model_limits text, allow_ips text, used_quota integer default 0, "group" text, cross_group_retry numeric, deleted_at datetime',
    channels:
      'id integer primary key, type integer default 0, key text not null, openai_organization text, test_model text, status integer default 1, name text, weight integer, created_time integer, test_time integer, response_time integer, base_url text, other text, balance real, balance_updated_time integer, models text, "group" varchar(64) default \'default\', used_quota integer default 0, model_mapping text, status_code_mapping varchar(1024), priority integer default 0, auto_ban integer default 1, other_info text, tag text, setting text, param_override text, header_override text, remark text, channel_info json, settings text',
    redemptions:
      'id integer primary key, user_id integer, key char(32), status integer default 1, name text, quota integer default 100, created_time integer, redeemed_time integer, used_user_id integer, deleted_at datetime, expired_time integer',
    logs: 'id integer primary key, user_id integer, created_at integer, type integer, content text, username text, token_name text, model_name text, quota integer default 0, prompt_tokens integer default 0, completion_tokens integer default 0, use_time integer, is_stream numeric, channel_id integer, channel_name text, token_id integer, "group" text, ip text, other text, request_id text',
    options: 'key text primary key, value text',
    setups: 'id integer primary key, version varchar(50), initialized_at bigint',
    subscription_plans: 'id integer primary key, title text, price_amount real',
  },
  laisky: {
    users:
      'id integer primary key, uuid char(36), username text, password text not null, display_name text, role int default 1, status int default 1, email text, github_id text, wechat_id text, lark_id text, oidc_id text, access_token char(32), totp_secret varchar(64), quota bigint default 0, used_quota bigint default 0, request_count int default 0, "group" varchar(32) default \'default\', aff_code varchar(32), inviter_id int, inviter_uuid char(36), mcp_tool_blacklist text, metadata text, created_at bigint, updated_at bigint',
    tokens:
      "id integer primary key, uuid char(36), user_id integer, user_uuid char(36), key char(48), status integer default 1, name text, created_time bigint, accessed_time bigint, expired_time bigint default -1, remain_quota bigint default 0, unlimited_quota numeric default 0, used_quota bigint default 0, created_at bigint, updated_at bigint, models text, subnet text default ''",
    channels:
      "id integer primary key, uuid char(36), type integer default 0, key text, status integer default 1, name text, weight integer default 0, created_time bigint, test_time bigint, response_time integer, base_url text default '', other text, balance real, balance_updated_time bigint, models text, hidden_models text, model_configs text, \"group\" varchar(32) default 'default', used_quota bigint default 0, model_mapping text, priority bigint default 0, config text, system_prompt text, ratelimit integer default 0, testing_model varchar(255), model_ratio text, completion_ratio text, created_at bigint, updated_at bigint, inference_profile_arn_map text",
    redemptions:
      'id integer primary key, uuid char(36), user_id integer, user_uuid char(36), key char(32), status integer default 1, name text, quota bigint default 100, created_time bigint, redeemed_time bigint, created_at bigint, updated_at bigint',
    logs: "id integer primary key, user_id integer, uuid char(36), user_uuid char(36), created_at bigint, type integer, content text, username text default '', token_name text default '', token_uuid char(36), model_name text default '', origin_model_name text default '', quota integer default 0, prompt_tokens integer default 0, completion_tokens integer default 0, channel_id integer, channel_uuid char(36), request_id text default '', trace_id varchar(64) default '', updated_at bigint, elapsed_time integer default 0, is_stream numeric default false, system_prompt_reset numeric default false, cached_prompt_tokens integer default 0, metadata text",
    options: 'key text primary key, value text, created_at bigint, updated_at bigint',
    user_request_costs:
      'id integer primary key, uuid char(36), created_time bigint, user_id integer, request_id text, quota bigint',
  },
} as const

export type OwnProgram = keyof typeof schemas

/** Creates a database of a program with these rows, and returns its path. */
export function ownSource(program: OwnProgram, rows: Readonly<Record<string, readonly Row[]>>): string {
  const path = join(mkdtempSync(join(tmpdir(), 'tollgate-source-')), `${program}.db`)
  const database = new Database(path, { create: true })
  for (const [table, columns] of Object.entries(schemas[program])) database.run(`create table ${table} (${columns})`)
  fill(database, rows)
  database.close()
  return path
}

/** Adds rows to a database. */
export function fillSource(path: string, rows: Readonly<Record<string, readonly Row[]>>): void {
  const database = new Database(path)
  fill(database, rows)
  database.close()
}

function fill(database: Database, rows: Readonly<Record<string, readonly Row[]>>): void {
  database.transaction(() => {
    for (const [table, each] of Object.entries(rows))
      for (const row of each) {
        const names = Object.keys(row)
        database
          .query(
            `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')}) values (${names.map(() => '?').join(', ')})`,
          )
          .run(...Object.values(row))
      }
  })()
}

/** The password of the accounts. Its hash is bcrypt with cost 4. */
export const oldPassword = 'old password 1'
export const oldHash = Bun.password.hashSync(oldPassword, { algorithm: 'bcrypt', cost: 4 })

/** A root account and a user with a token and a channel, as each program has them. */
export function smallRows(): Record<'users' | 'tokens' | 'channels' | 'logs', Row[]> {
  return {
    users: [
      { id: 1, username: 'root', password: oldHash, role: 100, quota: 1000 },
      { id: 2, username: 'mia', password: oldHash, quota: 5000, used_quota: 70, request_count: 2 },
    ],
    tokens: [{ id: 1, user_id: 2, key: 'k'.repeat(48), name: 'main', unlimited_quota: 1 }],
    channels: [
      { id: 1, type: 1, key: 'sk-up', name: 'up', models: 'gpt-4o', base_url: 'https://up.example', used_quota: 70 },
    ],
    logs: [
      { id: 1, user_id: 2, created_at: 1_790_000_000, type: 4, content: 'hello', username: 'mia' },
      {
        id: 2,
        user_id: 2,
        created_at: 1_790_000_001,
        type: 2,
        content: '',
        username: 'mia',
        token_name: 'main',
        model_name: 'gpt-4o',
        quota: 60,
        channel_id: 1,
      },
    ],
  }
}
