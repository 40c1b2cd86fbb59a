import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { captureFiles, captureObjects } from '../captures/capture-store.ts'
import { type ResealedCaptures, resealCaptures } from '../captures/reseal-captures.ts'
import type { CommandConfig, ExistingKey } from '../config.ts'
import { addressContext } from '../jobs/alert-sender.ts'
import { randomHex } from '../lib/secrets/ids.ts'
import { createSecrets } from '../lib/secrets/secrets.ts'
import { createMetadataGuard } from '../outbound/metadata-guard.ts'
import { optionContext } from '../settings/secret-options.ts'
import { loadSettings } from '../settings/settings.ts'
import type { OpenedStore } from '../store/connection/open-options.ts'
import { replaceSecretCheck, secretCheck } from '../store/installation/installation.ts'
import { lockSchema } from '../store/migrations/migrate.ts'
import { type Resealed, resealRows } from '../store/snapshot/reseal.ts'
import { auditCommand } from './audit-command.ts'
import { type AddCommand, CommandFailed, examples, type Terminal } from './command.ts'
import { withStore } from './installed.ts'
import { checkOf, keepKeyFile, writeDurably } from './restored-key.ts'
import { claimFor, requireNoNodes } from './running-servers.ts'

interface Options {
  withoutRecordings?: true
  json?: true
}

const what = 'run rotate-key'

export const addRotateKey: AddCommand = (program, terminal) => {
  program
    .command('rotate-key')
    .summary('encrypt everything under a new secret key')
    .description(
      'Encrypts everything that is stored encrypted under a new secret key. Tokens, channel keys, options and recordings keep working. Sessions, access tokens of the management API and compacted conversations end, because nobody knows their plain text. Stop all servers first. If the command is interrupted, run it again. The new key is made here, or taken from TOLLGATE_NEW_SECRET_KEY. If SECRET_KEY has the old key, set it to the new one afterwards. Keep the old key for as long as you keep backups that were made under it.',
    )
    .option('--without-recordings', 'leave recorded requests as they are; they can no longer be read')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      examples(
        ['rotate-key', 'a new key in DATA_DIR/secret.key'],
        ['rotate-key -- --json', 'the same, for a program to read'],
      ),
    )
    .action((options: Options) => rotate(terminal, options))
}

/** The old key and the new one. */
interface KeyChange {
  old: ExistingKey
  next: string
  /** The file that contains the new key until the rotation is complete; undefined if the old key is in SECRET_KEY. */
  nextFile: string | undefined
}

async function rotate(terminal: Terminal, options: Options): Promise<void> {
  const config = terminal.readConfig()
  const claim = await claimFor(config.databaseUrl, what)
  try {
    await withStore(config, async (store) => {
      const change = await prepare(config, store)
      terminal.note('Encrypting …')
      const rows = await resealDatabase(store, change)
      const recordings = options.withoutRecordings ? undefined : await resealRecordings(store, config, change)
      const keptAs = finished(config, change)
      if (options.json) terminal.print(JSON.stringify({ rows: rows ?? null, recordings: recordings ?? null }))
      else for (const line of linesOf({ rows, recordings, keptAs, change })) terminal.print(line)
    })
  } finally {
    claim.release()
  }
}

/** Finds both keys. Stores the new one before any data is encrypted with it. */
async function prepare(config: CommandConfig, store: OpenedStore): Promise<KeyChange> {
  const { existingKey: old, keyFile, newSecretKey } = config
  if (!old)
    throw new CommandFailed(
      'There is no secret key here. Run the command where the server runs, with the same SECRET_KEY or DATA_DIR.',
    )
  await requireNoNodes(store, what)
  const nextFile = old.file === undefined ? undefined : `${keyFile}.next`
  // If an earlier run was interrupted, this file contains the new key of that run, and data may already be encrypted
  // with it.
  const begun = nextFile !== undefined && existsSync(nextFile) ? readFileSync(nextFile, 'utf8').trim() : ''
  if (begun !== '' && newSecretKey !== undefined && newSecretKey !== begun)
    throw new CommandFailed(
      `An earlier run was interrupted, and its new key is in ${nextFile}: unset TOLLGATE_NEW_SECRET_KEY, and run rotate-key again.`,
    )
  if (nextFile === undefined && newSecretKey === undefined)
    throw new CommandFailed(
      'SECRET_KEY has the secret key, so the new key cannot be stored here. Set TOLLGATE_NEW_SECRET_KEY to it (32 random bytes in hex are best), and run rotate-key again.',
    )
  const next = begun || newSecretKey || randomHex(32)
  if (next === old.key) throw new CommandFailed('The new key is the secret key of the installation already.')
  const stored = await store.read.transaction().execute(secretCheck)
  if (stored !== checkOf(old.key) && stored !== checkOf(next))
    throw new CommandFailed(
      'The secret key does not belong to this database. Set SECRET_KEY (or the file secret.key in DATA_DIR) to the key of this database. Nothing was changed.',
    )
  if (nextFile !== undefined && begun === '') writeDurably(nextFile, `${next}\n`)
  return { old, next, nextFile }
}

