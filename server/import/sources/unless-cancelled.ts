import { setImmediate } from 'node:timers/promises'
import type { SourceDatabase } from './source-database.ts'

/** The import was cancelled. */
export class Cancelled extends Error {}

/**
 * Wraps a source so that all reads reject with Cancelled when the signal is aborted, even during a query. Every step of
 * an import reads, so the import ends at its next step. Each read first yields to the event loop. SQLite blocks the
 * process, so without this pause a server could not respond to requests until the import has ended.
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
  // If the connection is established after the import was cancelled, it is closed immediately.
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
      // After a cancellation, the database server may still be running a query, so `close` does not wait for the
      // server.
      if (signal.aborted) closing.catch(() => undefined)
      else await closing
    },
  }
}
