import type { SnapshotPart } from './snapshot.ts'

/** The source from which a database is filled. */
export interface LoadSource {
  /**
   * The migrations that created the schema of the snapshot. This version must have all of them. Newer migrations run
   * after the rows have been loaded.
   */
  migrations: readonly string[]
  /** Reads the snapshot. Each call starts from the beginning. */
  parts(): AsyncIterable<SnapshotPart>
}
