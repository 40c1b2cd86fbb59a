import type { AuditAction } from '../../contract/audit-actions.ts'
import { epochSeconds, systemClock } from '../lib/clock.ts'
import { randomBase62 } from '../lib/secrets/ids.ts'
import { hashPassword } from '../lib/secrets/password.ts'
import { revokeLogins, updateUser } from '../store/accounts/user-changes.ts'
import { lockUser } from '../store/accounts/users.ts'
import { recordAudit } from '../store/installation/audit.ts'
import type { Store } from '../store/store.ts'

/**
 * Gives a user a new random password and ends all sessions of that user. This is the way back in after losing root's
 * password.
 */
export async function resetPassword(store: Store, username: string, print: (line: string) => void): Promise<number> {
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
  print(isKnown ? `The new password of ${username} is "${password}".` : `There is no user ${username}.`)
  return isKnown ? 0 : 1
}
