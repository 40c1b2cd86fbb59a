import { SMTPServer } from 'smtp-server'
import type { TestApi } from './api-app.ts'
import { selfSignedCertificate } from './fake-upstream/certificate.ts'

/** What test mail servers show; the mailer of the test API believes it. */
export const mailCertificate = selfSignedCertificate()

/** A mail as it arrived. */
export interface ReceivedMail {
  from: string
  to: string[]
  /** Lower-case names. */
  headers: Record<string, string>
  text: string
  html: string
  /** The connection it came over was TLS. */
  secure: boolean
  user: string
}

export interface MailServer extends AsyncDisposable {
  port: number
  mails: ReceivedMail[]
  /** Waits until so many mails have arrived in all. */
  arrived(count: number): Promise<ReceivedMail[]>
}

interface MailServerOptions {
  /** How the server speaks: TLS from the start, STARTTLS offered, or neither. */
  tls?: 'implicit' | 'starttls' | 'none'
  /** Refuses recipients with this answer. */
  refuse?: { code: number; text: string }
}

/** A real mail server that knows the account `mailer` with the password `mail secret`. */
export async function startMailServer({ tls = 'none', refuse }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  let waiting: (() => void)[] = []
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
    onRcptTo(_address, _session, done) {
      done(refuse ? Object.assign(new Error(refuse.text), { responseCode: refuse.code }) : null)
    },
    onData(stream, session, done) {
      let raw = ''
      stream.on('data', (chunk: Buffer) => {
        raw += chunk.toString('latin1')
      })
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          ...parseMail(raw),
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

/** Options that make the test API send through this server. */
export async function useMailServer(api: TestApi, server: Pick<MailServer, 'port'>, security = 'auto'): Promise<void> {
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

/** Sets options as they stand in the table. */
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

function parseMail(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const { headers, body } = splitPart(raw)
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '')?.[1]
  const parts = boundary === undefined ? [raw] : body.split(`--${boundary}`).slice(1, -1)
  const decoded = parts.map((part) => {
    const inner = splitPart(part.replace(/^\r\n/, ''))
    return { type: inner.headers['content-type'] ?? '', text: decodeBody(inner) }
  })
  const find = (type: string) => decoded.find((part) => part.type.startsWith(type))?.text ?? ''
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, decodeWords(value)])),
    text: find('text/plain').trimEnd(),
    html: find('text/html').trimEnd(),
  }
}

function splitPart(raw: string): { headers: Record<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  return { headers: Object.fromEntries(headers), body: raw.slice(end + 4) }
}

function decodeBody({ headers, body }: { headers: Record<string, string>; body: string }): string {
  const encoding = headers['content-transfer-encoding']?.toLowerCase()
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  const bytes = encoding === 'quoted-printable' ? decodeQuoted(body) : body
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
}

function decodeQuoted(text: string): string {
  return text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Encoded words of a header (RFC 2047). */
function decodeWords(value: string): string {
  return value
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('utf8')
        : Buffer.from(decodeQuoted(text.replaceAll('_', ' ')), 'latin1').toString('utf8'),
    )
}
