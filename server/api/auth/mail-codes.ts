import { randomInt } from 'node:crypto'
import { api } from '../../../contract/api/index.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { AppContext } from '../../http/app-env.ts'
import { type ApiRouter, type Call, servePublic } from '../../http/serve-endpoint.ts'
import { messageOf } from '../../lib/message-of.ts'
import { randomBase62 } from '../../lib/secrets/ids.ts'
import { hashPassword } from '../../lib/secrets/password.ts'
import { languageOf, type MailLanguage } from '../../mails/texts.ts'
import { type Account, accountsByMail } from '../../store/accounts/identities.ts'
import { revokeLogins, updateUser } from '../../store/accounts/user-changes.ts'
import { lockUser } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Db } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import type { BotCheck } from '../bot-check.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { refuseOtherDomains } from '../mail-address.ts'
import { codeMinutes, countMail, type OneTimeCodes } from '../one-time-codes.ts'

interface MailCodeDeps extends Pick<ApiDeps, 'store' | 'settings' | 'clock' | 'mailer' | 'warn'> {
  codes: OneTimeCodes
  botCheck: BotCheck
  announce: Announce
}

/** Emails with codes, and the password reset with such a code. The responses do not reveal who has an account. */
export function mountMailCodes(router: ApiRouter, deps: MailCodeDeps): void {
  const { settings, botCheck } = deps

  servePublic(router, api.auth.verification, async ({ query, clientAddress, context }) => {
    refuseOtherDomains(settings.current(), query.email)
    await botCheck(query.turnstile, clientAddress)
    await sendVerification(deps, query.email, languageFor(deps, context))
  })

  servePublic(router, api.auth.askReset, async ({ query, clientAddress, context }) => {
    await botCheck(query.turnstile, clientAddress)
    refuseWithoutMailServer(deps)
    await countMail(deps, query.email)
    const language = languageFor(deps, context)
    // The response does not wait for the email. Otherwise its timing would reveal whether an account has this address.
    deps.mailer.later('sending a reset mail', () => sendReset(deps, query.email, language))
  })

  servePublic(router, api.auth.reset, (call) => resetPassword(deps, call))
}

function languageFor({ settings }: MailCodeDeps, context: AppContext): MailLanguage {
  return languageOf(context.req.header('accept-language'), settings.current().MailLanguage as MailLanguage)
}

function refuseWithoutMailServer({ mailer }: MailCodeDeps): void {
  if (!mailer.ready()) throw new ApiFailure('The administrator has not set up a mail server.')
}

async function sendVerification(deps: MailCodeDeps, email: string, language: MailLanguage): Promise<void> {
  const { store, codes, mailer, warn } = deps
  refuseWithoutMailServer(deps)
  await countMail(deps, email)
  const isTaken = (await accountsByMail(store.read, email)).length > 0
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  // A code is saved even if the address is taken. In that case, the owner gets an email that says so, instead of the
  // code. The response is the same.
  await store.write((trx) => codes.save(trx, 'verification', email, code))
  try {
    await mailer.send(email, language, ({ texts, name, page }) =>
      isTaken ? texts.addressInUse(name, page('/reset')) : texts.verification(name, code, codeMinutes),
    )
  } catch (error) {
    warn(`a verification email could not be sent: ${messageOf(error)}`)
    throw new ApiFailure('The email could not be sent. Try again later.')
  }
}

/**
 * A reset code belongs to an account, not to an address, so that it resets only one of several accounts that share an
 * address.
 */
const resetSubject = ({ id }: { id: number }) => `user ${id}`

async function sendReset(deps: MailCodeDeps, typed: string, language: MailLanguage): Promise<void> {
  const { store, codes, mailer } = deps
  for (const account of await accountsByMail(store.read, typed)) {
    if (account.status !== userStatus.enabled) continue
    const token = randomBase62(32)
    await store.write((trx) => codes.save(trx, 'reset', resetSubject(account), token))
    // The email goes to the stored address, because the typed address may differ from it even if the database treats
    // both as equal.
    const query = `email=${encodeURIComponent(account.email)}&token=${token}`
    await mailer.send(account.email, language, ({ texts, name, page }) =>
      texts.reset(name, account.username, page(`/user/reset?${query}`), codeMinutes),
    )
  }
}

async function resetPassword(deps: MailCodeDeps, call: Call<typeof api.auth.reset>): Promise<string> {
  const { store, clock, codes, announce } = deps
  const { email, token } = call.body
  const password = randomBase62(12)
  // The password is hashed before the link is used up, because hashing fails if there is no capacity. For an invalid
  // link, nothing is hashed.
  const known = await accountOfToken(store.read, email, (subject) => codes.fits(store.read, 'reset', subject, token))
  const hash = known ? await hashPassword(password) : ''
  const id = await store.write(async (trx) => {
    const account = await accountOfToken(trx, email, (subject) => codes.use(trx, 'reset', subject, token))
    const user = account && (await lockUser(trx, { id: account.id }))
    if (!user || hash === '') return undefined
    await updateUser(trx, user.id, { password: hash })
    await revokeLogins(trx, user.id)
    const event = { person: user, clientAddress: call.clientAddress }
    await recordAudit(trx, auditEvent(clock, event, 'user.reset-password', `user ${user.id}`))
    return user.id
  })
  // Thrown outside the transaction, so that the count of wrong attempts is committed.
  if (id === undefined) throw new ApiFailure('This link is invalid or has expired. Request a new one.')
  await announce({ topic: 'user', id })
  return password
}

/**
 * The account for which `isToken` accepts the token. If several accounts share the address, each has a token of its
 * own.
 */
async function accountOfToken(
  db: Db,
  email: string,
  isToken: (subject: string) => Promise<boolean>,
): Promise<Account | undefined> {
  for (const account of await accountsByMail(db, email)) {
    if (account.status !== userStatus.enabled) continue
    if (await isToken(resetSubject(account))) return account
  }
  return undefined
}
