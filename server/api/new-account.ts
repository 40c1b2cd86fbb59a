import { maxQuota } from '../../contract/api/fields.ts'
import { logType } from '../../contract/log-types.ts'
import { ApiFailure } from '../http/api-failure.ts'
import { randomHex } from '../lib/secrets/ids.ts'
import type { Settings } from '../settings/settings.ts'
import { inviterOf } from '../store/accounts/identities.ts'
import { addUser, giveUserQuota, type NewUser, updateUser } from '../store/accounts/user-changes.ts'
import { takeUsername } from '../store/accounts/users.ts'
import { addAccountLog } from '../store/logs/logs.ts'
import type { Trx } from '../store/store.ts'
import { quotaText } from './quota-text.ts'

/**
 * A new account. People create it for themselves, directly or through an external login, or an admin creates it for
 * somebody.
 */
export interface NewAccount extends Pick<NewUser, 'password' | 'display_name' | 'created_time'> {
  /** The name, or a function that derives it from the account's id. */
  username: string | ((id: number) => Promise<string>)
  email?: string
  github_id?: string
  github_account_id?: string
  wechat_id?: string
  /** The inviter's code. An unknown code is ignored. */
  affCode?: string
}

/** Creates the account and adds the bonuses for new accounts, invited accounts and inviters, each with a log row. */
export async function createAccount(
  trx: Trx,
  settings: Settings,
  account: NewAccount,
): Promise<{ id: number; username: string }> {
  const { affCode = '', username: wanted, ...fields } = account
  if (typeof wanted === 'string' && !(await takeUsername(trx, wanted))) {
    throw new ApiFailure('This username is already taken.')
  }
  const inviter = affCode === '' ? undefined : await inviterOf(trx, affCode)
  const { QuotaForNewUser, QuotaForInvitee, QuotaForInviter } = settings
  const id = await addUser(trx, {
    ...fields,
    username: typeof wanted === 'string' ? wanted : `new_${randomHex(16)}`,
    quota: QuotaForNewUser,
    ...(inviter && { inviter_id: inviter.id }),
  })
  const username = typeof wanted === 'string' ? wanted : await wanted(id)
  if (username !== wanted) await updateUser(trx, id, { username })
  const person = { id, username }
  const note = (user: { id: number; username: string }, quota: number, what: string) =>
    addAccountLog(trx, {
      user_id: user.id,
      username: user.username,
      created_at: account.created_time,
      type: logType.system,
      content: `${what} ${quotaText(settings, quota)}`,
      quota,
    })
  if (QuotaForNewUser > 0) await note(person, QuotaForNewUser, 'New user bonus')
  if (!inviter) return person
  // If the maximum balance is exceeded, there is no bonus, but the registration still succeeds.
  if (QuotaForInvitee > 0 && (await giveUserQuota(trx, id, QuotaForInvitee, maxQuota))) {
    await note(person, QuotaForInvitee, 'Invite code bonus')
  }
  if (QuotaForInviter > 0 && (await giveUserQuota(trx, inviter.id, QuotaForInviter, maxQuota))) {
    await note(inviter, QuotaForInviter, 'Bonus for inviting a user')
  }
  return person
}
