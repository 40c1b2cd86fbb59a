import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '../../../contract/api/index.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { ApiFailure, tooManyRequests } from '../../http/api-failure.ts'
import { addressKey } from '../../http/client-address.ts'
import { createRateLimiter } from '../../http/rate-limit.ts'
import { type ApiRouter, servePublic } from '../../http/serve-endpoint.ts'
import { hashPassword, verifyPassword } from '../../lib/secrets/password.ts'
import { updateUser } from '../../store/accounts/user-changes.ts'
import { lockLogin, userForLogin } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import { createBotCheck } from '../bot-check.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { createOneTimeCodes } from '../one-time-codes.ts'
import { loginView } from '../user-view.ts'
import { isKnownBrowser, markBrowser } from './known-browser.ts'
import { mountMailCodes } from './mail-codes.ts'
import { mountRegister } from './register.ts'

/**
 * The limit on failed logins per account and client address. It stops an attacker, but does not lock out the owner, who
 * has another address.
 */
const loginFailureRule = { limit: 10, windowMs: 1_200_000 }

/**
 * The limit on failed logins per account, from all addresses together. Beyond it, every response to an unknown browser
 * is delayed, which slows down an attacker who guesses from changing addresses. The owner also has to wait, but is
 * never refused.
 */
const accountFailureRule = { limit: 100, windowMs: 3_600_000 }
const guessPauseMs = 10_000

/** The text is the same for every kind of failure, so that it does not reveal which accounts exist. */
const loginFailed = 'The username or password is wrong, or the account has been banned.'

/** Logging in and out, registering, and emails with codes. */
export function mountAuth(router: ApiRouter, deps: ApiDeps & { announce: Announce }): void {
  const shared = { ...deps, codes: createOneTimeCodes(deps), botCheck: createBotCheck(deps) }
  mountLogin(router, deps)
  mountRegister(router, shared)
  mountMailCodes(router, shared)
}

function mountLogin(
  router: ApiRouter,
  {
    store,
    settings,
    secrets,
    clock,
    rateRules,
    pause = sleep,
  }: Pick<ApiDeps, 'store' | 'settings' | 'secrets' | 'clock' | 'rateRules' | 'pause'>,
): void {
  const failures = createRateLimiter(rateRules?.loginFailures ?? loginFailureRule, clock)
  const ofAccount = createRateLimiter(rateRules?.accountFailures ?? accountFailureRule, clock)

  servePublic(router, api.auth.login, async ({ body, clientAddress, context }) => {
    if (body.username === '' || body.password === '') throw new ApiFailure('Enter a username and a password.')
    // Normalised in the same way as for finding the account. Otherwise each spelling of a name would have a separate
    // limit.
    const name = body.username.normalize('NFKC').toLowerCase()
    const key = `${addressKey(clientAddress)} ${name}`
    const wait = failures.wait(key)
    if (wait > 0) throw tooManyRequests(wait)

    const user = await userForLogin(store.read, body.username)
    // A password is also checked for unknown names, so that timing does not reveal which names exist.
    const matches = await verifyPassword(body.password, user?.password ?? '')
    const byPassword = settings.current().PasswordLoginEnabled
    const isKnown = user !== undefined && isKnownBrowser(context, secrets, user)
    // A login with a correct password waits as long as one with a wrong password, so that the wait reveals nothing.
    if (!isKnown && ofAccount.wait(name) > 0) await pause(guessPauseMs)
    if (!user || !matches || user.status !== userStatus.enabled || (!byPassword && user.role < roles.root)) {
      failures.take(key)
      if (!isKnown) ofAccount.take(name)
      const actor = { id: 0, username: body.username }
      await store.write((trx) =>
        recordAudit(trx, auditEvent(clock, { person: actor, clientAddress }, 'login.fail', '')),
      )
      throw new ApiFailure(byPassword ? loginFailed : 'Password login is turned off.')
    }
    failures.reset(key)
    // An imported bcrypt hash is replaced at the first opportunity.
    const rehashed = user.password.startsWith('$argon2id$') ? undefined : await hashPassword(body.password)
    await store.write(async (trx) => {
      if (!(await lockLogin(trx, user.id, user.password))) throw new ApiFailure(loginFailed)
      if (rehashed !== undefined) await updateUser(trx, user.id, { password: rehashed })
      await router.sessions.start(context, trx, user.id)
      await recordAudit(trx, auditEvent(clock, { person: user, clientAddress }, 'login', `user ${user.id}`))
    })
    markBrowser(context, secrets, { id: user.id, password: rehashed ?? user.password })
    return loginView(user)
  })

  servePublic(router, api.auth.logout, async ({ context }) => {
    if (router.sessions.hasCookie(context)) await store.write((trx) => router.sessions.end(context, trx))
  })
}
