import { createReadStream } from 'node:fs'
import { migrationNames } from '../store/migrations/migrate.ts'
import { visitParts } from '../store/snapshot/check-parts.ts'
import type { LoadSource } from '../store/snapshot/load-source.ts'
import { BackupError } from './backup-error.ts'
import { type BackupSecret, keyOf } from './backup-key.ts'
import { openChunked } from './chunks.ts'
import { type BackupContents, type BackupFacts, readContents } from './contents.ts'
import type { BackupHeader } from './header.ts'

/** Asks for the secret with which the backup was encrypted. */
export type AskSecret = (header: BackupHeader) => Promise<BackupSecret>

/** A backup file that was read to the end and is complete. */
export interface CheckedBackup extends LoadSource {
  header: BackupHeader
  facts: BackupFacts
  /** The number of rows by table name. */
  rows: Record<string, number>
}

/**
 * Reads a whole backup file and checks it. Throws BackupError or SnapshotError if it is damaged, if it cannot be
 * decrypted, or if a newer version wrote it.
 */
export async function checkBackup(path: string, askSecret: AskSecret): Promise<CheckedBackup> {
  const file = await openChunked(readingOf(path))
  const { header } = file
  let key: Buffer | undefined
  try {
    key = header.encryption ? await keyOf(await askSecret(header), header.encryption) : undefined
  } finally {
    // The file is opened again each time its content is read.
    await file.close()
  }
  const { facts, parts } = await open(path, key)
  requireKnown(facts, header)
  const nothing = () => undefined
  const rows = await visitParts(parts, { table: async () => nothing, end: async () => undefined })
  return {
    header,
    facts,
    rows,
    migrations: facts.migrations,
    async *parts() {
      const again = await open(path, key)
      if (JSON.stringify(again.facts) !== JSON.stringify(facts))
        throw new BackupError('The backup was changed while it was read. Nothing was changed; try again.')
      yield* again.parts
    },
  }
}

async function open(path: string, key: Buffer | undefined): Promise<BackupContents> {
  const file = await openChunked(readingOf(path))
  return readContents(file.bytes(key))
}

async function* readingOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) yield piece as Uint8Array
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new BackupError(
      code === 'ENOENT' ? `There is no file ${path}.` : `The backup ${path} cannot be read: ${message}.`,
      { cause: error },
    )
  }
}

function requireKnown({ migrations }: BackupFacts, { version }: BackupHeader): void {
  const unknown = migrations.find((name) => !migrationNames.includes(name))
  if (unknown !== undefined)
    throw new BackupError(
      `The backup was made by a newer version (Tollgate ${version}, with migration ${unknown}): install that version or a newer one, and restore with it. Nothing was changed.`,
    )
  if (migrations.length === 0) throw new BackupError('The backup was made of a database without an installation.')
}
