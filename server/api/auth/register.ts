import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, type Call, servePublic } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { hashPassword } from '../../lib/secrets/password.ts'
import { accountsByMail, lockIdentity } from '../../store/accounts/identities.ts'
import { usernameTaken } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { BotCheck } from '../bot-check.ts'
import type { ApiDeps } from '../deps.ts'
import { refuseOtherDomains } from '../mail-address.ts'
import { createAccount } from '../new-account.ts'
import type { OneTimeCodes } from '../one-time-codes.ts'

interface RegisterDeps extends Pick<ApiDeps, 'store' | 'settings' | 'clock'> {
  codes: OneTimeCodes
  botCheck: BotCheck
}

/** Lets people create their own accounts. The checks are in the same order as in one-api. */
export function mountRegister(router: ApiRouter, deps: RegisterDeps): void {
  const { settings, botCheck } = deps
  servePublic(
    router,
    api.auth.register,
    async (call) => {
      await botCheck(call.query.turnstile, call.clientAddress)
      await register(deps, call)
    },
    {
      before() {
        const now = settings.current()
        if (!now.RegisterEnabled) {
          throw new ApiFailure('Registration is closed.')
        }
        if (!now.PasswordRegisterEnabled) {
          throw new ApiFailure('Registration with a password is turned off. Use an external login instead.')
        }
      },
    },
  )
}

async function register(
  { store, settings, clock, codes }: RegisterDeps,
  { body, clientAddress }: Call<typeof api.auth.register>,
): Promise<void> {
  const now = settings.current()
  const { username } = body
  const verified = now.EmailVerificationEnabled ? verifiedAddress(body) : undefined
  if (verified) refuseOtherDomains(now, verified.email)
  // Hashing takes a tenth of a second. It is therefore skipped for a taken name, and done outside the transaction.
  if (await usernameTaken(store.read, username)) throw new ApiFailure('This username is already taken.')
  const password = await hashPassword(body.password)
  const isRegistered = await store.write(async (trx) => {
    if (verified && !(await codes.use(trx, 'verification', verified.email, verified.code))) return false
    if (verified) {
      await lockIdentity(trx, 'email', verified.email)
      if ((await accountsByMail(trx, verified.email)).length > 0) {
        throw new ApiFailure('This email address already belongs to an account.')
      }
    }
    const { id } = await createAccount(trx, now, {
      username,
      password,
      display_name: username,
      created_time: epochSeconds(clock),
      ...(verified && { email: verified.email }),
      ...(body.aff_code && { affCode: body.aff_code }),
    })
    const call = { person: { id, username }, clientAddress }
    await recordAudit(trx, auditEvent(clock, call, 'user.register', `user ${id}`))
    return true
  })
  // Thrown outside the transaction, so that the count of wrong attempts is committed.
  if (!isRegistered) throw new ApiFailure('The verification code is wrong or has expired.')
}

function verifiedAddress({ email, verification_code: code }: Call<typeof api.auth.register>['body']) {
  if (!email || !code) {
    throw new ApiFailure('Email verification is on. Enter an email address and its verification code.')
  }
  return { email, code }
}
