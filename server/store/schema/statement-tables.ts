/**
 * Added by Tollgate: monthly statements that were sent by email. The state `sending` is written before an email is
 * passed to the mail server, so that no node sends it twice. If the process dies before the email has been sent, the
 * state stays `sending`.
 */
export interface StatementEmailsTable {
  /** YYYY-MM. */
  month: string
  user_id: number
  state: 'sending' | 'sent' | 'refused' | 'waiting'
  updated_at: number
}

/** Added by Tollgate: users who do not want statements by email. */
export interface StatementOptoutsTable {
  user_id: number
}
