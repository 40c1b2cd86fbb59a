/** How far the log was copied to a second place. */
export interface LogSinksTable {
  /** The place, without credentials. */
  name: string
  /** The id of the last row that is there. */
  sent_to: number
  /** The id of the last row that an attempt may have stored, if it is larger than `sent_to`. */
  sending_to: number
  sent_rows: number
  /** Epoch seconds. */
  sent_at: number
  /** Rows that retention deleted before they were copied. */
  lost_rows: number
  lost_at: number
  /** Why the last attempt failed; '' if it did not. */
  error: string
  failed_at: number
  /** The process that copies, and until when nobody else may (epoch seconds). */
  holder: string
  held_until: number
}
