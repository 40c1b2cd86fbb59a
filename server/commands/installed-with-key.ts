import { roles } from '../../contract/roles.ts'
import type { Actor } from '../api/audit-event.ts'
import type { ConfigDeps } from '../api/config-kind.ts'
import { systemClock } from '../lib/clock.ts'
import { createSecrets } from '../lib/secrets/secrets.ts'
import { providers } from '../providers/registry.ts'
import { secretCheck } from '../store/installation/installation.ts'
import type { Store } from '../store/store.ts'
import { CommandFailed, type Terminal } from './command.ts'
import { withStore } from './installed.ts'

/** The actor in the audit log for what a command changes. People who can run commands may do everything. */
export const commandLine: Actor = { person: { id: 0, username: 'command line', role: roles.root }, clientAddress: '' }

/**
 * Like `withStore`, for commands that read or write encrypted values. Throws if the secret key is not that of the
 * database.
 */
export function withStoreAndKey<T>(
  terminal: Terminal,
  work: (deps: ConfigDeps & { store: Store }) => Promise<T>,
): Promise<T> {
  const secrets = createSecrets(terminal.readSecretKey())
  return withStore(terminal.readConfig(), async (store) => {
    const check = await secretCheck(store.read)
    if (check !== undefined && check !== secrets.fingerprint('check', 'check'))
      throw new CommandFailed('The secret key is not the one that this database was encrypted with.')
    return work({
      store,
      secrets,
      clock: systemClock,
      catalogue: () => providers.map(({ meta }) => ({ ...meta, models: [...meta.models] })),
    })
  })
}
