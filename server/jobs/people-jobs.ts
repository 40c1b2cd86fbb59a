import { type Clock, epochSeconds } from '../lib/clock.ts'
import { deleteOldMailLimits } from '../store/accounts/mail-limits.ts'
import { deleteExpiredCodes } from '../store/accounts/one-time-codes.ts'
import { deleteExpiredSessions } from '../store/accounts/sessions.ts'
import { forgetOldKeys } from '../store/accounts/tokens.ts'
import { forgetMinutes } from '../store/ledger/limits.ts'
import { type ReminderDeps, remindOfQuota } from './quota-reminders.ts'
import type { Job } from './scheduler.ts'
import { sendStatements } from './statement-emails.ts'

const hourMs = 3_600_000
const minuteMs = 60_000
const daySeconds = 86_400

/** Periodic work for accounts: sending reminders and deleting expired data. */
export function peopleJobs(deps: ReminderDeps & { clock: Clock }): Job[] {
  const { store, clock } = deps
  return [
    { name: 'quota-reminders', everyMs: minuteMs, run: () => remindOfQuota(deps) },
    { name: 'statement-emails', everyMs: 10 * minuteMs, run: () => sendStatements(deps) },
    { name: 'old-minutes', everyMs: minuteMs, run: () => forgetMinutes(store, epochSeconds(clock)) },
    {
      name: 'expired-logins',
      everyMs: hourMs,
      run: () =>
        store.write(async (trx) => {
          const now = epochSeconds(clock)
          await deleteExpiredSessions(trx, now)
          await deleteExpiredCodes(trx, now)
          await forgetOldKeys(trx, now)
          // No limit on emails covers more than a day, so older counts are not needed.
          await deleteOldMailLimits(trx, now - daySeconds)
        }),
    },
  ]
}
