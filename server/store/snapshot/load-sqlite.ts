import { Database } from 'bun:sqlite'
import { closeSync, copyFileSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { openSqlite } from '../connection/open-sqlite.ts'
import { migrateWithin } from '../migrations/migrate.ts'
import type { Store } from '../store.ts'
import { requireColumns, visitParts } from './check-parts.ts'
import type { LoadSource } from './load-source.ts'
import { columnsOfSqlite } from './read-sqlite.ts'

/** A SQLite file that has been filled from a snapshot and has a temporary name. */
export interface StagedFile {
  readonly rows: Record<string, number>
  /** Opens the file for further changes. Close the store before calling `publish`. */
  open(): Store
  /**
   * Replaces the database with the file in one step. If `keptAs` is given, the previous database is kept under that
   * name. No server may have the database open.
   */
  publish(keptAs: string | undefined): void
  discard(): void
}

/**
 * Fills a new file in the folder of the database from a snapshot. The database itself is not changed before `publish`,
 * so it stays intact if the process ends early. If an earlier run left its file behind, the file is removed first.
 */
export async function stageSqlite(path: string, source: LoadSource): Promise<StagedFile> {
  const staged = `${path}.loading`
  const discard = () => {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(staged + end, { force: true })
  }
  const open = () => openSqlite({ url: staged })
  discard()
  try {
    await migrated(open(), new Set(source.migrations))
    const rows = await fill(staged, source)
    await migrated(open())
    return { rows, open, discard, publish: (keptAs) => publish({ path, staged, keptAs }) }
  } catch (error) {
    discard()
    throw error
  }
}

async function migrated(store: Store, only?: ReadonlySet<string>): Promise<void> {
  try {
    await store.write((trx) => migrateWithin(trx, 'sqlite', only))
  } finally {
    await store.close()
  }
}

async function fill(path: string, source: LoadSource): Promise<Record<string, number>> {
  const database = new Database(path)
  try {
    // These settings do not protect the file against a crash. This is safe, because the file is used only when it is
    // complete and has been written to the disk.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('PRAGMA synchronous = OFF')
    database.run('PRAGMA foreign_keys = OFF')
    database.run('BEGIN IMMEDIATE')
    const rows = await visitParts(source.parts(), {
      async table(name, columns) {
        requireColumns(name, columns, columnsOfSqlite(database, name))
        // Empties the table, because migrations may already have inserted rows.
        database.run(`delete from "${name}"`)
        const list = columns.map((column) => `"${column.name}"`).join(', ')
        const statement = database.prepare(
          `insert into "${name}" (${list}) values (${columns.map(() => '?').join(', ')})`,
        )
        return (all) => {
          for (const row of all) statement.run(...row)
        }
      },
      async end(name, next) {
        if (!database.query(`select 1 from sqlite_master where name = 'sqlite_sequence'`).get()) return
        database.run('delete from sqlite_sequence where name = ?', [name])
        if (next > 0) database.run('insert into sqlite_sequence (name, seq) values (?, ?)', [name, next - 1])
      },
    })
    database.run('COMMIT')
    database.run('ANALYZE')
    return rows
  } finally {
    database.close()
  }
}

function publish({ path, staged, keptAs }: { path: string; staged: string; keptAs: string | undefined }): void {
  sync(staged)
  if (existsSync(path)) {
    if (keptAs !== undefined) rmSync(keptAs, { force: true })
    const isWhole = mergeLog(path)
    if (keptAs !== undefined) keep(path, keptAs)
    // The write-ahead log of a damaged database must not be applied to the new database.
    for (const end of isWhole ? [] : ['-wal', '-shm'])
      if (existsSync(path + end)) renameSync(path + end, (keptAs ?? staged) + end)
  }
  renameSync(staged, path)
  try {
    sync(dirname(path))
  } catch {
    // Some systems do not let programs open folders.
  }
}

/** Merges the write-ahead log into the file and removes the log. Returns false if the database is damaged. */
function mergeLog(path: string): boolean {
  try {
    const old = new Database(path)
    old.run('PRAGMA busy_timeout = 10000')
    old.run('PRAGMA wal_checkpoint(TRUNCATE)')
    old.run('PRAGMA journal_mode = DELETE')
    old.close()
    return true
  } catch {
    return false
  }
}

function keep(path: string, keptAs: string): void {
  try {
    linkSync(path, keptAs)
  } catch {
    // The file system does not support hard links.
    copyFileSync(path, keptAs)
  }
}

/** Waits until the contents of a file or folder are on the disk. */
function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
