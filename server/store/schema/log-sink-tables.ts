/** The progress of copying the log to an external sink. */
export interface LogSinksTable {
  /** The address of the sink, without credentials. */
  name: string
  /** The id of the last row that has been copied to the sink. */
  sent_to: number
  /**
   * The id of the last row that the current or last attempt sends. If it is larger than `sent_to`, the sink may or may
   * not have the rows up to it.
   */
  sending_to: number
  sent_rows: number
  /** Epoch seconds. */
  sent_at: number
  /** The number of rows that were deleted before they were copied. */
  lost_rows: number
  lost_at: number
  /** The reason why the last attempt failed; '' if it did not. */
  error: string
  failed_at: number
  /** The process that copies, and the time (epoch seconds) until which no other process may copy. */
  holder: string
  held_until: number
}
