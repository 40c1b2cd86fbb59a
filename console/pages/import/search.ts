import { texts } from '../../lib/url-state.ts'

/** `new`: the form for a source is open, even if there is already an import. */
export const parseImportSearch = texts('new')
