import type { RawSearch } from '../../lib/url-query.ts'
import { texts } from '../../lib/url-state.ts'

/** The state of the API reference, stored in the URL. */
export interface ReferenceSearch {
  /** Id of the shown operation. If absent, the first one is shown. */
  call?: string | undefined
  /** The search text for the list of operations. */
  q?: string | undefined
  /** `management` for the calls under /api. If absent, the requests to models are shown. */
  part?: string | undefined
}

/** Reads the query of the API reference. */
export const parseReferenceSearch: (raw: RawSearch) => ReferenceSearch = texts('call', 'q', 'part')
