import { balanceFaults } from '../store/balance-check.ts'
import type { Store } from '../store/store.ts'

/**
 * Proves on a live database that balances, used quota, open holds and log rows agree, and names every account where
 * they do not. Returns 0 when all agree, 1 otherwise.
 */
export async function audit(store: Store, print: (line: string) => void): Promise<number> {
  const { faults, checked, openHolds } = await balanceFaults(store)
  for (const fault of faults) print(`${fault.kind} ${fault.id}: ${fault.text}`)
  print(
    `${checked.users} users, ${checked.tokens} tokens, ${checked.channels} channels checked; ${openHolds} holds open; ${faults.length} faults.`,
  )
  return faults.length === 0 ? 0 : 1
}
