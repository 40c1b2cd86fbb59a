import type { SnapshotPart } from './snapshot.ts'

/** What a database is filled from. */
export interface LoadSource {
  /** The migrations that made the schema of the rows. All of them must be known. Later migrations run afterwards. */
  migrations: readonly string[]
  /** Begins to read from the start, each time it is called. */
  parts(): AsyncIterable<SnapshotPart>
}
