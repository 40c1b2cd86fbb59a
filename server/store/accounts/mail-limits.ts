import { sql } from 'kysely'
import type { Trx } from '../store.ts'

export interface MailRule {
  /** Minimum time between two emails to one recipient. */
  pauseSeconds: number
  /**
   * Maximum number of emails to one recipient within `windowSeconds`. The window begins with the first of these emails.
   */
  limit: number
  windowSeconds: number
}

/**
 * Counts one email to the recipient. All nodes share the counts. Returns 0 if the email may be sent now, otherwise the
 * number of seconds until it may be sent.
 */
export async function takeMailTurn(trx: Trx, recipient: string, rule: MailRule, nowSeconds: number): Promise<number> {
  const isOver = sql<boolean>`mail_limits.window_start <= ${nowSeconds - rule.windowSeconds}`
  const taken = await trx
    .insertInto('mail_limits')
    .values({ recipient, last_time: nowSeconds, window_start: nowSeconds, sent: 1 })
    .onConflict((conflict) =>
      conflict
        .column('recipient')
        .doUpdateSet({
          last_time: nowSeconds,
          window_start: sql`case when ${isOver} then ${nowSeconds} else mail_limits.window_start end`,
          sent: sql`case when ${isOver} then 1 else mail_limits.sent + 1 end`,
        })
        .where('mail_limits.last_time', '<=', nowSeconds - rule.pauseSeconds)
        .where((eb) => eb.or([isOver, eb('mail_limits.sent', '<', rule.limit)])),
    )
    .returning('recipient')
    .executeTakeFirst()
  if (taken) return 0
  const row = await trx
    .selectFrom('mail_limits')
    .select(['last_time', 'window_start', 'sent'])
    .where('recipient', '=', recipient)
    .executeTakeFirstOrThrow()
  const pause = row.last_time + rule.pauseSeconds - nowSeconds
  const window = row.sent < rule.limit ? 0 : row.window_start + rule.windowSeconds - nowSeconds
  return Math.max(1, pause, window)
}

/** Deletes recipients whose last email is too old to count for any limit. An hourly job calls this. */
export async function deleteOldMailLimits(trx: Trx, beforeSeconds: number): Promise<void> {
  await trx.deleteFrom('mail_limits').where('last_time', '<', beforeSeconds).execute()
}
