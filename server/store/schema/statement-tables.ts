/**
 * Added by Tollgate: monthly statements that were sent by email. The state `sending` is written before an email is
 * handed over, so that no node sends it twice. If the process dies at that moment, this state stays.
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
