import type { ImportDeps, ImportOptions, ImportOutcome } from '../jobs/import-engine.ts'
import { ImportFailed } from './import-failed.ts'
import { runImport } from './run-import.ts'
import { Cancelled } from './sources/unless-cancelled.ts'

/**
 * Imports or, in a dry run, finds out what would happen. A server loads this module when somebody starts an import. It
 * is a separate bundle, whose error classes the server does not know. Rejects only if something unexpected happens.
 */
export async function importOnce(deps: ImportDeps, options: ImportOptions): Promise<ImportOutcome> {
  try {
    return { report: await runImport(deps, options) }
  } catch (error) {
    if (error instanceof ImportFailed) return { fault: error.message }
    if (error instanceof Cancelled) return { cancelled: true }
    throw error
  }
}
