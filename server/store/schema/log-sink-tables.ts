/** The progress of copying the log to an external sink. */
export interface LogSinksTable {
  /** The address of the sink, without credentials. */
  name: string
  /** The id of the last row that the sink has. */
  sent_to: number
  /** The id of the last row that an attempt may have stored in the sink, if it is larger than `sent_to`. */
  sending_to: number
  sent_rows: number
  /** Epoch seconds. */
  sent_at: number
  /** Rows that retention deleted before they were copied. */
  lost_rows: number
  lost_at: number
  /** The reason why the last attempt failed; '' if it did not. */
  error: string
  failed_at: number
  /** The process that copies, and the time (epoch seconds) until which no other process may. */
  holder: string
  held_until: number
}
