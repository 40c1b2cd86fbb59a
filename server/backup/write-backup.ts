import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { migrationNames } from '../store/migrations/migrate.ts'
import { openSnapshot } from '../store/snapshot/open-snapshot.ts'
import type { Snapshot, SnapshotFacts, SnapshotPart } from '../store/snapshot/snapshot.ts'
import { version } from '../version.ts'
import { BackupError } from './backup-error.ts'
import { type BackupSecret, newKey } from './backup-key.ts'
import { chunked } from './chunks.ts'
import { written } from './contents.ts'
import { type BackupHeader, formatVersion } from './header.ts'

export interface BackupOptions {
  /** The URL of the database, in the form that `openStore` accepts. */
  databaseUrl: string
  /** The passphrase or key file with which the backup is encrypted; undefined for a backup without encryption. */
  secret: BackupSecret | undefined
  /** The installation's secret key, if the backup should contain it. Requires `secret`. */
  secretKey: string | undefined
  now: Date
}

/** The facts about a finished backup. */
export interface WrittenBackup {
  header: BackupHeader
  bytes: number
  /** The number of rows in each table. */
  rows: Record<string, number>
}

/** Writes the bytes of a backup somewhere, and returns their number. */
export type Sink = (bytes: AsyncIterable<Uint8Array>) => Promise<number>

/**
 * Takes a snapshot of the database, which a server may be using, and passes it to `sink`. Throws BackupError,
 * SnapshotError, or the error of the sink.
 */
export async function writeBackup(options: BackupOptions, sink: Sink): Promise<WrittenBackup> {
  const { secret, secretKey, now } = options
  if (secretKey !== undefined && !secret)
    throw new BackupError('The secret key may only be in an encrypted backup: give a passphrase or a key file.')
  const snapshot = await openSnapshot(options.databaseUrl)
  try {
    requireKnown(snapshot.facts)
    const encrypted = secret ? await newKey(secret) : undefined
    const header = headerOf(snapshot, now, secretKey !== undefined)
    header.encryption = encrypted?.encryption ?? null
    const { migrations, secretCheck } = snapshot.facts
    const rows: Record<string, number> = {}
    const content = written(
      {
        migrations,
        ...(secretCheck !== undefined && { secret_check: secretCheck }),
        ...(secretKey !== undefined && { secret_key: secretKey }),
      },
      counted(snapshot, rows),
    )
    const bytes = await sink(chunked(header, content, encrypted?.key))
    return { header, bytes, rows }
  } finally {
    await snapshot.close()
  }
}

/** Throws if a newer version has migrated the database, because the backup would lack that version's tables. */
function requireKnown({ migrations, missingTable }: SnapshotFacts): void {
  const unknown = migrations.find((name) => !migrationNames.includes(name))
  if (unknown !== undefined)
    throw new BackupError(
      `The database was made by a newer version (it has migration ${unknown}): back it up with that version.`,
    )
  if (migrations.length === 0)
    throw new BackupError('The database contains no installation, so there is nothing to back up.')
  if (missingTable !== undefined)
    throw new BackupError(
      `The database is damaged: it has no table ${missingTable}. Restore a backup. Nothing was changed.`,
    )
}

function headerOf({ facts }: Snapshot, now: Date, hasSecretKey: boolean): BackupHeader {
  return {
    product: 'Tollgate',
    format: formatVersion,
    version,
    schema: facts.migrations.at(-1) ?? '',
    created_at: now.toISOString(),
    database: facts.dialect,
    compression: 'zstd',
    encryption: null,
    has_secret_key: hasSecretKey,
  }
}

async function* counted(snapshot: Snapshot, rows: Record<string, number>): AsyncGenerator<SnapshotPart> {
  for await (const part of snapshot.parts(['always'])) {
    if (part.kind === 'end') rows[part.name] = part.rows
    yield part
  }
}

/** The ending of the names of unfinished files. */
export const partialEnd = '.partial'

/**
 * A sink that writes a file that only its owner can read. The file gets its final name only when it is complete and on
 * the disk. If it cannot be written, throws BackupError and leaves no file.
 */
export function fileSink(path: string): Sink {
  const partial = path + partialEnd
  return async (bytes) => {
    let file: FileHandle | undefined
    try {
      file = await open(partial, 'w', 0o600)
      let count = 0
      for await (const piece of bytes) {
        await writeAll(file, piece)
        count += piece.length
      }
      await file.sync()
      await file.close()
      file = undefined
      await rename(partial, path)
      await syncFolder(dirname(path))
      return count
    } catch (error) {
      await file?.close().catch(() => undefined)
      await rm(partial, { force: true }).catch(() => undefined)
      throw readable(error, path)
    }
  }
}

/**
 * Writes all bytes. If the disk is nearly full, a write may accept only some of the bytes. The next write then fails
 * with the reason.
 */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
}

async function syncFolder(path: string): Promise<void> {
  // Some systems cannot open folders. On these systems, the folder is not synced.
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => undefined)
  await folder?.close()
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Free some space, or choose another disk.',
  EDQUOT: 'your disk quota is used up. Free some space, or choose another disk.',
  EFBIG: 'the file would be larger than the system allows. Raise the limit (ulimit -f), or choose another disk.',
  EACCES: 'this user may not write there. Choose another folder, or change its permissions.',
  EPERM: 'this user may not write there. Choose another folder, or change its permissions.',
  EROFS: 'the disk is read-only. Choose another folder.',
  ENOENT: 'the folder does not exist. Create it, or choose another one.',
  ENOTDIR: 'the folder does not exist. Create it, or choose another one.',
  EISDIR: 'this is a folder. Name a file in it.',
}

function readable(error: unknown, path: string): unknown {
  const reason = reasons[String((error as NodeJS.ErrnoException).code)]
  const isOfFile = (error as NodeJS.ErrnoException).syscall !== undefined
  return reason !== undefined && isOfFile
    ? new BackupError(`The backup ${path} could not be written: ${reason} No incomplete file was left.`, {
        cause: error,
      })
    : error
}
