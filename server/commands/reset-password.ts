import type { AuditAction } from '../../contract/audit-actions.ts'
import { epochSeconds, systemClock } from '../lib/clock.ts'
import { randomBase62 } from '../lib/secrets/ids.ts'
import { hashPassword } from '../lib/secrets/password.ts'
import { revokeLogins, updateUser } from '../store/accounts/user-changes.ts'
import { lockUser } from '../store/accounts/users.ts'
import { recordAudit } from '../store/installation/audit.ts'
import type { Store } from '../store/store.ts'
import { type AddCommand, CommandFailed, examples } from './command.ts'
import { withStore } from './installed.ts'

/**
 * Gives a user a new random password and ends all of the user's sessions. Operators who have lost root's password use
 * this to log in again. Returns the password, or undefined if there is no such user.
 */
async function resetPassword(store: Store, username: string): Promise<string | undefined> {
  const password = randomBase62(20)
  const hash = await hashPassword(password)
  const isKnown = await store.write(async (trx) => {
    const user = await lockUser(trx, { username })
    if (!user) return false
    await updateUser(trx, user.id, { password: hash })
    await revokeLogins(trx, user.id)
    await recordAudit(trx, {
      created_at: epochSeconds(systemClock),
      actor_id: 0,
      actor_name: 'command line',
      action: 'user.reset-password' satisfies AuditAction,
      target: `user ${user.id}`,
      detail: '',
      ip: '',
    })
    return true
  })
  return isKnown ? password : undefined
}

export const addResetPassword: AddCommand = (program, terminal) => {
  program
    .command('reset-password')
    .summary('set a new password for a person and print it')
    .description('Sets a new random password, prints it, and ends all sessions of that person.')
    .argument('[username]', 'whose password is set', 'root')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      examples(['reset-password', 'a new password for root'], ['reset-password alice', 'a new password for alice']),
    )
    .action(async (username: string, { json }: { json?: true }) => {
      const password = await withStore(terminal.readConfig(), (store) => resetPassword(store, username))
      if (password === undefined) throw new CommandFailed(`There is no user ${username}.`)
      terminal.print(
        json ? JSON.stringify({ username, password }) : `The new password of ${username} is "${password}".`,
      )
    })
}
