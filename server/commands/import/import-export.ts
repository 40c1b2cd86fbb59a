import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { ImportDeps } from '../../jobs/import-engine.ts'
import { CommandFailed, type Terminal } from '../command.ts'
import { exportPassphrase } from '../export/export-passphrase.ts'
import { isExport, type RestoreReport, restoreExport } from '../export/restore-export.ts'

/** The maximum length of an export's first line. */
const firstLineBytes = 4096

/** True if the source is a file of JSON lines from `tollgate export`. */
export function isExportFile(source: string): boolean {
  if (!statSync(source, { throwIfNoEntry: false })?.isFile()) return false
  const file = openSync(source, 'r')
  try {
    const bytes = Buffer.alloc(firstLineBytes)
    const text = bytes.toString('utf8', 0, readSync(file, bytes))
    return isExport(text.split('\n', 1)[0] ?? '')
  } finally {
    closeSync(file)
  }
}

/**
 * Restores an export into a new installation in one transaction, and prints what was restored. If this is not possible,
 * throws CommandFailed with one sentence and changes nothing.
 */
export async function importExport(
  terminal: Terminal,
  { store, secrets }: Pick<ImportDeps, 'store' | 'secrets'>,
  { from, passphraseFile, json }: { from: string; passphraseFile: string | undefined; json: boolean },
): Promise<void> {
  const passphrase = exportPassphrase(terminal, passphraseFile)
  const report = await restoreExport({ store, secrets }, linesIn(from), { passphrase })
  if (json) terminal.print(JSON.stringify(report))
  else for (const line of linesOf(report)) terminal.print(line)
}

/**
 * The lines of a file. The file is opened only when the first line is requested, because the line reader drops lines
 * that arrive before that.
 */
async function* linesIn(file: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
}

function linesOf({ rows, skippedTokens, skippedCodes, keylessChannels }: RestoreReport): string[] {
  return [
    `${rows} rows were restored.`,
    ...(skippedTokens > 0 ? [`Tokens without a key in the export, which were skipped: ${skippedTokens}.`] : []),
    ...(skippedCodes > 0 ? [`Codes that are not in the export, which were skipped: ${skippedCodes}.`] : []),
    ...(keylessChannels > 0 ? [`Channels without a key, which are disabled: ${keylessChannels}.`] : []),
  ]
}

/** Throws if an option was given that does not apply to an export. */
export function refuseWithExport(given: Readonly<Record<string, unknown>>): void {
  const [option] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (option !== undefined)
    throw new CommandFailed(`An export of Tollgate is restored as a whole, so ${option} cannot be used with it.`)
}
