import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { OpenedStore } from '../../store/connection/open-options.ts'

/** The parts of a source. */
export const importParts = ['users', 'tokens', 'channels', 'codes', 'options', 'logs'] as const
export type ImportPart = (typeof importParts)[number]

/** What to import, from where and how. */
export interface ImportOptions {
  /** The address of the source. */
  from: string
  /** The address of its log, if that is a database of its own. */
  logsFrom: string | undefined
  /** Which parts; all of them if empty. */
  only: ReadonlySet<ImportPart>
  /** Only log rows from this time on, in epoch seconds; 0 = all. */
  since: number
  /** Import into an installation that is in use. */
  merge: boolean
  /** Find out what would happen, and change nothing. */
  dryRun: boolean
  /** Where files beside the installation are written. */
  dataDir: string
}

/** How far an import is. */
export interface ImportProgress {
  stage: 'accounts' | 'logs' | 'usage'
  done: number
  total: number
}

export interface ImportDeps {
  store: OpenedStore
  secrets: Secrets
  nowMs(): number
  progress(step: ImportProgress): void
}
