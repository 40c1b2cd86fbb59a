import type { RawSearch } from '../../lib/url-query.ts'
import { texts } from '../../lib/url-state.ts'

/** The state of the API reference, stored in the URL. */
export interface ReferenceSearch {
  /** Id of the shown operation; the first one if absent. */
  call?: string | undefined
  /** Text that the list of operations is searched for. */
  q?: string | undefined
  /** `management` for the calls under /api; requests to models if absent. */
  part?: string | undefined
}

/** Reads the query of the API reference. */
export const parseReferenceSearch: (raw: RawSearch) => ReferenceSearch = texts('call', 'q', 'part')
