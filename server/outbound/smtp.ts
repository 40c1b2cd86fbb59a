import { messageOf } from '../lib/message-of.ts'
import { runningTimer } from '../lib/running-timer.ts'
import { leadsToMetadata } from './metadata-guard.ts'

/** The mail server and the sender. */
export interface SmtpServer {
  host: string
  port: number
  /** One of the values of the option SMTPSecurity. */
  security: 'auto' | 'tls' | 'starttls' | 'none'
  /** Empty = the server requires no login. */
  account: string
  password: string
  from: { name: string; address: string }
  /** Trusted certificate authorities in PEM format, which replace the default ones. */
  ca?: string
}

/** One email, to one address. */
export interface Message {
  to: string
  subject: string
  text: string
  html: string
}

/**
 * An email that was not accepted. `refused`: the server refuses its recipient, and another attempt would change
 * nothing. `put-off`: the server refuses its recipient for now. `failed`: at the moment, no email can be sent to
 * anyone.
 */
export class SmtpError extends Error {
  readonly kind: 'refused' | 'put-off' | 'failed'

  constructor(message: string, kind: SmtpError['kind'], cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** Time limits for each step of the conversation with the server, and for the whole conversation. */
const stepLimitMs = 5_000
const wholeLimitMs = 15_000

/**
 * Passes an email to the mail server. Certificates are always checked. The server's response becomes part of the error
 * message.
 */
export function sendMail(server: SmtpServer, message: Message): Promise<void> {
  const { from } = server
  return conversation(server, (transport) =>
    transport.sendMail({
      from,
      to: { name: '', address: message.to },
      // The addresses are passed separately, so that a display name cannot add a recipient.
      envelope: { from: from.address, to: [message.to] },
      subject: message.subject,
      text: message.text,
      html: message.html,
      headers: { 'Auto-Submitted': 'auto-generated' },
    }),
  )
}

/** Connects to the mail server and logs in, without sending anything. Throws SmtpError. */
export function checkMailServer(server: SmtpServer): Promise<void> {
  return conversation(server, (transport) => transport.verify())
}

async function conversation(
  server: SmtpServer,
  talk: (transport: import('nodemailer').Transporter) => Promise<unknown>,
): Promise<void> {
  // The module is loaded on demand, because it takes memory and most installations send no email.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    host: server.host,
    port: server.port,
    ...tlsMode(server),
    ...(server.account !== '' && { auth: { user: server.account, pass: server.password } }),
    ...(server.ca !== undefined && { tls: { ca: server.ca } }),
    dnsTimeout: stepLimitMs,
    connectionTimeout: stepLimitMs,
    greetingTimeout: stepLimitMs,
    socketTimeout: stepLimitMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const refuseMetadata = async () => {
    if (await leadsToMetadata(server.host)) throw new Error('SMTPServer is the metadata service of a cloud')
  }
  const { promise: late, reject } = Promise.withResolvers<never>()
  const endTimer = runningTimer(wholeLimitMs, () => reject(new Error('the mail server did not respond in time')))
  try {
    await Promise.race([refuseMetadata().then(() => talk(transport)), late])
  } catch (error) {
    throw new SmtpError(messageOf(error), kindOf(error), error)
  } finally {
    endTimer()
    transport.close()
  }
}

/**
 * The kind of an error. An error about a recipient concerns only one email. An error about the sender or the account
 * concerns all emails.
 */
function kindOf(error: unknown): SmtpError['kind'] {
  if (!(error instanceof Error && 'command' in error && error.command === 'RCPT TO')) return 'failed'
  return 'responseCode' in error && Number(error.responseCode) >= 500 ? 'refused' : 'put-off'
}

function tlsMode({ security, host, port }: SmtpServer): { secure: boolean; requireTLS?: true; ignoreTLS?: true } {
  const mode = security === 'auto' ? automatic(host, port) : security
  if (mode === 'tls') return { secure: true }
  return mode === 'starttls' ? { secure: false, requireTLS: true } : { secure: false, ignoreTLS: true }
}

/**
 * The security for the option value `auto`. A connection to the same machine does not cross a network, and a mail
 * server on it rarely has a certificate.
 */
function automatic(host: string, port: number): 'tls' | 'starttls' | 'none' {
  if (port === 465) return 'tls'
  return ['localhost', '127.0.0.1', '::1'].includes(host.toLowerCase()) ? 'none' : 'starttls'
}
