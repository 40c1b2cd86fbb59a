import { fileFaults } from '../store/connection/file-check.ts'
import { balanceFaults } from '../store/ledger/balance-check.ts'
import type { Store } from '../store/store.ts'

/**
 * Checks on a live database that the file is intact, and that balances, used quota, open holds and log rows agree.
 * Names every account where they do not. Returns 0 if everything agrees, 1 otherwise.
 */
export async function audit(store: Store, print: (line: string) => void): Promise<number> {
  const damage = await fileFaults(store)
  for (const fault of damage) print(`database: ${fault}`)
  const { faults, checked, openHolds } = await balanceFaults(store)
  for (const fault of faults) print(`${fault.kind} ${fault.id}: ${fault.text}`)
  print(
    `${checked.users} users, ${checked.tokens} tokens, ${checked.channels} channels checked; ${openHolds} holds open; ${faults.length + damage.length} faults.`,
  )
  return faults.length + damage.length === 0 ? 0 : 1
}
