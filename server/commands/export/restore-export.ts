import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import { channelStatus } from '../../../contract/statuses.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { storedKeyHash } from '../../lib/secrets/token-key.ts'
import { allChannels, rebuildAbilities } from '../../store/channels/channels.ts'
import {
  contentOf,
  declareUnlogged,
  type ExportedRow,
  emptyTable,
  insertRows,
  raiseSequence,
  startCaps,
} from '../../store/installation/exported-rows.ts'
import { type ExportedTable, exportedParts, exportedTables } from '../../store/installation/exported-tables.ts'
import { createCoverTimes } from '../../store/logs/partitions/add-months.ts'
import type { Store, Trx } from '../../store/store.ts'
import { CommandFailed } from '../command.ts'
import { createExportSeal, type ExportSeal } from './seal.ts'
import { type ExportHead, exportVersion, fieldName, secretColumns } from './write-export.ts'

const headSchema = z.object({
  tollgate: z.literal('export'),
  version: z.int(),
  parts: z.array(z.string()),
  secrets: z.enum(['sealed', 'left out']),
  salt: z.string(),
  check: z.string(),
})

/** What was restored, and what could not be restored. */
export interface RestoreReport {
  rows: number
  /** The number of tokens that were skipped, because their key is not in the export and nobody could use them. */
  skippedTokens: number
  /** The number of redemption codes that were skipped, because the code itself is not in the export. */
  skippedCodes: number
  /** The number of channels without a key. They are disabled. */
  keylessChannels: number
}

/** True if this is the first line of an export of Tollgate. */
export function isExport(firstLine: string): boolean {
  return z.safeParse(headSchema, tryParse(firstLine)).success
}

const rowsPerStep = 500

/**
 * Restores the lines of an export into a new installation, in one transaction. Ids are kept, secrets are encrypted with
 * the installation's own key, and the accounting starts in a state in which the audit finds no fault. Throws
 * CommandFailed with one sentence, and changes nothing, if the installation is not new, the passphrase is wrong, or the
 * export is incomplete or was changed.
 */
export function restoreExport(
  { store, secrets }: { store: Store; secrets: Secrets },
  lines: AsyncIterable<string>,
  { passphrase }: { passphrase: string | undefined },
): Promise<RestoreReport> {
  return store.write(async (trx) => {
    const content = await contentOf(trx)
    if (content !== '')
      throw new CommandFailed(`The installation is not new: it has ${content}. An export is restored into a new one.`)
    const hash = createHash('sha256')
    const report: RestoreReport = { rows: 0, skippedTokens: 0, skippedCodes: 0, keylessChannels: 0 }
    let head: ExportHead | undefined
    let seal: ExportSeal | undefined
    let ended = false
    let count = 0
    let number = 0
    let batch: { table: ExportedTable; rows: ExportedRow[] } | undefined
    const coverTimes = createCoverTimes(Math.floor(Date.now() / 1000))
    const flush = async () => {
      if (batch?.table.table === 'logs')
        await coverTimes(
          trx,
          batch.rows.map((row) => Number(row['created_at'])),
        )
      if (batch) await insertRows(trx, batch.table, batch.rows)
      batch = undefined
    }
    for await (const line of lines) {
      number++
      if (ended) throw new CommandFailed(`The export has a line ${number} after its end.`)
      const value = tryParse(line)
      if (!isObject(value))
        throw new CommandFailed(`Line ${number} of the export is not JSON; it is damaged or incomplete.`)
      if (!head) {
        head = headOf(value)
        seal = sealOf(head, passphrase)
        for (const table of tablesOf(head).toReversed()) await emptyTable(trx, table)
      } else if (value['end'] === true) {
        if (value['rows'] !== count || value['sha256'] !== hash.digest('hex'))
          throw new CommandFailed('The export was changed or is damaged: its checksum is wrong.')
        ended = true
        continue
      } else {
        count++
        const table = tablesOf(head).find((each) => each.table === value['table'])
        if (!table || !isObject(value['row']))
          throw new CommandFailed(`Line ${number} of the export is not a row of its parts.`)
        const row = ownRow(value['row'], table, { secrets, seal, report, number })
        if (batch?.table !== table || batch.rows.length >= rowsPerStep) await flush()
        batch ??= { table, rows: [] }
        if (row) batch.rows.push(row)
        if (row) report.rows++
      }
      hash.update(`${line}\n`)
    }
    if (!head || !ended) throw new CommandFailed('The export is incomplete: it has no last line.')
    await flush()
    await finish(trx, store.dialect, head)
    return report
  })
}

