/** A row of the log for a second place: columns with the names of the log. */
export type SinkRow = Readonly<Record<string, string | number | null>> & {
  readonly id: number
  readonly created_at: number
  readonly request_id: string
}

/** A second place for log rows. */
export interface LogSink {
  /**
   * Resolves when the rows are stored, and rejects with a sentence if that is not certain. Then the same rows are sent again,
   * perhaps with more after them.
   */
  send(rows: readonly SinkRow[]): Promise<void>
  /** Deletes what is older than that time (epoch seconds), in whole months or files. */
  forget(before: number): Promise<void>
  /** Resolves if rows could be stored now, and rejects with a sentence if not. Stores no row. */
  check(): Promise<void>
  /**
   * Rows are collected for this long (seconds), unless there are enough for a step, because each call makes an object. After a
   * failure, exactly the same rows are sent again, also by another process.
   */
  collectSeconds?: number
}
