import type { ImportOptions, ImportProgress } from '../../jobs/import-engine.ts'
import { isGone, type RunEnd, reportProgress, runOwner } from '../../jobs/import-progress.ts'
import { messageOf } from '../../lib/message-of.ts'
import { sourceAddress } from '../../lib/network/source-address.ts'
import type { OpenedStore } from '../../store/connection/open-options.ts'
import { activeImportRun, beginImportRun } from '../../store/imports/import-runs.ts'
import { isUniqueViolation } from '../../store/statements/database-errors.ts'
import { CommandFailed } from '../command.ts'

/**
 * Runs an import while no other import of the installation is running. The console shows its progress and can cancel
 * it. A dry run changes nothing, so it may run at any time. Throws CommandFailed if another import is running.
 */
export async function inTurn(
  store: OpenedStore,
  options: ImportOptions,
  work: (signal: AbortSignal | undefined, tell: (step: ImportProgress) => void) => Promise<void>,
): Promise<void> {
  if (options.dryRun) return work(undefined, () => undefined)
  const id = await store
    .write((trx) => beginImportRun(trx, rowOf(options), isGone))
    .catch(async (error: unknown) => {
      if (!isUniqueViolation(error)) throw error
      const other = await activeImportRun(store.read, nowSeconds())
      throw new CommandFailed(
        `An import is running already, started by ${other?.started_by ?? 'somebody'}. Wait until it has ended, or cancel it in the console.`,
      )
    })
  const cancelled = new AbortController()
  const progress = reportProgress({ store, nowMs: Date.now }, id, () => cancelled.abort())
  try {
    await work(cancelled.signal, progress.show)
  } catch (error) {
    const end: RunEnd = cancelled.signal.aborted ? { state: 'cancelled' } : { state: 'failed', error: messageOf(error) }
    // If the disk is full, the end cannot be recorded either, and the error of the work is the one to report. The next
    // import notices that this process has ended.
    await progress.end(end, true).catch(() => undefined)
    throw error
  }
  await progress.end({ state: 'done', report: undefined }, true)
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

function rowOf({ from, merge, only, since }: ImportOptions) {
  const parsed = sourceAddress(from)
  const plain = from.replace(/^([a-z]+:\/\/)[^/]*@/i, '$1')
  return {
    ...runOwner(),
    ...{ state: 'running' as const, dry_run: false, merge, parts: [...only].join(','), since },
    source: 'label' in parsed ? parsed.label : plain,
    started_by: 'command line',
    created_at: nowSeconds(),
  }
}
