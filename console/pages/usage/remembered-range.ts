import { sessionUser } from '../../lib/session.ts'
import { readStored, type StorageKey, writeStored } from '../../lib/storage.ts'
import { oneOf } from '../../lib/url-state.ts'
import type { UsageRange } from './range.ts'
import { shownRanges } from './search.ts'

const rangeKey = (): StorageKey => `ui.usage.range.${sessionUser()?.id ?? 0}`

/** The range that this user chose last in this browser; 30 days at first. */
export function rememberedRange(): UsageRange['range'] {
  return oneOf(readStored(rangeKey()), shownRanges) ?? '30d'
}

/** Remembers a range for this user's next visit. A custom range is not remembered; only the URL contains it. */
export function rememberRange(range: UsageRange['range']): void {
  if (range !== 'custom') writeStored(rangeKey(), range)
}
