import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import pg from 'pg'
import { newPostgresDatabase } from '../helpers/postgres.ts'

export const saltKey = 'sk-salt-of-the-test'

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const keyOf = (salt: string) => createHash('sha256').update(salt).digest()

/** Encrypts a text in LiteLLM's older form. */
export function boxed(text: string, salt = saltKey): string {
  const nonce = randomBytes(24)
  const box = xsalsa20poly1305(keyOf(salt), nonce).encrypt(Buffer.from(text))
  return base64(Buffer.concat([nonce, box]))
}

/** Encrypts a text in LiteLLM's `v2:gcm:` form. */
export function gcmSealed(text: string, salt = saltKey): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keyOf(salt), nonce)
  return `v2:gcm:${base64(Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]))}`
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_')

const schema = `
  create table "LiteLLM_BudgetTable" (budget_id text, max_budget float8, budget_duration text, tpm_limit bigint,
    rpm_limit bigint, max_parallel_requests int);
  create table "LiteLLM_TeamTable" (team_id text, team_alias text, max_budget float8, spend float8 default 0, models text[],
    blocked boolean default false);
  create table "LiteLLM_UserTable" (user_id text, user_alias text, user_email text, user_role text, max_budget float8,
    budget_duration text, spend float8 default 0, models text[], created_at timestamp(3) default now());
  create table "LiteLLM_VerificationToken" (token text primary key, key_name text, key_alias text, spend float8 default 0,
    expires timestamp(3), models text[], user_id text, team_id text, blocked boolean, max_budget float8,
    budget_duration text, budget_id text, tpm_limit bigint, rpm_limit bigint, max_parallel_requests int,
    allowed_routes text[], metadata jsonb default '{}', created_at timestamp(3) default now());
  create table "LiteLLM_ProxyModelTable" (model_id text, model_name text, litellm_params jsonb, model_info jsonb,
    created_at timestamp(3) default now());
  create table "LiteLLM_Config" (param_name text, param_value jsonb);
  create table "LiteLLM_SpendLogs" (request_id text, api_key text, spend float8, prompt_tokens int, completion_tokens int,
    model text, "user" text, model_id text, status text, "startTime" timestamp(3), "endTime" timestamp(3));`

/** A row by column. Lists are written as arrays, objects as JSON. */
export type SmallRow = Readonly<Record<string, unknown>>

/**
 * Creates a database of LiteLLM with these rows. The keys are the last parts of LiteLLM's table names. Returns its
 * address.
 */
export async function smallLitellm(rows: Readonly<Record<string, readonly SmallRow[]>>): Promise<string> {
  const { url } = await newPostgresDatabase()
  await onLitellm(url, schema)
  await fillLitellm(url, rows)
  return url
}

export async function fillLitellm(url: string, rows: Readonly<Record<string, readonly SmallRow[]>>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const [table, each] of Object.entries(rows))
    for (const row of each) {
      const names = Object.keys(row)
      await client.query(
        `insert into "LiteLLM_${table}" (${names.map((name) => `"${name}"`).join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
        Object.values(row),
      )
    }
  await client.end()
}

export async function onLitellm(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(text)
  await client.end()
}
