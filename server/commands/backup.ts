import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { fileSink, type WrittenBackup, writeBackup } from '../backup/write-backup.ts'
import type { CommandConfig } from '../config.ts'
import { epochSeconds, systemClock } from '../lib/clock.ts'
import { openStore } from '../store/connection/open.ts'
import { addBackupRow, commandLine } from '../store/installation/backups.ts'
import { isMigrated } from '../store/migrations/migrate.ts'
import { auditCommand } from './audit-command.ts'
import { addSecretOptions, type SecretOptions, secretFrom } from './backup-secret.ts'
import { type AddCommand, CommandFailed, examples } from './command.ts'
import { requireDatabase } from './installed.ts'
import { readableBytes } from './readable-bytes.ts'
import { outliveSizeLimit } from './size-limit.ts'

interface Options extends SecretOptions {
  unencrypted?: true
  withSecretKey?: true
  json?: true
}

export const addBackup: AddCommand = (program, terminal) => {
  addSecretOptions(
    program
      .command('backup')
      .summary('write a backup of the whole installation to a file')
      .description(
        'Writes everything in the database as it is at one moment to a compressed and encrypted file. The server can keep running and serving calls. The secret key, recorded requests and sessions are not in it; --with-secret-key adds the secret key.',
      )
      .argument('<file>', 'the file to write, which must not exist yet'),
  )
    .option('--unencrypted', 'do not encrypt the file')
    .option('--with-secret-key', 'put the secret key in the file, too; without it, nobody can use the backup')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      examples(
        ['backup -- tollgate.backup', 'asks for a passphrase'],
        ['backup -- tollgate.backup --passphrase-file /run/secrets/backup', 'for a scheduled job'],
        ['backup -- tollgate.backup --with-secret-key', 'everything that a new machine needs'],
      ),
    )
    .action(async (file: string, options: Options) => {
      const config = terminal.readConfig()
      const path = resolve(file)
      if (existsSync(path))
        throw new CommandFailed(`The file ${path} exists already. Choose another name, or move it away.`)
      requireDatabase(config)
      const secretKey = options.withSecretKey ? keyFor(config, options) : undefined
      const secret = options.unencrypted ? undefined : await secretFrom(options, config, { isNew: true })
      const { databaseUrl } = config
      outliveSizeLimit()
      const done = await writeBackup({ databaseUrl, secret, secretKey, now: new Date() }, fileSink(path))
      await noteInAudit(config, path, done)
      if (options.json) terminal.print(JSON.stringify({ file: path, ...summaryOf(done) }))
      else for (const line of linesOf(path, done)) terminal.print(line)
    })
}

function keyFor({ existingKey }: CommandConfig, { unencrypted }: Options): string {
  if (unencrypted)
    throw new CommandFailed(
      'The secret key may only be in an encrypted backup: omit --unencrypted or --with-secret-key.',
    )
  if (!existingKey)
    throw new CommandFailed(
      'There is no secret key here. Run the command where the server runs, with the same SECRET_KEY or DATA_DIR.',
    )
  return existingKey.key
}

/**
 * Records the backup in the audit log and in the list of backups, if the schema is current. If this version has not
 * been started on the database yet, nothing is written to the database.
 */
async function noteInAudit(config: CommandConfig, path: string, { bytes, header }: WrittenBackup): Promise<void> {
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous })
  try {
    if (!(await isMigrated(store))) return
    await store.write(async (trx) => {
      await auditCommand(trx, 'backup.create', path, `${bytes} bytes`)
      const at = epochSeconds(systemClock)
      const times = { started_at: Math.floor(Date.parse(header.created_at) / 1000), finished_at: at }
      const row = { made_by: commandLine, place: 'files' as const, host: hostname(), path, bytes, error: '' }
      await addBackupRow(trx, { ...row, ...times })
    })
  } finally {
    await store.close()
  }
}

/** The facts about a backup for the JSON output of a command. */
export function summaryOf({
  header,
  bytes,
  rows,
}: Partial<Pick<WrittenBackup, 'bytes'>> & Omit<WrittenBackup, 'bytes'>) {
  const { version, created_at, database, schema, has_secret_key, encryption } = header
  return {
    ...(bytes !== undefined && { bytes }),
    ...{ version, created_at, database, schema, has_secret_key },
    encrypted_with: encryption?.by ?? null,
    rows,
  }
}

/** The total number of rows in all tables. */
export function allRows(rows: Readonly<Record<string, number>>): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0)
}

function linesOf(path: string, { header, bytes, rows }: WrittenBackup): string[] {
  const { encryption, has_secret_key } = header
  return [
    `Wrote ${path}: ${allRows(rows)} rows in ${Object.keys(rows).length} tables, ${readableBytes(bytes)}.`,
    encryption
      ? `It is encrypted with the ${encryption.by}, and nobody can read it without.`
      : 'It is NOT encrypted: anybody who has the file can read accounts and logs.',
    has_secret_key
      ? 'The secret key is in it: it can be restored without anything else.'
      : 'The secret key is not in it: keep a copy of the key (SECRET_KEY or DATA_DIR/secret.key) in another place, because the backup cannot be restored without it.',
  ]
}
