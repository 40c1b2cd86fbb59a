import { isObject, type JsonObject } from '../../lib/json.ts'
import { integerOf, textOf } from '../fields.ts'
import { createLocalDatabase, type LocalDatabase } from '../sources/local-sqlite.ts'
import { quoted, type SourceDatabase, type SourceRow } from '../sources/source-database.ts'
import { createLaterFindings } from './later-findings.ts'
import { readKeys } from './read-keys.ts'
import { readLog } from './read-log.ts'
import { readModels } from './read-models.ts'
import { readOptionRows } from './read-options.ts'
import { readUsers } from './read-users.ts'
import type { Reading } from './reading.ts'

/** The input for reading LiteLLM, in addition to its database. */
export interface LitellmGiven {
  /** The folder in which the log is stored temporarily. */
  folder: string
  /** The number of quota units per unit of currency in this installation. */
  quotaPerUnit: number
  /** The content of LiteLLM's `config.yaml`; empty if it was not given. */
  config: JsonObject
  /** An environment variable; undefined if it is not set. */
  variable(name: string): string | undefined
}

/** True if the source has LiteLLM's tables. */
export const isLitellm = ({ tables }: SourceDatabase) => tables.has('LiteLLM_VerificationToken')

/**
 * Converts LiteLLM's database, its configuration file, or both to the form that the import reads. Closes `source`.
 * Throws ImportFailed if values that LiteLLM encrypted cannot be decrypted.
 */
export async function readLitellm(
  source: SourceDatabase | undefined,
  label: string,
  given: LitellmGiven,
): Promise<SourceDatabase> {
  const local = createLocalDatabase(given.folder)
  try {
    const reading = await readingOf(source, given)
    await fill(reading, source, local)
    return {
      ...local.source(label),
      program: { name: 'litellm', title: 'LiteLLM', version: '', tableIsComplete: false },
      report: reading.later.tell,
    }
  } catch (error) {
    local.close()
    throw error
  } finally {
    await source?.close()
  }
}

async function readingOf(source: SourceDatabase | undefined, given: LitellmGiven): Promise<Reading> {
  const { config, quotaPerUnit } = given
  const own = isObject(config['environment_variables']) ? config['environment_variables'] : {}
  const variable = (name: string) => (typeof own[name] === 'string' ? own[name] : given.variable(name))
  const general = isObject(config['general_settings']) ? config['general_settings'] : {}
  const master = textOf(general['master_key'])
  const written = master.startsWith('os.environ/') ? variable(master.slice('os.environ/'.length)) : master || undefined
  const rows = (table: string, times: readonly string[]) => rowsOf(source, table, times)
  const budgets = await rows('LiteLLM_BudgetTable', [])
  return {
    config,
    quotaPerUnit,
    saltKey: variable('LITELLM_SALT_KEY') ?? variable('LITELLM_MASTER_KEY') ?? written,
    later: createLaterFindings(),
    budgets: new Map(budgets.map((row) => [textOf(row['budget_id']), row])),
    variable,
    rows,
  }
}

async function rowsOf(
  source: SourceDatabase | undefined,
  table: string,
  times: readonly string[],
): Promise<SourceRow[]> {
  const columns = source?.tables.get(table)
  if (!source || !columns) return []
  const known = times.filter((name) => columns.has(name))
  const added = known.map((name) => `, floor(extract(epoch from "${name}")) as "${name}"`).join('')
  const names = [...columns].filter((name) => !known.includes(name)).map((name) => `"${name}"`)
  const first = columns.has('created_at') ? 'order by "LiteLLM".created_at' : ''
  return source.query(`select ${names.join(', ')}${added} from ${quoted(table)} as "LiteLLM" ${first}`)
}

async function fill(reading: Reading, source: SourceDatabase | undefined, local: LocalDatabase): Promise<void> {
  const users = await readUsers(reading)
  const { tokens, made, owners } = await readKeys(reading, users)
  const models = await readModels(reading)
  local.insert('users', [...users, ...made])
  local.insert('tokens', tokens)
  local.insert(
    'channels',
    models.map(({ channel }) => channel),
  )
  local.insert('options', await readOptionRows(reading, models))
  if (!source) return
  const named = (rows: readonly Readonly<Record<string, unknown>>[], column: string) =>
    new Map(rows.map((row) => [integerOf(row['id']), textOf(row[column])]))
  const names = { owners, users: named([...users, ...made], 'username'), tokens: named(tokens, 'name') }
  await readLog(source, local, reading, names)
  await keepOthers(source, local)
}

/**
 * LiteLLM's tables that are not kept as leftovers. They are imported, contain only sums of the log, or contain the
 * state of running processes.
 */
const covered =
  /^LiteLLM_(?:UserTable|VerificationToken|ProxyModelTable|CredentialsTable|Config|SpendLogs.*|ErrorLogs|Daily.*|CronJob|HealthCheck.*|DeletedVerificationToken|.*Session.*)$/

/** The maximum number of rows of a table that are kept as leftovers. */
const mostKept = 100_000

/** Keeps the rows of teams, organizations, budgets and all other tables without a counterpart as leftovers. */
async function keepOthers(source: SourceDatabase, local: LocalDatabase): Promise<void> {
  for (const table of source.tables.keys())
    if (table.startsWith('LiteLLM_') && !covered.test(table))
      local.keep(table, await source.query(`select * from ${quoted(table)} limit ${mostKept}`))
}
