import type { AttentionItem } from '../../contract/api/overview.ts'
import type { DotColor } from '../lib/dot-color.ts'
import { observable } from '../lib/observable.ts'
import { storedNames } from '../lib/preferences.ts'
import { writeStored } from '../lib/storage.ts'

/** One entry of the notification bell. */
export interface BellEntry {
  /** Identifies one occurrence of an event. If the event occurs again, the new entry has a different id. */
  id: string
  color: DotColor
  what:
    | { kind: 'item'; item: AttentionItem }
    | { kind: 'no_balance' }
    | { kind: 'low_balance'; days: number }
    | { kind: 'token'; name: string; status: number }
  /** Epoch seconds; undefined for a state that has no beginning. */
  since?: number
  to: { to: string; search?: Record<string, string> }
}

const readKey = 'ui.bell'
/** The maximum number of stored ids. It is larger than the number of entries at any time. */
const mostRead = 300

/** The current entries, and the ids of the entries that were read. */
export const bellEntries = observable<readonly BellEntry[]>([])
export const readIds = observable<readonly string[]>(storedNames(readKey) ?? [])

/** Remembers that entries were read. */
export function markRead(ids: readonly string[]): void {
  const next = [...new Set([...ids, ...readIds.get()])].slice(0, mostRead)
  writeStored(readKey, JSON.stringify(next))
  readIds.set(next)
}
