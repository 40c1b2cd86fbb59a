import { api } from '../../../contract/api/index.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { ApiFailure, tooManyRequests } from '../../http/api-failure.ts'
import { addressKey } from '../../http/client-address.ts'
import { createRateLimiter } from '../../http/rate-limit.ts'
import { type ApiRouter, servePublic } from '../../http/serve-endpoint.ts'
import { hashPassword, verifyPassword } from '../../lib/password.ts'
import { recordAudit } from '../../store/audit.ts'
import { updateUser } from '../../store/user-changes.ts'
import { lockLogin, userForLogin } from '../../store/users.ts'
import { auditEvent } from '../audit-event.ts'
import { createBotCheck } from '../bot-check.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { createOneTimeCodes } from '../one-time-codes.ts'
import { loginView } from '../user-view.ts'
import { mountMailCodes } from './mail-codes.ts'
import { mountRegister } from './register.ts'

/** Per account and address: whoever guesses is stopped, the owner at another address is not locked out. */
const loginFailureRule = { limit: 10, windowMs: 1_200_000 }

/** One text for every way to fail, so that it tells nothing about which accounts exist. */
const loginFailed = 'The username or password is wrong, or the account has been banned.'

/** Logging in and out, registering, and mails with codes. */
export function mountAuth(router: ApiRouter, deps: ApiDeps & { announce: Announce }): void {
  const shared = { ...deps, codes: createOneTimeCodes(deps), botCheck: createBotCheck(deps) }
  mountLogin(router, deps)
  mountRegister(router, shared)
  mountMailCodes(router, shared)
}

function mountLogin(
  router: ApiRouter,
  { store, settings, clock, rateRules }: Pick<ApiDeps, 'store' | 'settings' | 'clock' | 'rateRules'>,
): void {
  const failures = createRateLimiter(rateRules?.loginFailures ?? loginFailureRule, clock)

  servePublic(router, api.auth.login, async ({ body, clientAddress, context }) => {
    if (body.username === '' || body.password === '') throw new ApiFailure('The username and the password are needed.')
    // In the one form that the account is found by, or each way of writing its name would have a limit of its own.
    const key = `${addressKey(clientAddress)} ${body.username.normalize('NFKC').toLowerCase()}`
    const wait = failures.wait(key)
    if (wait > 0) throw tooManyRequests(wait)

    const user = await userForLogin(store.read, body.username)
    // Checked for unknown names too: it takes the same time, so that names cannot be told apart by it.
    const matches = await verifyPassword(body.password, user?.password ?? '')
    const byPassword = settings.current().PasswordLoginEnabled
    if (!user || !matches || user.status !== userStatus.enabled || (!byPassword && user.role < roles.root)) {
      failures.take(key)
      const actor = { id: 0, username: body.username }
      await store.write((trx) =>
        recordAudit(trx, auditEvent(clock, { person: actor, clientAddress }, 'login.fail', '')),
      )
      throw new ApiFailure(byPassword ? loginFailed : 'The administrator has turned off password login.')
    }
    failures.reset(key)
    // An imported bcrypt hash becomes ours at the first chance.
    const rehashed = user.password.startsWith('$argon2id$') ? undefined : await hashPassword(body.password)
    await store.write(async (trx) => {
      if (!(await lockLogin(trx, user.id, user.password))) throw new ApiFailure(loginFailed)
      if (rehashed !== undefined) await updateUser(trx, user.id, { password: rehashed })
      await router.sessions.start(context, trx, user.id)
      await recordAudit(trx, auditEvent(clock, { person: user, clientAddress }, 'login', `user ${user.id}`))
    })
    return loginView(user)
  })

  servePublic(router, api.auth.logout, async ({ context }) => {
    if (router.sessions.hasCookie(context)) await store.write((trx) => router.sessions.end(context, trx))
  })
}
