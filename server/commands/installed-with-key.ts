import { roles } from '../../contract/roles.ts'
import type { Actor } from '../api/audit-event.ts'
import type { ConfigDeps } from '../api/config-kind.ts'
import { systemClock } from '../lib/clock.ts'
import { providers } from '../providers/registry.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from './command.ts'
import { secretsOf, withStore } from './installed.ts'

/** The actor in the audit log for changes by a command. People who can run commands may do everything. */
export const commandLine: Actor = { person: { id: 0, username: 'command line', role: roles.root }, clientAddress: '' }

/**
 * Like `withStore`, for commands that read or write encrypted values. Throws if the secret key does not belong to the
 * database.
 */
export function withStoreAndKey<T>(
  terminal: Terminal,
  work: (deps: ConfigDeps & { store: Store }) => Promise<T>,
): Promise<T> {
  const key = terminal.readSecretKey()
  return withStore(terminal.readConfig(), async (store) => {
    const secrets = await secretsOf(store, key)
    return work({
      store,
      secrets,
      clock: systemClock,
      catalogue: () => providers.map(({ meta }) => ({ ...meta, models: [...meta.models] })),
    })
  })
}
