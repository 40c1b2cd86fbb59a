import { setImmediate } from 'node:timers/promises'
import type { SourceDatabase } from './source-database.ts'

/** The import was cancelled. */
export class Cancelled extends Error {}

/**
 * A source whose reading ends when the signal is aborted, also in the middle of a query: what is read next rejects with
 * Cancelled. An import reads in all of its steps, so it ends at the next one. Before each of them, other work of the process
 * has its turn: SQLite is read and written without a pause, and a server would answer nobody until the import has ended.
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
  // A connection that opens after the import was cancelled is closed again.
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
      // The server may continue to run a query for which nobody waits any more.
      if (signal.aborted) closing.catch(() => undefined)
      else await closing
    },
  }
}
