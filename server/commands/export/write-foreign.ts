import { roles } from '../../../contract/roles.ts'
import { channelStatus, redemptionStatus } from '../../../contract/statuses.ts'
import { randomBase62, randomHex } from '../../lib/secrets/ids.ts'
import { bcryptHash } from '../../lib/secrets/password.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { isHashedKey } from '../../lib/secrets/token-key.ts'
import { splitList } from '../../lib/split-list.ts'
import { keysIn } from '../../store/channels/key-lines.ts'
import { type ExportedRow, exportedRows, onSnapshot } from '../../store/installation/exported-rows.ts'
import { exportedTables } from '../../store/installation/exported-tables.ts'
import { createForeignFile, type ForeignFile } from '../../store/installation/foreign-file-sqlite.ts'
import type { Db, Store } from '../../store/store.ts'
import { foreignLogType, foreignRow, foreignType } from './foreign-rows.ts'
import { type ForeignProgram, foreignSchema } from './foreign-schemas.ts'
import { secretColumns } from './write-export.ts'

/** What was written, and what the program does not support. */
export interface ForeignReport {
  users: number
  tokens: number
  channels: number
  redemptions: number
  logs: number
  /** The new password of root; undefined if the program supports the hash of the existing password. */
  rootPassword: string | undefined
  /** The number of accounts whose password has to be reset, because the program does not support the kind of hash. */
  passwords: number
  /** The names of channels that became OpenAI channels, because the program does not have their type. */
  otherTypes: string[]
  /** The channels with several keys. Each became several channels. */
  split: string[]
  /**
   * The names of the tokens that were not written, because their keys are unknown. Only hashes of these keys were
   * imported, and the tokens have not been used since the import.
   */
  unknownKeys: string[]
  /** The number of log rows of a kind that the program does not have. */
  skippedLogs: number
}

interface Writer {
  db: Db
  secrets: Secrets
  file: ForeignFile
  program: ForeignProgram
  report: ForeignReport
  /**
   * The current time in epoch seconds. One-api does not support expiry, so codes that have expired by this time are
   * written to its database as disabled.
   */
  now: number
}

/**
 * Writes a SQLite database that the program can open as its own. All secrets are plain text, because the program has no
 * secret key. Tollgate's database is read from a single snapshot. Throws if the file exists. If anything fails, no file
 * is left.
 */
export async function writeForeign(
  { store, secrets }: { store: Store; secrets: Secrets },
  { program, path, now }: { program: ForeignProgram; path: string; now: number },
): Promise<ForeignReport> {
  const file = createForeignFile(path, foreignSchema(program))
  const report: ForeignReport = {
    ...{ users: 0, tokens: 0, channels: 0, redemptions: 0, logs: 0 },
    ...{ rootPassword: undefined, passwords: 0, otherTypes: [], split: [], unknownKeys: [], skippedLogs: 0 },
  }
  try {
    await onSnapshot(store, async (db) => {
      const writer: Writer = { db, secrets, file, program, report, now }
      await writeUsers(writer)
      await writePlain(writer, 'tokens')
      await writeChannels(writer)
      await writePlain(writer, 'redemptions')
      await writeOptions(writer)
      await writeLogs(writer)
    })
    file.save()
    return report
  } catch (error) {
    file.discard()
    throw error
  }
}

/** The rows of a table with their secrets as plain text. */
async function* plainRows({ db, secrets }: Writer, name: string): AsyncGenerator<ExportedRow> {
  const table = exportedTables.find((each) => each.table === name)
  if (!table) throw new Error(`there is no table ${name}`)
  for await (const row of exportedRows(db, table)) {
    for (const [column, context] of secretColumns(table, row)) {
      const stored = row[column]
      if (context !== '' && typeof stored === 'string' && stored !== '') row[column] = secrets.open(stored, context)
    }
    yield row
  }
}

async function writeUsers(writer: Writer): Promise<void> {
  const { file, program, report } = writer
  for await (const row of plainRows(writer, 'users')) {
    const known = String(row['password'])
    const isReadable = /^\$2[aby]\$/.test(known)
    const isFirstRoot = row['role'] === roles.root && report.rootPassword === undefined
    if (!isReadable && isFirstRoot) {
      report.rootPassword = randomBase62(20)
      row['password'] = await bcryptHash(report.rootPassword)
    } else if (!isReadable) {
      // No password matches an empty hash.
      row['password'] = ''
      report.passwords++
    }
    // Invite codes must be unique in these programs, so an account without a code is written with a random one.
    row['aff_code'] ??= randomHex(8)
    file.insert('users', { ...foreignRow(program, 'users', row), access_token: randomHex(16) })
    report.users++
  }
  if (program === 'new-api') file.insert('setups', { id: 1, version: 'v0.6.3.1', initialized_at: 1 })
}

async function writePlain(writer: Writer, table: 'tokens' | 'redemptions'): Promise<void> {
  for await (const row of plainRows(writer, table)) {
    if (table === 'tokens' && isHashedKey(String(row['key']))) {
      writer.report.unknownKeys.push(String(row['name']))
      continue
    }
    if (writer.program === 'one-api' && hasExpired(table, row, writer.now)) row['status'] = redemptionStatus.disabled
    writer.file.insert(table, foreignRow(writer.program, table, row))
    writer.report[table]++
  }
}

function hasExpired(table: string, row: ExportedRow, now: number): boolean {
  const expires = Number(row['expired_time'] ?? 0)
  return table === 'redemptions' && row['status'] === redemptionStatus.unused && expires !== 0 && expires < now
}

async function writeChannels(writer: Writer): Promise<void> {
  const rows: ExportedRow[] = []
  for await (const row of plainRows(writer, 'channels')) rows.push(row)
  let nextId = Math.max(0, ...rows.map(({ id }) => Number(id))) + 1
  for (const row of rows) {
    const keys = keysIn(String(row['key']), row['key_mode'] as 'single' | 'multi')
    if (keys.length > 1) writer.report.split.push(String(row['name']))
    const [first = '', ...others] = keys
    writeChannel(writer, { ...row, key: first })
    for (const key of others) writeChannel(writer, { ...row, id: nextId++, key, used_quota: 0 })
  }
}

function writeChannel({ file, program, report }: Writer, row: ExportedRow): void {
  const type = foreignType(program, Number(row['type']))
  if (type === undefined) report.otherTypes.push(String(row['name']))
  const channel = foreignRow(program, 'channels', { ...row, type: type ?? 1 })
  file.insert('channels', channel)
  report.channels++
  const enabled = row['status'] === channelStatus.enabled
  for (const group of new Set(splitList(String(row['group']))))
    for (const model of new Set(splitList(String(row['models']))))
      file.insert('abilities', {
        group,
        model,
        channel_id: Number(row['id']),
        enabled,
        priority: Number(row['priority']),
      })
}

async function writeOptions(writer: Writer): Promise<void> {
  for await (const { key, value } of plainRows(writer, 'options'))
    writer.file.insert('options', { key: String(key), value: String(value) })
}

async function writeLogs(writer: Writer): Promise<void> {
  const { file, program, report } = writer
  for await (const row of plainRows(writer, 'logs')) {
    const type = foreignLogType(program, Number(row['type']))
    if (type === undefined) report.skippedLogs++
    else {
      file.insert('logs', foreignRow(program, 'logs', { ...row, type }))
      report.logs++
    }
  }
}
