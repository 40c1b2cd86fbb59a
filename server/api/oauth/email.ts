import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { languageOf, type MailLanguage } from '../../mails/texts.ts'
import { accountsByMail, bindAccount, lockIdentity } from '../../store/accounts/identities.ts'
import { lockUser } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent, describeChange } from '../audit-event.ts'
import { refuseOtherDomains } from '../mail-address.ts'
import { createOneTimeCodes } from '../one-time-codes.ts'
import type { OAuthDeps } from './outside-login.ts'

/** Connects an email address to the caller's account, with a code that was sent to the address. */
export function mountEmail(router: ApiRouter, deps: OAuthDeps): void {
  const { store, settings, clock, mailer, announce } = deps
  const codes = createOneTimeCodes(deps)
  serve(router, api.oauth.emailBind, async (call) => {
    const { person } = call
    const { email, code } = call.query
    refuseOtherDomains(settings.current(), email)
    const before = await store.write(async (trx) => {
      if (!(await codes.use(trx, 'verification', email, code))) return undefined
      await lockIdentity(trx, 'email', email)
      await call.admitAgain(trx)
      const others = (await accountsByMail(trx, email)).filter(({ id }) => id !== person.id)
      if (others.length > 0) throw new ApiFailure('This email address already belongs to another account.')
      const me = await lockUser(trx, { id: person.id })
      if (!me) throw new ApiFailure('User not found.')
      await bindAccount(trx, person.id, { email })
      const detail = describeChange(me, { email }, ['email'])
      await recordAudit(trx, auditEvent(clock, call, 'user.bind-email', `user ${person.id}`, detail))
      return me
    })
    // Thrown outside the transaction, so that the count of wrong attempts is committed.
    if (!before) throw new ApiFailure('The verification code is wrong or has expired.')
    await announce({ topic: 'user', id: person.id })
    const isReplaced = before.email !== '' && before.email.toLowerCase() !== email.toLowerCase()
    if (!isReplaced || !mailer.ready()) return
    const wanted = call.context.req.header('accept-language')
    const language = languageOf(wanted, settings.current().MailLanguage as MailLanguage)
    // The old address is notified. Otherwise, somebody who has a session of the account could take it over unnoticed.
    mailer.later('telling the old address of an account', () =>
      mailer.send(before.email, language, ({ texts, name }) => texts.addressReplaced(name, before.username)),
    )
  })
}
