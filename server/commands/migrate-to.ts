import { dirname, resolve } from 'node:path'
import { isPostgresUrl } from '../lib/network/database-url.ts'
import { openStore } from '../store/connection/open.ts'
import { isMigrated, lockSchema } from '../store/migrations/migrate.ts'
import { openSnapshot } from '../store/snapshot/open-snapshot.ts'
import { schemaFault } from '../store/snapshot/schema-fault.ts'
import { auditCommandIn } from './audit-command.ts'
import { allRows } from './backup.ts'
import { type AddCommand, CommandFailed, examples, exitCodes, type Terminal } from './command.ts'
import { type Filled, fillDatabase } from './fill-database.ts'
import { requireDatabase } from './installed.ts'
import { linesOfFilled } from './restore.ts'
import { claimFor, requireNoNodes } from './running-servers.ts'
import { outliveSizeLimit } from './size-limit.ts'

interface Options {
  replace?: true
  json?: true
}

const what = 'run migrate-to'

export const addMigrateTo: AddCommand = (program, terminal) => {
  program
    .command('migrate-to')
    .summary('copy the installation to another database, SQLite or PostgreSQL')
    .description(
      'Copies everything from the database of DATA_DIR or DATABASE_URL into another one and audits the copy. The source stays as it is. Stop the server first: it would go on writing to the source. Set the password of PostgreSQL in PGPASSWORD, because others can read the arguments of a command.',
    )
    .argument('<database>', 'postgres://user@host:5432/name, or sqlite:PATH')
    .option('--replace', 'replace an installation that is in the other database')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      examples(
        ['migrate-to -- postgres://tollgate@db:5432/tollgate', 'from SQLite to PostgreSQL'],
        ['migrate-to -- sqlite:/data/tollgate.db', 'and back'],
      ),
    )
    .action((database: string, options: Options) => migrateTo(terminal, database, options))
}

/** Converts the target to the form that `openStore` expects. */
function targetOf(database: string): string {
  if (isPostgresUrl(database)) {
    if (URL.canParse(database)) return database
    throw new CommandFailed('The address is not a whole one: use one such as postgres://user@host:5432/name.')
  }
  const [, path] = /^sqlite:(.+)$/.exec(database) ?? []
  if (path === undefined)
    throw new CommandFailed('The other database must be postgres://… or sqlite:PATH (MySQL is not supported).')
  return resolve(path)
}

async function migrateTo(terminal: Terminal, database: string, options: Options): Promise<void> {
  const config = terminal.readConfig()
  const url = targetOf(database)
  const { databaseUrl } = config
  requireDatabase(config)
  if (url === databaseUrl || (isPostgresUrl(url) && isSamePostgres(url, databaseUrl)))
    throw new CommandFailed('The other database is the one that the installation is in already.')
  if (!isPostgresUrl(url) && !isPostgresUrl(databaseUrl) && dirname(url) === dirname(databaseUrl))
    throw new CommandFailed(
      `The other database must be in another folder than ${databaseUrl}, because a folder belongs to one installation: use sqlite:PATH/tollgate.db. Nothing was changed.`,
    )
  const filled = await withQuietSource(databaseUrl, () => {
    terminal.note('Copying …')
    outliveSizeLimit()
    return copy(databaseUrl, url, options)
  })
  if (options.json) {
    const { rows, closedHolds, report } = filled
    terminal.print(JSON.stringify({ rows, closed_calls: closedHolds, audit: report }))
  } else {
    terminal.print(
      `Copied ${allRows(filled.rows)} rows in ${Object.keys(filled.rows).length} tables. The source is as it was.`,
    )
    for (const line of linesOfFilled(filled)) terminal.print(line)
    terminal.print(
      isPostgresUrl(url)
        ? 'Set DATABASE_URL to the new database, keep the secret key, and start the server.'
        : `Unset DATABASE_URL, set DATA_DIR to the folder of ${url} (which must be named tollgate.db), keep the secret key, and start the server.`,
    )
  }
  if (filled.report.faults.length > 0) terminal.exit(exitCodes.failed)
}

function isSamePostgres(one: string, other: string): boolean {
  if (!isPostgresUrl(other)) return false
  const [a, b] = [new URL(one), new URL(other)]
  return a.hostname === b.hostname && (a.port || '5432') === (b.port || '5432') && a.pathname === b.pathname
}

async function copy(from: string, to: string, { replace }: Options): Promise<Filled> {
  const snapshot = await openSnapshot(from)
  try {
    return await fillDatabase({
      url: to,
      source: { migrations: snapshot.facts.migrations, parts: () => snapshot.parts(['always', 'moved']) },
      replace: replace === true,
      what,
      finish: (store) => auditCommandIn(store, 'installation.move', store.dialect, `from ${snapshot.facts.dialect}`),
    })
  } finally {
    await snapshot.close()
  }
}

/** Runs `work` while no server is running on the source and none can start on it. */
async function withQuietSource<T>(url: string, work: () => Promise<T>): Promise<T> {
  const claim = await claimFor(url, what)
  const store = openStore({ url, unlimited: true })
  try {
    if (!(await isMigrated(store)))
      throw new CommandFailed(
        'The database contains no installation, or one that this version has not been started on yet. Start the server once, stop it, and run migrate-to again.',
      )
    const fault = await schemaFault(store)
    if (fault !== undefined) throw new CommandFailed(fault)
    if (store.dialect === 'sqlite') return await work()
    return await (store.writeUnlimited ?? store.write)(async (trx) => {
      await lockSchema(trx, store.dialect)
      await requireNoNodes(store, what)
      return work()
    })
  } finally {
    await store.close()
    claim.release()
  }
}
