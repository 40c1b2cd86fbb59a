import { setImmediate } from 'node:timers/promises'
import type { SourceDatabase } from './source-database.ts'

/** The import was cancelled. */
export class Cancelled extends Error {}

/**
 * Wraps a source so that reading ends when the signal is aborted, even during a query. From then on, reading rejects
 * with Cancelled. All steps of an import read, so the import ends at its next step. Other work of the process gets a
 * turn before each read. SQLite reads and writes block the process, so without this a server could not respond until
 * the import has ended.
 */
export async function unlessCancelled(
  opening: Promise<SourceDatabase>,
  signal: AbortSignal | undefined,
): Promise<SourceDatabase> {
  if (!signal) return opening
  const orCancelled = <T>(work: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const cancel = () => reject(new Cancelled('The import was cancelled.'))
      if (signal.aborted) cancel()
      signal.addEventListener('abort', cancel, { once: true })
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel))
    })
  // If a connection opens after the import was cancelled, it is closed again.
  opening.then((source) => (signal.aborted ? source.close() : undefined)).catch(() => undefined)
  const source = await orCancelled(opening)
  return {
    ...source,
    async page(table, request) {
      await setImmediate()
      return orCancelled(source.page(table, request))
    },
    async query(text) {
      await setImmediate()
      return orCancelled(source.query(text))
    },
    async close() {
      const closing = source.close()
      // The database server may still be running a query whose result is no longer needed, so this does not wait.
      if (signal.aborted) closing.catch(() => undefined)
      else await closing
    },
  }
}
