/**
 * Ours: monthly statements that were sent by email. `sending` is written before an email is handed over, so that no node
 * sends it twice; it stays if the process died then.
 */
export interface StatementEmailsTable {
  /** YYYY-MM. */
  month: string
  user_id: number
  state: 'sending' | 'sent' | 'refused' | 'waiting'
  updated_at: number
}

/** Ours: users who do not want statements by email. */
export interface StatementOptoutsTable {
  user_id: number
}
