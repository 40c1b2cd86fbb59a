/** The programs for which databases can be written. */
export type ForeignProgram = 'one-api' | 'new-api'

type Tables = Readonly<Record<string, string>>

const int = 'integer default 0'
const options = '"key" text primary key, value text'

/** The tables of one-api 0.6.11, as created by its own migration. */
const oneApi: Tables = {
  users: `id integer primary key, username text unique, password text not null, display_name text, role integer default 1,
    status integer default 1, email text, github_id text, wechat_id text, lark_id text, oidc_id text, access_token char(32),
    quota ${int}, used_quota ${int}, request_count ${int}, "group" varchar(32) default 'default', aff_code varchar(32),
    inviter_id integer`,
  tokens: `id integer primary key, user_id integer, "key" char(48), status integer default 1, name text, created_time integer,
    accessed_time integer, expired_time integer default -1, remain_quota ${int}, unlimited_quota numeric default false,
    used_quota ${int}, models text, subnet text default ''`,
  channels: `id integer primary key, type ${int}, "key" text, status integer default 1, name text, weight ${int},
    created_time integer, test_time integer, response_time integer, base_url text default '', other text, balance real,
    balance_updated_time integer, models text, "group" varchar(32) default 'default', used_quota ${int},
    model_mapping varchar(1024) default '', priority ${int}, config text, system_prompt text`,
  abilities: `"group" varchar(32), model text, channel_id integer, enabled numeric, priority ${int},
    primary key ("group", model, channel_id)`,
  redemptions: `id integer primary key, user_id integer, "key" char(32), status integer default 1, name text,
    quota integer default 100, created_time integer, redeemed_time integer`,
  options,
  logs: `id integer primary key, user_id integer, created_at integer, type integer, content text, username text default '',
    token_name text default '', model_name text default '', quota ${int}, prompt_tokens ${int}, completion_tokens ${int},
    channel_id integer, request_id text default '', elapsed_time ${int}, is_stream numeric default false,
    system_prompt_reset numeric default false`,
}

/** The tables of new-api 0.6.3. Newer versions add missing parts when they start. */
const newApi: Tables = {
  users: `id integer primary key, username text unique, password text not null, display_name text, role integer default 1,
    status integer default 1, email text, github_id text, oidc_id text, wechat_id text, telegram_id text,
    access_token char(32), quota ${int}, used_quota ${int}, request_count ${int}, "group" varchar(64) default 'default',
    aff_code varchar(32), aff_count ${int}, aff_quota ${int}, aff_history ${int}, inviter_id integer, deleted_at datetime,
    linux_do_id text, setting text`,
  tokens: `id integer primary key, user_id integer, "key" char(48), status integer default 1, name text, created_time integer,
    accessed_time integer, expired_time integer default -1, remain_quota ${int}, unlimited_quota numeric default false,
    model_limits_enabled numeric default false, model_limits varchar(1024) default '', allow_ips text default '',
    used_quota ${int}, "group" text default '', deleted_at datetime`,
  channels: `id integer primary key, type ${int}, "key" text not null, open_ai_organization text, test_model text,
    status integer default 1, name text, weight ${int}, created_time integer, test_time integer, response_time integer,
    base_url text default '', other text, balance real, balance_updated_time integer, models text,
    "group" varchar(64) default 'default', used_quota ${int}, model_mapping text, status_code_mapping varchar(1024) default '',
    priority ${int}, auto_ban integer default 1, other_info text, tag text, setting text, param_override text`,
  abilities: `"group" varchar(64), model varchar(255), channel_id integer, enabled numeric, priority ${int}, weight ${int},
    tag text, primary key ("group", model, channel_id)`,
  redemptions: `id integer primary key, user_id integer, "key" char(32), status integer default 1, name text,
    quota integer default 100, created_time integer, redeemed_time integer, used_user_id integer, deleted_at datetime,
    expired_time ${int}`,
  options,
  logs: `id integer primary key, user_id integer, created_at integer, type integer, content text, username text default '',
    token_name text default '', model_name text default '', quota ${int}, prompt_tokens ${int}, completion_tokens ${int},
    use_time ${int}, is_stream numeric default false, channel_id integer, channel_name text, token_id ${int},
    "group" text, other text`,
  setups: `id integer primary key, version varchar(50) not null, initialized_at bigint not null`,
}

const indexes = [
  'create unique index idx_users_access_token on users (access_token)',
  'create unique index idx_users_aff_code on users (aff_code)',
  'create unique index idx_tokens_key on tokens ("key")',
  'create unique index idx_redemptions_key on redemptions ("key")',
]

/** The statements that create the database of a program. The program itself creates the other indexes. */
export function foreignSchema(program: ForeignProgram): string[] {
  const tables = Object.entries(program === 'one-api' ? oneApi : newApi)
  return [...tables.map(([name, columns]) => `CREATE TABLE \`${name}\` (${asGorm(columns)})`), ...indexes]
}

/**
 * Writes the columns on one line, with their names in backquotes. These programs parse the definitions of their tables,
 * and do not start if a column is missing in the definition.
 */
function asGorm(columns: string): string {
  return columns
    .replaceAll(/\s+/g, ' ')
    .split(/, (?![^(]*\))/)
    .map((column) =>
      column.startsWith('primary key')
        ? column.replace(/\((.*)\)/, (_, names: string) => `(${names.split(', ').map(backquoted).join(',')})`)
        : column.replace(/^"?\w+"?/, backquoted),
    )
    .join(',')
}

const backquoted = (name: string) => `\`${name.replaceAll('"', '')}\``
