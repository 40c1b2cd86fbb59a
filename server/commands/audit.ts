import type { Config } from '../config.ts'
import { balanceFaults } from '../store/balance-check.ts'
import { openStore } from '../store/open.ts'

/**
 * Proves on a live database that balances, used quota, open holds and log rows agree, and names every account where
 * they do not. Returns 0 when all agree, 1 otherwise.
 */
export async function audit(config: Config, print: (line: string) => void): Promise<number> {
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous })
  try {
    const { faults, checked, openHolds } = await balanceFaults(store)
    for (const fault of faults) print(`${fault.kind} ${fault.id}: ${fault.text}`)
    print(
      `${checked.users} users, ${checked.tokens} tokens, ${checked.channels} channels checked; ${openHolds} holds open; ${faults.length} faults.`,
    )
    return faults.length === 0 ? 0 : 1
  } finally {
    await store.close()
  }
}
