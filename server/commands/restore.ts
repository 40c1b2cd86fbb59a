import { resolve } from 'node:path'
import { type CheckedBackup, checkBackup } from '../backup/read-backup.ts'
import { auditLines } from './audit.ts'
import { auditCommandIn } from './audit-command.ts'
import { allRows, summaryOf } from './backup.ts'
import { addSecretOptions, type SecretOptions, secretFrom } from './backup-secret.ts'
import { type AddCommand, CommandFailed, examples, exitCodes, type Terminal } from './command.ts'
import { type Filled, fillDatabase } from './fill-database.ts'
import { keyToWrite, writeKeyFile } from './restored-key.ts'
import { outliveSizeLimit } from './size-limit.ts'

interface Options extends SecretOptions {
  check?: true
  replace?: true
  json?: true
}

export const addRestore: AddCommand = (program, terminal) => {
  addSecretOptions(
    program
      .command('restore')
      .summary('put the contents of a backup into the database')
      .description(
        'Checks a whole backup, then fills the database of DATA_DIR or DATABASE_URL with it, brings it up to this version and audits it. A backup of SQLite can be restored into PostgreSQL, and the other way round. Everything happens in one step: if the command is interrupted, the database is as it was, and the command can run again. Stop the server first.',
      )
      .argument('<file>', 'a file that the backup command wrote'),
  )
    .option('--check', 'only check the file')
    .option('--replace', 'replace an installation that is in the database')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      examples(
        ['restore -- tollgate.backup --check', 'is the backup complete, and can it be decrypted?'],
        ['restore -- tollgate.backup', 'into an empty database'],
        ['restore -- tollgate.backup --replace', 'back to an earlier state'],
      ),
    )
    .action((file: string, options: Options) => restore(terminal, resolve(file), options))
}

async function restore(terminal: Terminal, path: string, options: Options): Promise<void> {
  const config = terminal.readConfig()
  terminal.note(`Checking ${path} …`)
  const backup = await checkBackup(path, () => secretFrom(options, config, { isNew: false }))
  const { header, facts } = backup
  if (options.check) {
    if (options.json) terminal.print(JSON.stringify(summaryOf(backup)))
    else for (const line of linesOf(backup)) terminal.print(line)
    return
  }
  const key = keyToWrite(config, facts)
  terminal.note('Restoring …')
  outliveSizeLimit()
  const filled = await fillDatabase({
    url: config.databaseUrl,
    source: backup,
    replace: options.replace === true,
    what: 'restore',
    finish: (store) => auditCommandIn(store, 'backup.restore', path, `made at ${header.created_at}`),
  })
  // The key is written last. Until then, no server can start on the database, and the command can run again.
  const oldKey = key === undefined ? undefined : keyWritten(config.keyFile, key, filled)
  if (options.json) {
    const { closedHolds, report } = filled
    terminal.print(JSON.stringify({ ...summaryOf(backup), closed_calls: closedHolds, audit: report }))
  } else {
    terminal.print(`Restored ${allRows(filled.rows)} rows of the backup that was made at ${header.created_at}.`)
    if (key !== undefined) terminal.print(`The secret key of the backup is in ${config.keyFile} now.`)
    if (oldKey !== undefined) terminal.print(`The earlier key was kept as ${oldKey}.`)
    for (const line of linesOfFilled(filled)) terminal.print(line)
  }
  if (filled.report.faults.length > 0) terminal.exit(exitCodes.failed)
}

/** Like `writeKeyFile`. If it fails, the error says that the data is restored, and how to finish. */
function keyWritten(file: string, key: string, { keptAs }: Filled): string | undefined {
  try {
    return writeKeyFile(file, key)
  } catch (error) {
    const kept = keptAs === undefined ? '' : ` The database that was replaced was kept as ${keptAs}.`
    throw new CommandFailed(
      `The data is restored, but its secret key could not be written to ${file} (${(error as Error).message}). Restore the same backup again with --replace to finish. Until then no server starts.${kept}`,
      { cause: error },
    )
  }
}

/** The lines for the operator about a filled database. */
export function linesOfFilled({ closedHolds, keptAs, report }: Filled): string[] {
  return [
    ...(closedHolds > 0 ? [`${closedHolds} calls that were open were closed as after a crash.`] : []),
    ...(keptAs === undefined ? [] : [`The database that was replaced was kept as ${keptAs}.`]),
    ...auditLines(report),
  ]
}

function linesOf({ header, rows }: CheckedBackup): string[] {
  const { version, created_at, database, encryption, has_secret_key } = header
  return [
    `The backup is complete: ${allRows(rows)} rows in ${Object.keys(rows).length} tables.`,
    `It was made at ${created_at} by Tollgate ${version} of a ${database === 'sqlite' ? 'SQLite' : 'PostgreSQL'} database.`,
    `It is ${encryption ? `encrypted with a ${encryption.by}` : 'not encrypted'}, and the secret key is ${has_secret_key ? '' : 'not '}in it.`,
  ]
}
