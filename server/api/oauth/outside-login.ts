import { userStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { AppContext } from '../../http/app-env.ts'
import type { Sessions } from '../../http/session.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { randomHex } from '../../lib/secrets/ids.ts'
import { type Account, accountsByIdentity, type Identity } from '../../store/accounts/identities.ts'
import { lockUser, usernameTaken } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { createAccount, type NewAccount } from '../new-account.ts'

/** The dependencies of external logins. */
export interface OAuthDeps extends Pick<ApiDeps, 'store' | 'settings' | 'secrets' | 'clock' | 'mailer' | 'warn'> {
  sessions: Sessions
  announce: Announce
}

/** The account that is connected to this external identity. Throws ApiFailure if several imported accounts share it. */
export async function accountOf(trx: Trx, identity: Identity): Promise<Account | undefined> {
  const [account, second] = await accountsByIdentity(trx, identity)
  if (second) throw new ApiFailure('Several accounts are connected to this identity. Contact the administrator.')
  return account
}

/** Logs in to an account that an external service has identified. */
export async function logIn(
  { sessions, clock }: OAuthDeps,
  trx: Trx,
  context: AppContext,
  account: Account,
  service: string,
): Promise<void> {
  // Reads the current account and locks it until the session is created. A ban waits for this lock, and then ends the
  // new session, too.
  const now = await lockUser(trx, { id: account.id })
  if (now?.status !== userStatus.enabled) throw new ApiFailure('This account has been banned.')
  await sessions.start(context, trx, account.id)
  const call = { person: account, clientAddress: context.get('clientAddress') }
  await recordAudit(trx, auditEvent(clock, call, 'login', `user ${account.id}`, service))
}

/** Creates the account for a first login. Its name consists of the service's name and the account's id. */
export async function firstLogin(
  { settings, clock }: OAuthDeps,
  trx: Trx,
  context: AppContext,
  service: 'github' | 'wechat',
  account: Pick<NewAccount, 'display_name' | 'email' | 'github_id' | 'github_account_id' | 'wechat_id'>,
): Promise<Account> {
  const now = settings.current()
  if (!now.RegisterEnabled) throw new ApiFailure('Registration is closed.')
  const { id, username } = await createAccount(trx, now, {
    ...account,
    password: '',
    created_time: epochSeconds(clock),
    async username(id) {
      const plain = `${service}_${id}`
      return (await usernameTaken(trx, plain)) ? `${plain}_${randomHex(2)}` : plain
    },
  })
  const call = { person: { id, username }, clientAddress: context.get('clientAddress') }
  await recordAudit(trx, auditEvent(clock, call, 'user.register', `user ${id}`, service))
  return {
    id,
    username,
    display_name: account.display_name,
    role: 1,
    status: userStatus.enabled,
    group: 'default',
    email: account.email ?? '',
    github_id: account.github_id ?? '',
  }
}
