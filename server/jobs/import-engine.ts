import type { ImportPart, ImportReport } from '../../contract/api/import.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { OpenedStore } from '../store/connection/open-options.ts'

/**
 * Restricts how a source may be reached. Applies if the source was entered by a person without access to the server's
 * command line.
 */
export interface RestrictedAccess {
  /**
   * The IP address for connecting to a host. Rejects with an error message for the user if connecting to this host is
   * not allowed.
   */
  addressOf(host: string): Promise<string>
  /**
   * The uploaded file and its name. It is either the source itself, or LiteLLM's config.yaml in addition to a database.
   */
  upload: { path: string; name: string } | undefined
}

/** What to import, from where and how. */
export interface ImportOptions {
  /** The URL or path of the source; '' if it is an uploaded file. */
  from: string
  /** If absent, every address and every file that the process can read is allowed. */
  access?: RestrictedAccess
  /** The URL or path of the log, if the log is in a separate database. */
  logsFrom: string | undefined
  /** The path of LiteLLM's config.yaml, in addition to its database. */
  litellmConfig: string | undefined
  /** The parts to import; all parts if empty. */
  only: ReadonlySet<ImportPart>
  /** Only log rows from this time on, in epoch seconds; 0 = all. */
  since: number
  /** True to import into an installation that is in use. */
  merge: boolean
  /** True to only show what would happen, without changing anything. */
  dryRun: boolean
  /** The folder for files that the import writes. */
  dataDir: string
  /**
   * True to stop the copy of the log before the first charge that the source program has not settled yet. A later run
   * imports the remaining rows.
   */
  waitsForOpen?: boolean
}

/** The progress of an import. */
export interface ImportProgress {
  stage: 'accounts' | 'logs' | 'usage'
  done: number
  total: number
}

export interface ImportDeps {
  store: OpenedStore
  secrets: Secrets
  nowMs(): number
  /** An environment variable to which the source refers; undefined if it is not set. */
  variable(name: string): string | undefined
  progress(step: ImportProgress): void
  /**
   * The person whom the audit log shows as the one who ran the import. `id` is the id of the account; 0 = no account.
   */
  actor?: { id: number; name: string; ip: string }
  /** Ends the import at its next step. Data that has been committed is kept. */
  signal?: AbortSignal
}

/** The result of an import. `fault` is an error message that says what to do. */
export type ImportOutcome = { report: ImportReport } | { fault: string } | { cancelled: true }

/** The code that imports from other gateways. A server loads it only when somebody starts an import. */
export interface ImportEngine {
  /**
   * Runs an import. A dry run changes nothing, and reports what an import would change. Rejects only after an
   * unexpected error.
   */
  importOnce(deps: ImportDeps, options: ImportOptions): Promise<ImportOutcome>
}
