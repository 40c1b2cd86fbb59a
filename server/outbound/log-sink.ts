/** A log row as it is copied. Its columns have the same names as in the log. */
export type SinkRow = Readonly<Record<string, string | number | null>> & {
  readonly id: number
  readonly created_at: number
  readonly request_id: string
}

/** A second store, to which log rows are copied. */
export interface LogSink {
  /**
   * Resolves when the rows are stored. If it is not certain that they are, rejects with an error whose message is a
   * sentence. The caller then sends the same rows again, possibly followed by more rows.
   */
  send(rows: readonly SinkRow[]): Promise<void>
  /** Deletes rows that are older than the given time (epoch seconds). Deletes only whole months or files. */
  forget(before: number): Promise<void>
  /**
   * Checks, without storing a row, whether rows could be stored now. If not, rejects with an error whose message is a
   * sentence.
   */
  check(): Promise<void>
  /**
   * How long rows are collected before they are sent, in seconds. If there are enough rows for one call of `send`, they
   * are sent at once. Stores in which each call of `send` creates an object set this field. For these stores, exactly
   * the same rows are sent again after a failure, even if another process sends them.
   */
  collectSeconds?: number
}
