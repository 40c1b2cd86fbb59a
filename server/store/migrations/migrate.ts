import { sql } from 'kysely'
import type { OpenedStore } from '../connection/open-options.ts'
import type { Migration } from '../migration.ts'
import type { Db, Store } from '../store.ts'
import { init } from './0001-init.ts'
import { ledgerFunction } from './0002-ledger-function.ts'
import { people } from './0003-people.ts'
import { channelCare } from './0004-channel-care.ts'
import { limits } from './0005-limits.ts'
import { usage } from './0006-usage.ts'
import { sealedOptions } from './0007-sealed-options.ts'
import { accessTokens } from './0008-access-tokens.ts'
import { usageInAll } from './0009-usage-in-all.ts'
import { crashRows } from './0010-crash-rows.ts'
import { failedCalls } from './0011-failed-calls.ts'
import { logOutcomes } from './0012-log-outcomes.ts'
import { accountAmounts } from './0013-account-amounts.ts'
import { captures } from './0014-captures.ts'
import { alerts } from './0015-alerts.ts'
import { serviceFailures } from './0016-service-failures.ts'
import { statementEmails } from './0018-statement-emails.ts'
import { caps } from './0019-caps.ts'
import { draining } from './0020-draining.ts'
import { carriesAndCosts } from './0021-carries-and-costs.ts'
import { keptPlaces } from './0022-kept-places.ts'
import { storedResponses } from './0023-stored-responses.ts'
import { logRequest } from './0024-log-request.ts'
import { virtualModels } from './0025-virtual-models.ts'
import { imports } from './0027-imports.ts'
import { backups } from './0028-backups.ts'
import { configMarks } from './0029-config-marks.ts'
import { ledgerArrays } from './0030-ledger-arrays.ts'
import { backgroundJobs } from './0032-background-jobs.ts'
import { logPartitioning } from './0034-log-partitions.ts'
import { logSinks } from './0035-log-sinks.ts'
import { importRuns } from './0036-import-runs.ts'
import { feedsAndDrains } from './0037-feeds-and-drains.ts'
import { logAttempts } from './0039-log-attempts.ts'
import { leases } from './0040-leases.ts'
import { codesAndKeys } from './0041-codes-and-keys.ts'
import { projectsAndClients } from './0042-projects-and-clients.ts'

const migrations: readonly Migration[] = [
  init,
  ledgerFunction,
  people,
  channelCare,
  limits,
  usage,
  sealedOptions,
  accessTokens,
  usageInAll,
  crashRows,
  failedCalls,
  logOutcomes,
  accountAmounts,
  captures,
  alerts,
  serviceFailures,
  statementEmails,
  caps,
  draining,
  carriesAndCosts,
  keptPlaces,
  storedResponses,
  logRequest,
  virtualModels,
  imports,
  backups,
  configMarks,
  ledgerArrays,
  backgroundJobs,
  logPartitioning,
  logSinks,
  importRuns,
  feedsAndDrains,
  logAttempts,
  leases,
  codesAndKeys,
  projectsAndClients,
]

/** An arbitrary number for the lock that prevents two nodes that start at the same time from both migrating. */
const migrationLock = 7_041_976

/** The names of all migrations of this version, in the order in which they run. */
export const migrationNames: readonly string[] = migrations.map(({ name }) => name)

/**
 * Waits until no other process is changing the schema, and prevents others from changing it until the transaction ends.
 */
export async function lockSchema(trx: Db, dialect: Store['dialect']): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(trx)
}

/**
 * Brings the schema up to date and returns the names of the migrations it ran. Throws if the database was created by a
 * newer version, because going back would lose data.
 */
export async function migrate(store: OpenedStore): Promise<string[]> {
  const write = store.writeUnlimited ?? store.write
  return write((trx) => migrateWithin(trx, store.dialect))
}

/** Like `migrate`, but within a transaction of the caller. If `only` is given, other migrations are not run. */
export async function migrateWithin(trx: Db, dialect: Store['dialect'], only?: ReadonlySet<string>): Promise<string[]> {
  await lockSchema(trx, dialect)
  await sql`create table if not exists schema_migrations (name text primary key, applied_at bigint not null)`.execute(
    trx,
  )
  const done = await sql<{ name: string }>`select name from schema_migrations`.execute(trx)
  const foreign = done.rows.find((row) => !migrationNames.includes(row.name))
  if (foreign)
    throw new Error(
      `the database has migration ${foreign.name}, which this version does not know: it was made by a newer one`,
    )
  if (done.rows.length === 0 && (await hasTable(trx, { dialect }, 'users')))
    throw new Error('the database belongs to another program (it has a table users); give Tollgate one of its own')
  const applied = new Set(done.rows.map((row) => row.name))
  const ran: string[] = []
  for (const migration of migrations) {
    if (applied.has(migration.name) || only?.has(migration.name) === false) continue
    await migration.up(trx, dialect)
    const now = Math.floor(Date.now() / 1000)
    await sql`insert into schema_migrations (name, applied_at) values (${migration.name}, ${now})`.execute(trx)
    ran.push(migration.name)
  }
  return ran
}

/** True if the database has a table with this name. */
export async function hasTable(db: Db, { dialect }: Pick<Store, 'dialect'>, name: string): Promise<boolean> {
  const result =
    dialect === 'postgres'
      ? await sql`select 1 where to_regclass(${name}) is not null`.execute(db)
      : await sql`select 1 from sqlite_master where name = ${name}`.execute(db)
  return result.rows.length > 0
}

/** True if the database has a schema that is older than this version. False if it has no schema. */
export async function pendingMigrations(store: Store): Promise<boolean> {
  return (await hasTable(store.read, store, 'schema_migrations')) && !(await isMigrated(store))
}

/** True if every migration of this version is in the database. */
export async function isMigrated(store: Store): Promise<boolean> {
  if (!(await hasTable(store.read, store, 'schema_migrations'))) return false
  const done = await sql<{ name: string }>`select name from schema_migrations`.execute(store.read)
  return migrations.every((migration) => done.rows.some((row) => row.name === migration.name))
}
