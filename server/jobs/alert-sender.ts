import * as z from 'zod/mini'
import type { AlertLanguage } from '../../contract/alert-text.ts'
import type { Clock } from '../lib/clock.ts'
import { tryParse } from '../lib/json.ts'
import { messageOf } from '../lib/message-of.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { Mailer } from '../mails/mailer.ts'
import { type AlertAddress, type AlertMessage, alertRequest, refusalOf } from '../outbound/alert-services.ts'
import type { PostMessage } from '../outbound/post-message.ts'
import { SmtpError } from '../outbound/smtp.ts'
import type { Settings } from '../settings/settings.ts'
import { type AlertDestinationRow, installationOwner } from '../store/accounts/alert-destinations.ts'
import { addressOf } from '../store/accounts/alert-facts.ts'
import type { Store } from '../store/store.ts'

export interface AlertSenderDeps {
  store: Store
  settings: { current(): Settings }
  mailer: Mailer
  secrets: Secrets
  clock: Clock
  post: PostMessage
}

/** The result of one attempt to send a message. `error` is empty if the message was accepted. */
export interface SendResult {
  error: string
  /** True if another attempt cannot help. */
  final: boolean
}

/** Sends one message to one destination. */
export type AlertSender = (
  destination: Pick<AlertDestinationRow, 'owner_id' | 'kind' | 'address'>,
  message: AlertMessage,
  language: AlertLanguage,
) => Promise<SendResult>

const sent: SendResult = { error: '', final: true }
/** The context with which `Secrets.seal` encrypts the addresses of destinations. */
export const addressContext = 'alert-destination'

const addressSchema = z.object({ url: z.string(), token: z.string(), secret: z.string(), to: z.string() })

/** Encrypts an address for storage. */
export function sealAddress(secrets: Secrets, address: AlertAddress): string {
  return secrets.seal(JSON.stringify(address), addressContext)
}

export function openAddress(secrets: Secrets, sealed: string): AlertAddress {
  return z.parse(addressSchema, tryParse(secrets.open(sealed, addressContext)))
}

export function createAlertSender(deps: AlertSenderDeps): AlertSender {
  const { secrets, clock, post } = deps
  return async (destination, message, language) => {
    try {
      const address = openAddress(secrets, destination.address)
      const isOperators = destination.owner_id === installationOwner
      if (destination.kind === 'mail') {
        // Users can send emails only to themselves.
        const to = isOperators ? address.to : await addressOf(deps.store.read, destination.owner_id)
        return await mail(deps, to, message, language)
      }
      const request = alertRequest(destination.kind, address, message, clock.nowMs())
      const answer = await post(request, isOperators ? 'operator' : 'user')
      return refusalOf(destination.kind, answer) ?? sent
    } catch (error) {
      return { error: messageOf(error), final: false }
    }
  }
}

async function mail(
  { mailer }: Pick<AlertSenderDeps, 'mailer'>,
  to: string,
  { title, text }: AlertMessage,
  language: AlertLanguage,
): Promise<SendResult> {
  if (!mailer.ready()) return { error: 'No mail server is set up.', final: false }
  if (to === '') return { error: 'The account has no email address.', final: true }
  try {
    await mailer.send(to, language, ({ texts, name }) => texts.notice(name, title, text))
    return sent
  } catch (error) {
    const reason = messageOf(error)
    return { error: reason, final: error instanceof SmtpError && error.kind === 'refused' }
  }
}
