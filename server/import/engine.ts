import type { ImportDeps, ImportOptions, ImportOutcome } from '../jobs/import-engine.ts'
import { ImportFailed } from './import-failed.ts'
import { runImport } from './run-import.ts'
import { Cancelled } from './sources/unless-cancelled.ts'

/**
 * Runs an import. A dry run changes nothing, and reports what an import would change. A server loads this module, which
 * is a separate bundle, when somebody starts an import. The server cannot test for error classes of the bundle, so the
 * expected failures are returned as values. Rejects only after an unexpected error.
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
