import { captureTargets } from '../../../contract/capture-targets.ts'
import type { RawSearch } from '../../lib/url-query.ts'
import { oneOf, wholeNumber } from '../../lib/url-state.ts'

/** The state of the recording page, stored in the URL: the target of a new recording. */
export interface RecordingSearch {
  target?: (typeof captureTargets)[number] | undefined
  id?: number | undefined
}

/** Reads the query of the recording page. */
export function parseRecordingSearch(raw: RawSearch): RecordingSearch {
  return { target: oneOf(raw['target'], captureTargets), id: wholeNumber(raw['id'], 1) }
}
