import type { Settings } from '../settings/settings.ts'
import { rootsWithMail } from '../store/accounts/identities.ts'
import type { Store } from '../store/store.ts'
import type { Mailer } from './mailer.ts'
import type { MailLanguage } from './texts.ts'

/**
 * Creates the function that emails a notice to every super admin with an email address. The function does nothing if
 * there is no mail server.
 */
export function createMailRoot({
  store,
  settings,
  mailer,
}: {
  store: Store
  settings: { current(): Settings }
  mailer: Mailer
}): (subject: string, text: string) => Promise<void> {
  return async (subject, text) => {
    if (!mailer.ready()) return
    const language = settings.current().MailLanguage as MailLanguage
    const roots = await rootsWithMail(store.read)
    // Each email is sent separately, so that one address that rejects email does not prevent the others.
    const sent = await Promise.allSettled(
      roots.map(({ email }) => mailer.send(email, language, ({ texts, name }) => texts.notice(name, subject, text))),
    )
    const failed = sent.find((each) => each.status === 'rejected')
    if (failed) throw failed.reason
  }
}
