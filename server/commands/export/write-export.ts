import { createHash } from 'node:crypto'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { type ExportedRow, exportedRows, onSnapshot } from '../../store/installation/exported-rows.ts'
import { type ExportedTable, exportedTables } from '../../store/installation/exported-tables.ts'
import type { Store } from '../../store/store.ts'
import { createExportSeal, type ExportSeal } from './seal.ts'

/** The version of the export format. */
export const exportVersion = 1

/** The first line of an export. */
export interface ExportHead {
  tollgate: 'export'
  version: number
  parts: string[]
  secrets: 'sealed' | 'left out'
  salt: string
  /** The check value of the passphrase; empty if secrets are omitted. */
  check: string
}

/**
 * Writes everything, or the given parts, as JSON lines. The first line is the head, then there is one line per row, and
 * the last line has the number of rows and the SHA-256 of all lines before it. The database is read from a single
 * snapshot. Equal installations give equal texts.
 */
export function writeExport(
  { store, secrets }: { store: Store; secrets: Secrets },
  { parts, passphrase }: { parts: readonly string[]; passphrase: string | undefined },
  write: (line: string) => Promise<void> | void,
): Promise<number> {
  return onSnapshot(store, async (db) => {
    const hash = createHash('sha256')
    const put = async (value: object) => {
      const line = JSON.stringify(value)
      hash.update(`${line}\n`)
      await write(line)
    }
    const users = exportedTables.find(({ table }) => table === 'users') as ExportedTable
    let salt = ''
    // The salt is derived from the first password hash. The hash contains random bytes, and is the same in every
    // installation to which the account is restored.
    for await (const row of exportedRows(db, users)) {
      salt = createHash('sha256')
        .update(`${String(row['id'])} ${String(row['password'])}`)
        .digest('base64url')
      break
    }
    const seal = passphrase === undefined ? undefined : createExportSeal(passphrase, salt)
    const head: ExportHead = {
      tollgate: 'export',
      version: exportVersion,
      parts: [...parts],
      secrets: seal ? 'sealed' : 'left out',
      salt,
      check: seal?.check ?? '',
    }
    await put(head)
    let rows = 0
    for (const table of exportedTables.filter(({ part }) => parts.includes(part))) {
      for await (const row of exportedRows(db, table)) {
        await put({ table: table.table, row: withSecrets(row, table, secrets, seal) })
        rows++
      }
    }
    await write(JSON.stringify({ end: true, rows, sha256: hash.digest('hex') }))
    return rows
  })
}

/** Identifies a field of a row, so that its secret cannot be moved to another field. */
export function fieldName({ table, key }: ExportedTable, row: ExportedRow, column: string): string {
  return [table, ...key.map((name) => String(row[name])), column].join('\0')
}

/** The secret columns of a row, each with its encryption context in the database. */
export function secretColumns({ table, secrets = {} }: ExportedTable, row: ExportedRow): [string, string][] {
  if (table !== 'options') return Object.entries(secrets)
  return row['sealed'] === true ? [['value', `option ${String(row['key'])}`]] : []
}

/**
 * The row with its secrets encrypted for the export. If secrets are omitted, they are null. An empty secret stays
 * empty.
 */
function withSecrets(
  row: ExportedRow,
  table: ExportedTable,
  secrets: Secrets,
  seal: ExportSeal | undefined,
): ExportedRow {
  const changed = { ...row }
  for (const [column, context] of secretColumns(table, row)) {
    const stored = row[column]
    if (typeof stored !== 'string' || stored === '') continue
    if (!seal) changed[column] = null
    else {
      const plain = context === '' ? stored : secrets.open(stored, context)
      changed[column] = { sealed: seal.seal(plain, fieldName(table, row, column)) }
    }
  }
  return changed
}
