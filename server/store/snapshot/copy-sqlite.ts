import { Database } from 'bun:sqlite'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../../lib/message-of.ts'
import { pendingMigrations } from '../migrations/migrate.ts'
import type { Store } from '../store.ts'

const kept = 3
const nameForm = /^before-.+-(\d{8}T\d{6})\.db$/

interface CopyOptions {
  /** The SQLite file. */
  path: string
  /** The version of the program that upgrades the database. */
  version: string
  now: Date
  log: Record<'info' | 'warn', (message: string) => void>
}

/**
 * Before a SQLite database is migrated, copies it to `before-<version>-<time>.db` in the same folder, so that an
 * upgrade can be reversed. Removes all such copies except the newest three. If the copy fails, for example for lack of
 * space, a warning is logged and the upgrade continues without a copy. Does nothing for a new database.
 */
export async function copyBeforeMigration(store: Store, { path, version, now, log }: CopyOptions): Promise<void> {
  if (store.dialect !== 'sqlite' || !(await pendingMigrations(store))) return
  const folder = dirname(path)
  const time = now.toISOString().replace(/[-:]/g, '').slice(0, 15)
  const copy = join(folder, `before-${version}-${time}.db`)
  const unfinished = `${copy}.partial`
  try {
    requireSpace(path, folder)
    rmSync(unfinished, { force: true })
    copyInto(path, unfinished)
    renameSync(unfinished, copy)
    log.info(`the database was copied to ${copy} before it is upgraded`)
    for (const old of olderCopies(folder)) rmSync(join(folder, old), { force: true })
  } catch (error) {
    removeIfPossible(unfinished)
    log.warn(`the database is upgraded without a copy: ${messageOf(error)}`)
  }
}

/** Removes a file that is no longer needed. Ignores errors, because the server can start anyway. */
function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // The caller logs a warning with the original error, which is the cause.
  }
}

/**
 * Throws unless there is enough space. The copy may need as much as the database and its write-ahead log, and the
 * upgrade needs some more.
 */
function requireSpace(path: string, folder: string): void {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  const needed = 1.2 * (sizeOf(path) + sizeOf(`${path}-wal`))
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < needed)
    throw new Error(
      `${folder} has ${Math.floor((bavail * bsize) / 1e6)} MB of free space, and ${Math.ceil(needed / 1e6)} MB are needed`,
    )
}

function copyInto(path: string, copy: string): void {
  // Create the file with these permissions first, so that other users can never read the copy.
  closeSync(openSync(copy, 'wx', 0o600))
  const database = new Database(path, { readwrite: true, create: false })
  try {
    database.run('PRAGMA busy_timeout = 10000')
    // This makes a consistent copy, including the contents of the write-ahead log.
    database.run('VACUUM INTO ?', [copy])
  } finally {
    database.close()
  }
  chmodSync(copy, 0o600)
  const file = openSync(copy, 'r')
  fsyncSync(file)
  closeSync(file)
}

/** All copies except the newest. */
function olderCopies(folder: string): string[] {
  const timeOf = (name: string) => nameForm.exec(name)?.[1] ?? ''
  const copies = readdirSync(folder).filter((name) => timeOf(name) !== '')
  return copies.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a))).slice(kept)
}
