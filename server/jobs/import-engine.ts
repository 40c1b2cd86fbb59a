import type { ImportPart, ImportReport } from '../../contract/api/import.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { OpenedStore } from '../store/connection/open-options.ts'

/** How a source may be reached if it was named by a person who is not at the command line of the server. */
export interface RestrictedAccess {
  /** The IP address of a host that may be connected to. Rejects with a sentence if it may not. */
  addressOf(host: string): Promise<string>
  /** The uploaded file, and what it is called. It is the source, or LiteLLM's config.yaml beside a database. */
  upload: { path: string; name: string } | undefined
}

/** What to import, from where and how. */
export interface ImportOptions {
  /** The address of the source; '' if it is an uploaded file. */
  from: string
  /** Without it, every address and every file that the process can read is allowed. */
  access?: RestrictedAccess
  /** The address of its log, if that is a database of its own. */
  logsFrom: string | undefined
  /** The path of LiteLLM's config.yaml beside its database. */
  litellmConfig: string | undefined
  /** Which parts; all of them if empty. */
  only: ReadonlySet<ImportPart>
  /** Only log rows from this time on, in epoch seconds; 0 = all. */
  since: number
  /** Import into an installation that is in use. */
  merge: boolean
  /** Only show what would happen, without changing anything. */
  dryRun: boolean
  /** The folder for files that are written next to the installation. */
  dataDir: string
  /** Leave out log rows from the first charge on that the program has not settled yet: a later run takes them over. */
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
  /** A variable of the environment to which the source refers; undefined if it is not set. */
  variable(name: string): string | undefined
  progress(step: ImportProgress): void
  /** The name in the audit log, and the id of the account; 0 if there is none. */
  actor?: { id: number; name: string; ip: string }
  /** Ends the import at the next step. What is committed stays. */
  signal?: AbortSignal
}

/** How an import ended. `fault` is a sentence that says what to do. */
export type ImportOutcome = { report: ImportReport } | { fault: string } | { cancelled: true }

/** The part that imports from other programs. A server loads it only when somebody starts an import. */
export interface ImportEngine {
  /** Imports, or finds out what would happen. Rejects only if something unexpected happens. */
  importOnce(deps: ImportDeps, options: ImportOptions): Promise<ImportOutcome>
}
