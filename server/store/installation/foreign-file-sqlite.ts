import { Database } from 'bun:sqlite'
import { closeSync, openSync, rmSync } from 'node:fs'

/** A SQLite file for another program, while it is being written. */
export interface ForeignFile {
  insert(table: string, row: Readonly<Record<string, string | number | boolean | null>>): void
  /** Saves everything. If this was not called, `discard` leaves no file. */
  save(): void
  discard(): void
}

/** Creates a file with the given tables, readable only by its owner. Throws if the file exists. */
export function createForeignFile(path: string, statements: readonly string[]): ForeignFile {
  closeSync(openSync(path, 'wx', 0o600))
  const database = new Database(path)
  database.run('PRAGMA journal_mode = DELETE')
  database.run('BEGIN')
  for (const statement of statements) database.run(statement)
  return {
    insert(table, row) {
      const names = Object.keys(row)
      const values = names.map((name) => row[name] ?? null)
      const places = names.map(() => '?').join(',')
      database
        .query(`INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(',')}) VALUES (${places})`)
        .run(...values)
    },
    save() {
      database.run('COMMIT')
      database.close()
    },
    discard() {
      database.close()
      rmSync(path, { force: true })
    },
  }
}
