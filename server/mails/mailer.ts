import { isMailAddress } from '../../contract/api/fields.ts'
import { messageOf } from '../lib/message-of.ts'
import { type SmtpServer, sendMail } from '../outbound/smtp.ts'
import type { Settings } from '../settings/settings.ts'
import { renderMail } from './render-mail.ts'
import { type MailLanguage, type MailText, mailTexts } from './texts.ts'

type Texts = (typeof mailTexts)[MailLanguage]

/**
 * Everything needed to write an email: the texts of a language, the name of the installation, and the URLs of its
 * pages.
 */
export interface Pen {
  texts: Texts
  name: string
  /** The public URL of a page, given its path such as `/topup`. */
  page(path: string): string
}

/** Writes emails, and sends them through the mail server in the options. */
export interface Mailer {
  /** True if a mail server and a sender are set. */
  ready(): boolean
  /** Resolves when the mail server has accepted the email. Throws SmtpError. */
  send(to: string, language: MailLanguage, write: (pen: Pen) => MailText): Promise<void>
  /** Starts `work` without making the caller wait. A failure is reported as a warning. */
  later(what: string, work: () => Promise<void>): void
  /** Waits until all work started by `later` is done. */
  idle(): Promise<void>
}

export interface MailerDeps {
  settings: { current(): Settings }
  /** Public URL of this server, used while the option ServerAddress is empty. */
  localAddress: string
  warn(message: string): void
  /** Certificates in PEM format to trust in addition to the default ones. */
  ca?: string
}

export function createMailer({ settings, localAddress, warn, ca }: MailerDeps): Mailer {
  const running = new Set<Promise<void>>()
  return {
    ready() {
      const { SMTPServer, SMTPFrom, SMTPAccount } = settings.current()
      return SMTPServer !== '' && isMailAddress(SMTPFrom || SMTPAccount)
    },
    async send(to, language, write) {
      // The address of an imported account may be any text. Several addresses in one field do not count as a valid
      // address.
      if (!isMailAddress(to)) throw new Error('the address is not a valid email address')
      const now = settings.current()
      const address = now.ServerAddress || localAddress
      const name = now.SystemName.replaceAll(/\p{Cc}+/gu, ' ').trim() || 'Tollgate'
      const pen: Pen = { texts: mailTexts[language], name, page: (path) => `${address}${path}` }
      const mail = renderMail(write(pen), { language, name, address })
      await sendMail({ ...smtpServer(now, name), ...(ca !== undefined && { ca }) }, { to, ...mail })
    },
    later(what, work) {
      const task = work()
        .catch((error: unknown) => warn(`${what} failed: ${messageOf(error)}`))
        .finally(() => running.delete(task))
      running.add(task)
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** The mail server in the options, and the sender with the given name. */
export function smtpServer(settings: Settings, name: string): SmtpServer {
  return {
    host: settings.SMTPServer,
    port: settings.SMTPPort,
    security: settings.SMTPSecurity as SmtpServer['security'],
    account: settings.SMTPAccount,
    password: settings.SMTPToken,
    from: { name, address: settings.SMTPFrom || settings.SMTPAccount },
  }
}
