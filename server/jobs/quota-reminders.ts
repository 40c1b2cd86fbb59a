import { quotaToCurrency } from '../../contract/quota.ts'
import { messageOf } from '../lib/message-of.ts'
import type { Mailer } from '../mails/mailer.ts'
import type { MailLanguage } from '../mails/texts.ts'
import { SmtpError } from '../outbound/smtp.ts'
import type { Settings } from '../settings/settings.ts'
import { armQuota, type Crossing, lastUserId, quotaCrossings } from '../store/accounts/reminders.ts'
import type { Store } from '../store/store.ts'

export interface ReminderDeps {
  store: Store
  settings: { current(): Settings }
  mailer: Mailer
  warn(message: string): void
}

/** The number of user ids per query. It is small enough that calls are not slowed down. */
const stretch = 5_000

/**
 * Emails users whose balance has fallen below QuotaRemindThreshold, once each time it falls. An account is armed when a
 * check finds its balance at or above the threshold. When the balance is lower, the account is disarmed by a single
 * statement, and the node that changed the row sends the email. Balances are checked periodically and not in calls, so
 * that calls are not slowed down.
 */
export async function remindOfQuota(deps: ReminderDeps): Promise<void> {
  const { store, settings, mailer } = deps
  const threshold = settings.current().QuotaRemindThreshold
  if (threshold === 0 || !mailer.ready()) return
  const last = await lastUserId(store.read)
  for (let after = 0; after < last; after += stretch) {
    const { risen, fallen } = await quotaCrossings(store.read, { after, upTo: after + stretch }, threshold)
    if (risen.length > 0) await store.write((trx) => armQuota(trx, risen, true))
    for (const crossing of fallen) {
      if (!(await remind(deps, crossing))) return
    }
  }
}

/**
 * Sends one reminder. Returns false if no emails can be sent at the moment, for example because the mail server is
 * unreachable. The account then stays armed, and the next run tries again.
 */
async function remind({ store, settings, mailer, warn }: ReminderDeps, crossing: Crossing): Promise<boolean> {
  const { id, username, email, quota } = crossing
  const mine = await store.write((trx) => armQuota(trx, [id], false))
  if (mine.length === 0 || email === '') return true
  const now = settings.current()
  try {
    await mailer.send(email, now.MailLanguage as MailLanguage, ({ texts, name, page }) =>
      quota > 0
        ? texts.quotaLow(name, username, amount(now, quota), page('/topup'))
        : texts.quotaUsedUp(name, username, page('/topup')),
    )
    return true
  } catch (error) {
    warn(`the quota reminder of user ${id} could not be sent: ${messageOf(error)}`)
    if (!(error instanceof SmtpError) || error.kind === 'refused') return true
    await store.write((trx) => armQuota(trx, [id], true))
    return error.kind === 'put-off'
  }
}

function amount(settings: Settings, quota: number): string {
  return settings.DisplayInCurrencyEnabled ? quotaToCurrency(quota, settings.QuotaPerUnit) : String(quota)
}