function headOf(value: object): ExportHead {
  const parsed = z.safeParse(headSchema, value)
  if (!parsed.success) throw new CommandFailed('The file is not an export of Tollgate.')
  if (parsed.data.version > exportVersion)
    throw new CommandFailed(`The export was made by a newer version of Tollgate (format ${parsed.data.version}).`)
  const unknown = parsed.data.parts.find((part) => !exportedParts.includes(part))
  if (unknown !== undefined)
    throw new CommandFailed(`The export has a part ${unknown}, which this version does not know.`)
  return parsed.data
}

function sealOf(head: ExportHead, passphrase: string | undefined): ExportSeal | undefined {
  if (head.secrets === 'left out') return undefined
  if (passphrase === undefined) throw new CommandFailed('The secrets of the export are sealed: give its passphrase.')
  const seal = createExportSeal(passphrase, head.salt)
  if (seal.check !== head.check) throw new CommandFailed('The passphrase is not the one of the export.')
  return seal
}

function tablesOf({ parts }: ExportHead): ExportedTable[] {
  return exportedTables.filter(({ part }) => parts.includes(part))
}

/**
 * Converts a row to the form that this installation stores. Undefined if the row is skipped, because it could not be
 * used.
 */
function ownRow(
  given: ExportedRow,
  table: ExportedTable,
  {
    secrets,
    seal,
    report,
    number,
  }: { secrets: Secrets; seal: ExportSeal | undefined; report: RestoreReport; number: number },
): ExportedRow | undefined {
  const row = { ...given }
  for (const [column, context] of secretColumns(table, given)) {
    const value = given[column]
    // Exports of earlier versions have no old keys.
    if (value === undefined && column === 'old_key') continue
    if (isObject(value) && typeof value['sealed'] === 'string') {
      const plain = opened(seal, value['sealed'], fieldName(table, given, column), number)
      row[column] = context === '' ? plain : secrets.seal(plain, context)
      if (table.table === 'tokens') row[`${column}_hash`] = storedKeyHash(plain, secrets)
    } else if (value === null) row[column] = ''
    else if (typeof value !== 'string' || (value !== '' && context !== ''))
      throw new CommandFailed(`Line ${number} of the export has a secret that is not sealed.`)
  }
  if (table.table === 'tokens' && row['key'] === '') return skip('skippedTokens')
  if (table.table === 'tokens' && row['old_key'] === '') row['old_key_until'] = 0
  if (table.table === 'redemptions' && row['key'] === '') return skip('skippedCodes')
  if (table.table === 'options' && given['value'] === null) return undefined
  if (table.table === 'channels' && row['key'] === '') {
    row['key'] = secrets.seal('', 'channel')
    row['status'] = channelStatus.disabled
    report.keylessChannels++
  }
  return row

  function skip(what: 'skippedTokens' | 'skippedCodes'): undefined {
    report[what]++
  }
}

function opened(seal: ExportSeal | undefined, text: string, field: string, number: number): string {
  try {
    if (seal) return seal.open(text, field)
  } catch {
    // The error is the same as for an encrypted secret in an export that should contain no secrets.
  }
  throw new CommandFailed(`Line ${number} of the export has a secret that cannot be opened; it was changed or moved.`)
}

/** Creates everything that is derived from the rows: abilities, sequences, limits and accounting data. */
async function finish(trx: Trx, dialect: Store['dialect'], head: ExportHead): Promise<void> {
  for (const table of tablesOf(head)) await raiseSequence(trx, dialect, table)
  if (head.parts.includes('channels')) {
    for (const { id } of await allChannels(trx)) await rebuildAbilities(trx, id)
    await startCaps(trx)
  }
  if (!head.parts.includes('logs')) await declareUnlogged(trx)
}
