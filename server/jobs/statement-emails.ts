import { quotaToCurrency } from '../../contract/quota.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { messageOf } from '../lib/message-of.ts'
import { utcPeriods } from '../lib/utc.ts'
import type { Mailer } from '../mails/mailer.ts'
import type { MailLanguage } from '../mails/texts.ts'
import { SmtpError } from '../outbound/smtp.ts'
import type { Settings } from '../settings/settings.ts'
import {
  claimStatement,
  endStatement,
  type StatementReader,
  statementReaders,
} from '../store/accounts/statement-emails.ts'
import { advanceRun, beginRun, finishRun, statementRun } from '../store/installation/job-runs.ts'
import type { Store } from '../store/store.ts'
import { statementFigures } from '../store/usage/statement.ts'
import { statementBalances } from '../store/usage/statement-balances.ts'

export interface StatementEmailDeps {
  store: Store
  settings: { current(): Settings }
  mailer: Mailer
  clock: Clock
  warn(message: string): void
}

/** Statements are sent during the first days of a month, so that an outage of a day or two does no harm. */
const sendingDays = 5
const daySeconds = 86_400
/** The number of recipients that are looked up at a time. */
const batch = 200
/**
 * The number of decimals with which amounts are shown. With six decimals no amount is rounded, so the lines visibly add
 * up.
 */
const decimals = 6

/**
 * Emails users their statements of the last month. Only one node sends at a time, and each email is reserved before it
 * is sent, so that nobody gets two. If the process dies between the reservation and the sending, the user gets no
 * email.
 */
export async function sendStatements(deps: StatementEmailDeps): Promise<void> {
  const { store, settings, mailer, clock } = deps
  const now = epochSeconds(clock)
  const to = utcPeriods(now).monthStart
  if (!settings.current().StatementEmailEnabled || !mailer.ready() || now >= to + sendingDays * daySeconds) return
  const from = utcPeriods(to - 1).monthStart
  const month = new Date(from * 1000).toISOString().slice(0, 7)
  if (!(await store.write((trx) => beginRun(trx, statementRun, now)))) return
  try {
    let readers: StatementReader[]
    do {
      readers = await statementReaders(store.read, { month, from, to, now, limit: batch })
      for (const reader of readers) if (!(await sendOne(deps, reader, { month, from, to }))) return
    } while (readers.length === batch)
  } finally {
    await store.write((trx) => finishRun(trx, statementRun, epochSeconds(clock)))
  }
}

/** Returns false if emails cannot be sent to anyone at the moment. */
async function sendOne(
  { store, settings, mailer, clock, warn }: StatementEmailDeps,
  { id, username, email }: StatementReader,
  { month, from, to }: { month: string; from: number; to: number },
): Promise<boolean> {
  const now = epochSeconds(clock)
  const end = (state: 'sent' | 'refused' | 'waiting') =>
    store.write(async (trx) => {
      await endStatement(trx, { month, userId: id, state, now })
      await advanceRun(trx, statementRun, epochSeconds(clock), state === 'sent')
    })
  const figures = await statementFigures(store.read, { userId: id, start: from, end: to - 1 })
  if (!figures || !(await store.write((trx) => claimStatement(trx, month, id, now)))) return true
  const current = settings.current()
  const { QuotaPerUnit, DisplayInCurrencyEnabled } = current
  const amount = (quota: number) =>
    DisplayInCurrencyEnabled ? quotaToCurrency(quota, QuotaPerUnit, decimals) : String(quota)
  const balances = statementBalances(figures, { start: from, end: to - 1, isOver: true, withCosts: false })
  try {
    await mailer.send(email, current.MailLanguage as MailLanguage, ({ texts, name, page }) =>
      texts.statement(name, {
        username,
        month,
        amount,
        balances,
        address: page(`/statement?month=${month}`),
      }),
    )
  } catch (error) {
    warn(`the statement of user ${id} could not be sent: ${messageOf(error)}`)
    const isFinal = !(error instanceof SmtpError) || error.kind === 'refused'
    await end(isFinal ? 'refused' : 'waiting')
    return isFinal || error.kind === 'put-off'
  }
  await end('sent')
  return true
}
