import type { ImportReport } from '../../contract/api/import.ts'
import { machineName } from '../lib/machine.ts'
import { endImportRun, type ImportRunRow, type RunOwner, touchImportRun } from '../store/imports/import-runs.ts'
import type { Store } from '../store/store.ts'
import type { ImportProgress } from './import-engine.ts'
import { fateOf, nodeIdOf } from './node-process.ts'

const touchEveryMs = 1000

/** This process as the owner of a run. */
export const runOwner = (): RunOwner => ({ process: nodeIdOf(process.pid), host: machineName(), pid: process.pid })

/** True if the owner of a run was a process on this machine that has ended. */
export const isGone = ({ process: id, host, pid }: RunOwner): boolean => fateOf({ id, host, pid }) === 'gone'

/** The result of a run. */
export type RunEnd =
  | { state: 'done'; report: ImportReport | undefined }
  | { state: 'failed'; error: string }
  | { state: 'cancelled' | 'interrupted' }

/** Reports the progress of a run to other processes. */
export interface RunProgress {
  /** Reports the current step. Calls are cheap, because the database is written only once a second. */
  show(step: ImportProgress): void
  now(): Pick<ImportRunRow, 'stage' | 'done' | 'total' | 'per_second'>
  /**
   * Records the end of the run. With `forget`, the stored address and credentials of its source are deleted. Rejects if
   * the database does not respond.
   */
  end(end: RunEnd, forget: boolean): Promise<void>
}

/**
 * Writes the progress of a run to the database every second, so that every node sees it and knows that the run is
 * alive. `cancel` is called when somebody cancels the run on any node.
 */
export function reportProgress(
  { store, nowMs }: { store: Store; nowMs(): number },
  id: number,
  cancel: () => void,
): RunProgress {
  let step: ImportProgress = { stage: 'accounts', done: 0, total: 0 }
  let first = { at: nowMs(), done: 0 }
  let busy: Promise<unknown> | undefined
  const seconds = () => Math.floor(nowMs() / 1000)
  const now = () => {
    const elapsed = nowMs() - first.at
    const per_second = elapsed > 0 ? Math.round(((step.done - first.done) / elapsed) * 1000) : 0
    return { stage: step.stage, done: step.done, total: step.total, per_second }
  }
  // On SQLite, a long transaction of the import delays these writes.
  const timer = setInterval(() => {
    busy ??= store
      .write((trx) => touchImportRun(trx, id, { ...now(), updated_at: seconds() }))
      .then((isCancelled) => isCancelled && cancel())
      .catch(() => undefined)
      .finally(() => {
        busy = undefined
      })
  }, touchEveryMs)
  timer.unref()
  return {
    now,
    show(next) {
      if (next.stage !== step.stage) first = { at: nowMs(), done: next.done }
      step = next
    },
    async end(end, forget) {
      clearInterval(timer)
      await busy
      const { state } = end
      const error = state === 'failed' ? end.error.slice(0, 1000) : ''
      const report = state === 'done' && end.report ? JSON.stringify(end.report) : ''
      await store.write(async (trx) => {
        await touchImportRun(trx, id, { ...now(), updated_at: seconds() })
        await endImportRun(trx, id, { state, finished_at: seconds(), error, report }, forget)
      })
    },
  }
}
