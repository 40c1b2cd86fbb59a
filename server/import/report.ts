import type { ImportReport, SumLine } from '../../contract/api/import.ts'
import type { ImportedSums } from '../store/imports/journal.ts'

const sumNames: Readonly<Record<keyof ImportedSums, string>> = {
  users: 'users',
  userQuota: 'balances of users',
  userUsed: 'used quota of users',
  requests: 'requests of users',
  tokens: 'tokens',
  tokenQuota: 'balances of tokens',
  tokenUsed: 'used quota of tokens',
  channels: 'channels',
  channelUsed: 'used quota of channels',
  codesUnused: 'codes, unused',
  codesDisabled: 'codes, disabled',
  codesUsed: 'codes, used',
}

/** The counts and totals of the source and of this installation, side by side. */
export function sumLines(there: ImportedSums, corrections: ImportedSums, here: ImportedSums): SumLine[] {
  return (Object.keys(sumNames) as (keyof ImportedSums)[]).map((key) => ({
    name: sumNames[key],
    there: there[key],
    corrected: corrections[key],
    here: here[key],
  }))
}

/** The counts and totals that differ by more or less than the expected differences. */
export const unequal = (lines: readonly SumLine[]) =>
  lines.filter(({ there, corrected, here }) => there + corrected !== here)

/** The report as lines of text. */
export function reportLines(report: ImportReport): string[] {
  const { added, dryRun } = report
  const version = report.version === '' ? '' : ` ${report.version}`
  const lines = [
    `${report.program}${version} at ${report.source}`,
    modes[report.mode],
    '',
    `${dryRun ? 'To import' : 'Imported'}: ${added.users} users, ${added.tokens} tokens, ${added.channels} channels, ${added.codes} codes, ${added.logs} log rows`,
    '',
    ...table(
      ['', 'there', 'corrected', dryRun ? 'will be here' : 'here'],
      report.sums.map(({ name, there, corrected, here }) => [
        name,
        String(there),
        corrected === 0 ? '' : signed(corrected),
        String(here),
      ]),
    ),
  ]
  const differing = report.prices.filter(({ differs }) => differs !== false)
  if (report.prices.length > 0)
    lines.push(
      '',
      differing.length === 0
        ? `Prices: all ${report.prices.length} models cost the same as in the source.`
        : 'Prices that may differ, in $ per million tokens (prompt / completion); "?" is derived by the program:',
      ...(differing.length === 0
        ? []
        : table(
            ['model', 'there', 'here'],
            differing.map(({ model, theirs, ours }) => [model, theirs, ours]),
          )),
    )
  if (report.options.length > 0)
    lines.push(
      '',
      'Options:',
      ...report.options.map(({ key, from, to }) => `  ${key}: ${oneLine(from)} → ${oneLine(to)}`),
    )
  if (report.findings.length > 0) lines.push('', 'What is not as it was:')
  for (const { kind, text, count, examples } of report.findings)
    lines.push(
      `  ${kind}: ${text} (${count}: ${examples.map(oneLine).join(', ')}${count > examples.length ? ', …' : ''})`,
    )
  if (report.leftovers > 0)
    lines.push(
      '',
      dryRun
        ? `${report.leftovers} items without a counterpart here will be written to a file of JSON lines.`
        : `${report.leftovers} items without a counterpart here were written to ${report.leftoversFile}. The file may contain secrets.`,
    )
  if (report.changedMeanwhile)
    lines.push('', 'The source changed during the import. Run the command again to import the changes.')
  lines.push('', dryRun ? 'Nothing was changed.' : `Done in ${report.seconds.toFixed(1)} s.`)
  return lines
}

const modes = {
  empty: 'The installation is empty: ids are kept.',
  new: 'The installation is empty. The source has no numeric ids: rows get new ones.',
  merge: 'The installation is in use: rows get new ids, and names that are taken get a suffix.',
  again: 'This source was imported before: only new and changed data is imported.',
} as const

const signed = (value: number) => (value > 0 ? `+${value}` : String(value))
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

/** Rows in columns; the first column is a name, the others are right-aligned. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows]
  const widths = heads.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)))
  return all.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .replace(/^/, '  ')
      .trimEnd(),
  )
}
