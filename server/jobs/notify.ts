import { messageOf } from '../lib/message-of.ts'
import { postWebhook } from '../outbound/webhook.ts'
import type { Settings } from '../settings/settings.ts'

/** Notifies root of an event. Returns immediately, because the caller must not wait for a mail server. */
export type NotifyRoot = (subject: string, text: string) => void

export interface NotifyDeps {
  settings(): Settings
  /** Sends an email to root. Absent, or without effect, if email is not set up. */
  mailRoot?: (subject: string, text: string) => Promise<void>
  warn(message: string): void
}

interface Way {
  name: string
  send(subject: string, text: string): Promise<void>
}

/**
 * Sends a notification through every configured service: email, webhook and Message Pusher. The failure of one service
 * is logged, and does not affect the others.
 */
export function createNotifyRoot({ settings, mailRoot, warn }: NotifyDeps): NotifyRoot {
  return (subject, text) => {
    for (const way of waysOf(settings(), mailRoot)) {
      way
        .send(subject, text)
        .catch((error: unknown) => warn(`a notice could not be sent through ${way.name}: ${messageOf(error)}`))
    }
  }
}

function waysOf(settings: Settings, mailRoot: NotifyDeps['mailRoot']): Way[] {
  const { NotifyWebhookURL, MessagePusherAddress, MessagePusherToken, SystemName } = settings
  const ways: Way[] = []
  if (mailRoot) ways.push({ name: 'mail', send: mailRoot })
  if (NotifyWebhookURL !== '') {
    ways.push({
      name: 'webhook',
      // Chat services read different fields: Slack `text`, Discord `content`.
      send: (subject, text) => {
        const whole = `${SystemName}: ${subject}\n${text}`
        return postWebhook(NotifyWebhookURL, { title: subject, text: whole, content: whole })
      },
    })
  }
  if (MessagePusherAddress !== '') {
    ways.push({
      name: 'Message Pusher',
      send: (subject, text) =>
        postWebhook(MessagePusherAddress, {
          title: subject,
          description: subject,
          content: text,
          token: MessagePusherToken,
        }),
    })
  }
  return ways
}
