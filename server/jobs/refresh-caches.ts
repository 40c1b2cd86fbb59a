import { cacheMark } from '../store/channels/cache-mark.ts'
import type { Store } from '../store/store.ts'
import type { Job } from './scheduler.ts'

/** Processes notify each other of changes. A change without a notification takes effect within this time. */
const everyMs = 10_000
/** After this many checks that found no change in the database, everything is reloaded anyway. */
const mostEqual = 6

/** The data that a process keeps in memory and reloads. */
interface Reloaded {
  settings: { reload(): Promise<void> }
  routing: { refresh(): Promise<void> }
  captures: { rules: { reload(): Promise<void> } }
}

/**
 * Reloads settings, channels and recording rules if they may have changed without a notice. This happens if somebody
 * changed a row by hand, a notice was lost, or a reload failed.
 */
export function refreshJob(store: Store, { settings, routing, captures }: Reloaded): Job {
  let known: string | undefined
  let equal = 0
  return {
    name: 'refresh-caches',
    everyMs,
    async run() {
      const mark = await cacheMark(store)
      equal = mark === known ? equal + 1 : 0
      if (mark === known && equal < mostEqual) return
      await Promise.all([settings.reload(), routing.refresh(), captures.rules.reload()])
      known = mark
      equal = 0
    },
  }
}
