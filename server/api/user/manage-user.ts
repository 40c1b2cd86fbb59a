import type { api } from '../../../contract/api/index.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import { endSessionsOf } from '../../store/accounts/sessions.ts'
import { deleteUser, updateUser } from '../../store/accounts/user-changes.ts'
import { idOfUsername, lockUser, type UserRow } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

/** The dependencies of account changes. */
export type UserDeps = Pick<ApiDeps, 'store' | 'settings' | 'clock' | 'captures' | 'leases'>

/** Refuses actions on accounts whose role is not lower than the person's own. Root may act on every account. */
export function refuseUnlessAbove(person: { role: number }, target: { role: number }): void {
  if (person.role <= target.role && person.role < roles.root) {
    throw new ApiFailure('You cannot manage an account with the same role as yours or a higher one.')
  }
}

/** Performs one of the actions of the user list and returns the account's new status and role. */
export async function manageUser(
  { store, clock }: UserDeps,
  call: PersonCall<typeof api.user.manage>,
): Promise<{ id: number; status: number; role: number }> {
  const { username, action } = call.body
  return store.write(async (trx) => {
    const id = await idOfUsername(trx, username)
    const person = await call.admitAgain(trx, id)
    const target = id === undefined ? undefined : await lockUser(trx, { id })
    // The account may have been renamed between the lookup and the lock.
    if (target?.username !== username) throw new ApiFailure('User not found.')
    refuseUnlessAbove(person, target)
    const changed = outcome(person, target, action)
    if (action === 'delete') await deleteUser(trx, target.id)
    else await updateUser(trx, target.id, changed)
    if (action === 'disable' || action === 'demote') await endSessionsOf(trx, target.id)
    await recordAudit(trx, auditEvent(clock, call, `user.${action}`, `user ${target.id}`, username))
    return { id: target.id, ...changed }
  })
}

function outcome(
  person: { role: number },
  { role, status }: UserRow,
  action: PersonCall<typeof api.user.manage>['body']['action'],
): { role: number; status: number } {
  const isRoot = role >= roles.root
  switch (action) {
    case 'disable':
      if (isRoot) throw new ApiFailure('A super admin cannot be banned.')
      return { role, status: userStatus.disabled }
    case 'enable':
      return { role, status: userStatus.enabled }
    case 'delete':
      if (isRoot) throw new ApiFailure('A super admin cannot be deleted.')
      return { role, status: userStatus.deleted }
    case 'promote':
      if (person.role < roles.root) throw new ApiFailure('Only a super admin can promote users to admin.')
      if (role >= roles.admin) throw new ApiFailure('This user is already an admin.')
      return { role: roles.admin, status }
    case 'demote':
      if (isRoot) throw new ApiFailure('A super admin cannot be demoted.')
      if (role <= roles.user) throw new ApiFailure('This user is not an admin.')
      return { role: roles.user, status }
  }
}
