import { integerOf, textOf } from './fields.ts'
import { ImportFailed } from './import-failed.ts'
import type { Program } from './program.ts'
import { allRows, type SourceDatabase, tableName } from './sources/source-database.ts'

/** True if rows can keep their ids in an empty installation. LiteLLM's ids are texts, so its rows cannot. */
export const keepsIds = ({ name }: Program) => name !== 'litellm'

/** The columns that the import requires. All supported versions of all programs have them. */
const needed: Readonly<Record<string, readonly string[]>> = {
  users: ['id', 'username', 'password', 'role', 'status', 'quota', 'used_quota'],
  tokens: ['id', 'user_id', 'key', 'status', 'remain_quota'],
  channels: ['id', 'type', 'key', 'status', 'models', 'group'],
  options: ['key', 'value'],
}

/** The columns that the import requires of tables that a source may lack. */
const neededIfThere: Readonly<Record<string, readonly string[]>> = {
  redemptions: ['id', 'key', 'status'],
  logs: ['id', 'type'],
}

/** The id of the last migration in one-hub 0.14.27. */
const lastHubMigration = 202_510_160_002

/** Recognises the program by its tables. Throws ImportFailed if it is not a program from which data can be imported. */
export async function recognise(source: SourceDatabase): Promise<Program> {
  const { tables, label } = source
  if (source.program) return source.program
  if (tables.has('schema_migrations') && tables.has('usage_series'))
    throw new ImportFailed(
      `${label} is a database of Tollgate itself. To copy an installation, use a backup of its database instead.`,
    )
  const has = (table: string, column: string) => tables.get(table)?.has(column) ?? false
  const known = Object.keys(needed).filter((table) => tables.has(table))
  if (!tables.has('users') || !has('channels', 'key') || (known.length < 2 && !tables.has('channels')))
    throw new ImportFailed(
      `${label} is not a database of one-api, new-api, one-hub, Laisky's one-api or LiteLLM: it has no ${tables.has('users') ? 'channels' : 'users'}. Check the address.`,
    )
  const program = await programOf(source, has)
  const there = Object.entries(neededIfThere).filter(([table]) => tables.has(table))
  for (const [table, columns] of [...Object.entries(needed), ...there]) {
    const missing = columns.filter((column) => !has(table, column))
    if (missing.length > 0)
      throw new ImportFailed(
        `The database of ${program.title} is incomplete: ${tables.has(table) ? `its table ${table} has no ${missing.join(', ')}` : `it has no table ${table}`}. Start ${program.title} once, so that it finishes its own upgrade, then import again.`,
      )
  }
  return program
}

type Has = (table: string, column: string) => boolean

async function programOf(source: SourceDatabase, has: Has): Promise<Program> {
  const { tables } = source
  if (tables.has('user_groups') && has('tokens', 'setting'))
    return { name: 'one-hub', title: 'one-hub', version: await hubVersion(source), tableIsComplete: true }
  if (has('channels', 'model_configs') || has('users', 'totp_secret') || has('channels', 'ratelimit'))
    return { name: 'laisky', title: "Laisky's one-api", version: '', tableIsComplete: false }
  if (has('channels', 'auto_ban') || has('tokens', 'model_limits_enabled') || tables.has('quota_data'))
    return { name: 'new-api', title: 'new-api', version: await newApiVersion(source), tableIsComplete: true }
  return { name: 'one-api', title: 'one-api', version: oneApiVersion(has), tableIsComplete: !has('channels', 'config') }
}

function oneApiVersion(has: Has): string {
  if (has('logs', 'elapsed_time')) return '0.6.11'
  if (has('channels', 'system_prompt')) return '0.6.9 or 0.6.10'
  if (has('tokens', 'subnet')) return '0.6.5 to 0.6.8'
  if (has('channels', 'config')) return '0.6.0 to 0.6.4'
  return has('channels', 'priority') ? '0.5.6 to 0.5.11' : '0.5.5 or older'
}

async function newApiVersion(source: SourceDatabase): Promise<string> {
  if (!source.tables.get('setups')?.has('version')) return '0.x'
  const [row] = await source.query(
    `select "version" as version from ${tableName(source, 'setups')} order by id desc limit 1`,
  )
  return textOf(row?.['version']) || '0.x'
}

async function hubVersion(source: SourceDatabase): Promise<string> {
  if (!source.tables.has('migrations')) return ''
  const rows = await allRows(source, 'migrations')
  const last = Math.max(0, ...rows.map((row) => integerOf(row['id'])))
  return last > lastHubMigration ? `newer than 0.14.27 (migration ${last})` : '0.14'
}
