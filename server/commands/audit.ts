import { fileFaults } from '../store/connection/file-check.ts'
import { balanceFaults } from '../store/ledger/balance-check.ts'
import type { Store } from '../store/store.ts'
import { type AddCommand, examples, exitCodes } from './command.ts'
import { withStore } from './installed.ts'

/** The result of `audit`. Amounts are in quota units. */
export interface AuditReport {
  checked: { users: number; tokens: number; channels: number }
  openHolds: number
  openLeases: number
  faults: { kind: string; id?: number | string; text: string }[]
}

/**
 * Checks on a live database that the file is intact, and that balances, used quota, open holds and log rows agree.
 * Lists every account for which they do not agree.
 */
export async function audit(store: Store): Promise<AuditReport> {
  const damage = await fileFaults(store)
  const { faults, checked, openHolds, openLeases } = await balanceFaults(store)
  return { checked, openHolds, openLeases, faults: [...damage.map((text) => ({ kind: 'database', text })), ...faults] }
}

/** The report as lines of text. */
export function auditLines({ checked, openHolds, openLeases, faults }: AuditReport): string[] {
  const { users, tokens, channels } = checked
  return [
    ...faults.map(({ kind, id, text }) => `${kind}${id === undefined ? '' : ` ${id}`}: ${text}`),
    `${users} users, ${tokens} tokens, ${channels} channels checked; ${openHolds} holds open${openLeases > 0 ? `, ${openLeases} leases` : ''}; ${faults.length} faults.`,
  ]
}

export const addAudit: AddCommand = (program, terminal) => {
  program
    .command('audit')
    .summary('check that balances, holds and the log agree')
    .description(
      'Checks that the database is intact and that balances, used quota, open holds and log rows agree. Changes nothing, and may run beside the server. Ends with 1 if there are faults.',
    )
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      examples(['audit', 'check everything'], ['audit -- --json', 'the same, for a program to read']),
    )
    .action(async ({ json }: { json?: true }) => {
      const report = await withStore(terminal.readConfig(), audit)
      if (json) terminal.print(JSON.stringify(report))
      else for (const line of auditLines(report)) terminal.print(line)
      if (report.faults.length > 0) terminal.exit(exitCodes.failed)
    })
}
