import type { SnapshotPart } from './snapshot.ts'

/** The source from which a database is filled. */
export interface LoadSource {
  /**
   * The migrations that made the schema of the rows. This version must know all of them. Later migrations run
   * afterwards.
   */
  migrations: readonly string[]
  /** Each call begins to read from the start. */
  parts(): AsyncIterable<SnapshotPart>
}
