import { buffer } from 'node:stream/consumers'
import PostalMime, { decodeWords } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import type { TestApi } from './api-app.ts'
import { selfSignedCertificate } from './fake-upstream/certificate.ts'

/** The certificate of the test mail servers, which the mailer of the test API trusts. */
export const mailCertificate = selfSignedCertificate()

/** An email as it arrived. */
export interface ReceivedMail {
  from: string
  to: string[]
  /** The headers, with lower-case names. */
  headers: Record<string, string>
  /** The two versions of the body. Empty if the email does not contain that version. */
  text: string
  html: string
  /** The whole email as it was received. */
  raw: string
  /** True if the email arrived over a TLS connection. */
  secure: boolean
  user: string
}

export interface MailServer extends AsyncDisposable {
  port: number
  mails: ReceivedMail[]
  /** Waits until this many emails have arrived in total. */
  arrived(count: number): Promise<ReceivedMail[]>
}

interface MailServerOptions {
  /** `implicit` uses TLS from the start, `starttls` offers STARTTLS, and `none` uses no TLS. */
  tls?: 'implicit' | 'starttls' | 'none'
  /**
   * The response with which the server refuses emails. It refuses the given `recipient`, the sender if `sender` is
   * true, or otherwise all recipients.
   */
  refuse?: { code: number; text: string; recipient?: string; sender?: true }
}

/** Starts a real mail server with the account `mailer` and the password `mail secret`. */
export async function startMailServer({ tls = 'none', refuse }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  let waiting: (() => void)[] = []
  const refusal = () => Object.assign(new Error(refuse?.text), { responseCode: refuse?.code })
  const server = new SMTPServer({
    secure: tls === 'implicit',
    disabledCommands: tls === 'none' ? ['STARTTLS'] : [],
    allowInsecureAuth: tls === 'none',
    authOptional: true,
    key: mailCertificate.key,
    cert: mailCertificate.certificate,
    onAuth({ username, password }, _session, done) {
      if (username === 'mailer' && password === 'mail secret') done(null, { user: username })
      else done(new Error('wrong account or password'))
    },
    onMailFrom: (_address, _session, done) => done(refuse?.sender ? refusal() : null),
    onRcptTo({ address }, _session, done) {
      const isMeant = refuse && !refuse.sender && (refuse.recipient ?? address) === address
      done(isMeant ? refusal() : null)
    },
    onData(stream, session, done) {
      void buffer(stream).then(async (raw) => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          ...(await parseMail(raw)),
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: session.user ?? '',
        })
        done()
        for (const wake of waiting) wake()
        waiting = []
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mails,
    async arrived(count) {
      while (mails.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
      return mails
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** Sets options that make the test API send its emails through this server. */
export async function mailThrough(api: TestApi, server: Pick<MailServer, 'port'>, security = 'auto'): Promise<void> {
  await setOptions(api, {
    SMTPServer: '127.0.0.1',
    SMTPPort: String(server.port),
    SMTPSecurity: security,
    SMTPAccount: 'mailer',
    SMTPToken: 'mail secret',
    SMTPFrom: 'gate@example.com',
    ServerAddress: 'https://gate.example',
  })
}

/** Turns on the pages that an installation can show to everybody. While they are off, their calls get a 404. */
export const openPublicPages = (api: TestApi) =>
  setOptions(api, { StatusPageEnabled: 'true', PublicModelsEnabled: 'true' })

/** Writes options directly to the table. */
export async function setOptions(api: TestApi, options: Readonly<Record<string, string>>): Promise<void> {
  await api.store.write(async (trx) => {
    for (const [key, value] of Object.entries(options)) {
      await trx
        .insertInto('options')
        .values({ key, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute()
    }
  })
  await api.settings.reload()
}

async function parseMail(raw: Buffer): Promise<Pick<ReceivedMail, 'headers' | 'text' | 'html' | 'raw'>> {
  const { headers, text = '', html = '' } = await PostalMime.parse(raw)
  return {
    headers: Object.fromEntries(headers.map(({ key, value }) => [key, decodeWords(value)])),
    text: text.trimEnd(),
    html: html.trimEnd(),
    raw: raw.toString('latin1'),
  }
}