/** Encrypts all rows again in one transaction. Undefined if an earlier run has already done this. */
async function resealDatabase(store: OpenedStore, { old, next }: KeyChange): Promise<Resealed | undefined> {
  const [from, to] = [createSecrets(old.key), createSecrets(next)]
  const contexts = { option: optionContext, alertDestination: addressContext }
  return (store.writeUnlimited ?? store.write)(async (trx) => {
    // A server that starts now waits for this lock, and then finds that its key is wrong.
    await lockSchema(trx, store.dialect)
    await requireNoNodes(store, what)
    if ((await secretCheck(trx)) === checkOf(next)) return undefined
    const done = await resealRows(trx, { from, to, contexts, dialect: store.dialect })
    await replaceSecretCheck(trx, checkOf(next))
    await auditCommand(trx, 'installation.rotate-key', 'secret key', `${done.tokens} tokens, ${done.channels} channels`)
    return done
  })
}

async function resealRecordings(
  store: OpenedStore,
  { dataDir }: CommandConfig,
  { old, next }: KeyChange,
): Promise<ResealedCaptures> {
  const [from, to] = [createSecrets(old.key), createSecrets(next)]
  const settings = await loadSettings(store, to, () => undefined)
  const objects = captureObjects(
    settings.current(),
    createMetadataGuard(() => Date.now()),
  )
  try {
    return await resealCaptures({ store, files: captureFiles(join(dataDir, 'captures')), objects, from, to })
  } catch (error) {
    throw new CommandFailed(
      `The recordings could not be encrypted under the new key (${(error as Error).message}). Run rotate-key again to continue, or use --without-recordings to give them up. Until then no server starts.`,
      { cause: error },
    )
  }
}

/** Like `finish`. If it fails, the error says that the database already has the new key. */
function finished(config: CommandConfig, change: KeyChange): string | undefined {
  try {
    return finish(config, change)
  } catch (error) {
    throw new CommandFailed(
      `The database is encrypted under the new key, but the key could not be put into ${config.keyFile} (${(error as Error).message}). Run rotate-key again to finish. Until then no server starts.`,
      { cause: error },
    )
  }
}

/** Makes the new key the key of the installation. Returns the file in which the old key is kept. */
function finish({ keyFile }: CommandConfig, { nextFile }: KeyChange): string | undefined {
  if (nextFile === undefined) return undefined
  const keptAs = keepKeyFile(keyFile)
  renameSync(nextFile, keyFile)
  return keptAs
}

interface Outcome {
  rows: Resealed | undefined
  recordings: ResealedCaptures | undefined
  keptAs: string | undefined
  change: KeyChange
}

function linesOf({ rows, recordings, keptAs, change }: Outcome): string[] {
  return [
    rows
      ? `${rows.tokens} tokens, ${rows.channels} channels, ${rows.options} options and ${rows.alertDestinations} alert destinations are encrypted under the new key.`
      : 'An earlier run has encrypted the database under the new key.',
    ...(rows
      ? [
          `${rows.endedSessions} sessions and ${rows.endedAccessTokens} access tokens of the management API ended: people log in again and create new ones.`,
        ]
      : []),
    ...(rows?.unreadable ?? []).map(
      (name) => `The ${name} could not be decrypted with the old key, and was left as it is.`,
    ),
    ...(recordings ? [`${recordings.resealed} recorded requests are encrypted under the new key.`] : []),
    ...(recordings && recordings.unreadable > 0
      ? [`${recordings.unreadable} recorded requests could not be decrypted with the old key.`]
      : []),
    keptAs === undefined
      ? 'Set SECRET_KEY to the new key now, on all nodes. The server does not start with the old one.'
      : `The new key is in ${change.old.file}. The old one was kept as ${keptAs}: backups made before now need it.`,
  ]
}
